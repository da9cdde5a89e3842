"""What `groupwise launch` makes of a good spec: its run, files copied under fitting names, and the wait for its end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from groupwise.app.core.data_files import copy_into_home
from groupwise.app.pages.new.launch import queue_run
from groupwise.storage.home import paths
from groupwise.storage.library.rewards import library
from groupwise.storage.record import states
from groupwise.storage.registry import commands, registry
from groupwise.storage.spec.spec import parse_spec
from groupwise.worker.builtin import shipped
from tests.conftest import Groupwise, Start
from tests.support import offer
from tests.support.launching import SPEC, write


@pytest.fixture
def offered(registry_home: Path, no_worker: None) -> Iterator[Path]:
    """A home whose worker (played by the test) has said what it offers, and takes every setting."""
    offer.publish()
    with offer.answering():
        yield registry_home


# --- launch: what is made of a good one


def test_a_launch_prints_the_id_and_keeps_the_file_as_written(groupwise: Groupwise, offered: Path, tmp_path: Path):
    result = groupwise("launch", str(write(tmp_path, SPEC)))
    run = registry.get_run(result.stdout.strip())
    assert result.returncode == 0 and run is not None and run.state == states.QUEUED
    assert run.folder.spec.read_text() == SPEC and (run.model, run.data) == ("starter", "task:arithmetic")


@pytest.mark.parametrize("by", ["page", "command"])
def test_what_is_saved_of_a_function_while_its_run_waits_is_not_what_the_run_scores_with(
    groupwise: Groupwise, offered: Path, tmp_path: Path, by: str
):
    first, second = (f"def mine(completions, **kwargs):\n    return [{n}.0 for _ in completions]\n" for n in (1, 2))
    library.save_reward("mine", first)
    text = SPEC.replace("[{name: format}]", "[{name: mine}]")
    run_id = queue_run(text) if by == "page" else groupwise("launch", str(write(tmp_path, text))).stdout.strip()
    library.save_reward("mine", second)
    folder = paths.run_folder(run_id)
    shipped.freeze(folder, parse_spec(text))
    assert (folder.rewards / "mine.py").read_text() == first


def test_another_name_is_in_the_spec_that_is_kept(groupwise: Groupwise, offered: Path, tmp_path: Path):
    run = registry.get_run(groupwise("launch", str(write(tmp_path, SPEC)), "--name", "mine").stdout.strip())
    assert run is not None and run.name == "mine" and "name: mine" in run.folder.spec.read_text()


def test_another_name_takes_the_place_of_one_that_cannot_be_used(groupwise: Groupwise, offered: Path, tmp_path: Path):
    for odd in ("'  '", "x" * 5_000):
        path = write(tmp_path, SPEC.replace("name: small", f"name: {odd}"))
        result = groupwise("launch", str(path), "--name", "mine")
        assert result.returncode == 0, result.stderr
        run = registry.get_run(result.stdout.strip())
        assert run is not None and run.name == "mine" and "name: mine" in run.folder.spec.read_text()


def test_a_data_file_beside_the_spec_is_copied_once_and_another_of_its_name_beside_it(
    groupwise: Groupwise, offered: Path, tmp_path: Path
):
    path = write(tmp_path, SPEC.replace("task:arithmetic", "'file:./my data.jsonl'"))
    names = []
    for content in ("{}", "{}", '{"other": 1}', "{}"):
        write(tmp_path, content, "my data.jsonl")
        run = registry.get_run(groupwise("launch", str(path)).stdout.strip())
        assert run is not None and f"source: {run.data}" in run.folder.spec.read_text()
        names.append(run.data)
    assert names == ["file:my data.jsonl", "file:my data.jsonl", "file:my data-2.jsonl", "file:my data.jsonl"]
    assert (paths.data_folder() / "my data-2.jsonl").read_text() == '{"other": 1}'


def test_odd_file_names_become_names_a_home_can_hold(registry_home: Path, tmp_path: Path):
    for odd in ("данные.jsonl", "-x;rm.jsonl", "a\nb.jsonl", "..jsonl", "x" * 200 + ".jsonl"):
        target, new = copy_into_home(write(tmp_path, odd, odd))
        assert new and target.parent == paths.data_folder() and target.read_text() == odd
        assert copy_into_home(tmp_path / odd) == (target, False)
    packed = [copy_into_home(write(tmp_path, text, "März.csv.gz"))[0].name for text in ("one", "two")]
    assert packed == ["März.csv.gz", "März-2.csv.gz"]
    assert len(list(paths.data_folder().iterdir())) == 7 and not list(paths.data_folder().glob(".*"))


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("Größenaufgaben Übung.xlsx", "Größenaufgaben Übung.xlsx"), ("U\u0308bung.csv", "Übung.csv"),
        ("данные.csv", "данные.csv"), ("数学 題.csv", "数学 題.csv"), ("हिन्दी.csv", "हिन्दी.csv"),
        ("ไทยที่.csv", "ไทยที่.csv"),
        ("a“b”:c.csv", "a-b-c.csv"), ("\u0308x.csv", "x.csv"), ("__x.csv", "x.csv"), ("x\u202egnp.csv", "x-gnp.csv"),
        ("…!.csv", "data.csv"), ("語" * 200 + ".csv", "語" * 66 + ".csv"),
    ],
)  # fmt: skip
def test_the_letters_of_a_file_s_name_stay_in_any_language(registry_home: Path, tmp_path: Path, name: str, kept: str):
    (tmp_path / "x.csv").write_text("a\n1\n")
    try:
        given = Path(shutil.copy(tmp_path / "x.csv", tmp_path / name))
    except OSError:  # longer than a name may be here
        given = Path(shutil.copy(tmp_path / "x.csv", tmp_path / ("語" * 80 + ".csv")))
    target, _ = copy_into_home(given)
    assert target.name == kept and paths.data_file(kept) == target and kept in os.listdir(paths.data_folder())


def test_a_run_s_id_writes_letters_out(registry_home: Path):
    assert "-groessenaufgaben-uebung-" in paths.new_run_id("Größenaufgaben Übung")
    assert "-cafe-oe-strasse-" in paths.new_run_id("Café Ö Straße")
    assert paths.RUN_ID.fullmatch(paths.new_run_id("数学"))


# --- launch --wait


def told(process: subprocess.Popen[str], words: str) -> None:
    """Reads on until it has said so; it is ended where it does not for a minute."""
    assert process.stderr is not None
    patience = Timer(60, process.kill)
    patience.start()
    try:
        assert any(words in line for line in process.stderr), words
    finally:
        patience.cancel()


@pytest.mark.parametrize(
    ("end", "code"),
    [(states.FINISHED, 0), (states.FAILED, 1), (states.KILLED, 1), (states.INTERRUPTED, 1), (states.STOPPED, 3)],
)
def test_the_exit_code_says_how_the_run_ended(start: Start, offered: Path, tmp_path: Path, end: str, code: int):
    process = start("-m", "groupwise.app", "launch", str(write(tmp_path, SPEC)), "--wait")
    assert process.stdout is not None
    run_id = process.stdout.readline().strip()
    registry.set_facts(run_id, step=3, total=9, reward=0.5)
    for state in (states.STARTING, states.RUNNING):
        registry.set_state(run_id, state, state)
    told(process, "running: step 3/9, reward 0.50")
    registry.set_state(run_id, end, "This is why.")
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert f"{end}: This is why." in err


def test_ctrl_c_ends_the_following_and_not_the_run(start: Start, offered: Path, tmp_path: Path):
    # whoever runs the tests in the background has Ctrl-C ignored, and so would the command
    heard = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}
    process = start("-m", "groupwise.app", "launch", str(write(tmp_path, SPEC)), "--wait", **heard)
    assert process.stdout is not None
    run_id = process.stdout.readline().strip()
    registry.set_state(run_id, states.STARTING, "It starts.")
    told(process, "starting")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    run = registry.get_run(run_id)
    assert process.returncode == 130 and f"{run_id} goes on" in err and "Traceback" not in err
    assert run is not None and run.state == states.STARTING and commands.open_commands() == []


def test_where_nothing_is_published_it_waits_for_the_worker_and_says_so(
    start: Start, registry_home: Path, no_worker: None, tmp_path: Path
):
    process = start("-m", "groupwise.app", "launch", str(write(tmp_path, SPEC)))
    assert process.stderr is not None and "Reading the settings of the installed TRL" in process.stderr.readline()
    offer.publish()
    with offer.answering():
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0 and registry.get_run(out.strip()) is not None


def test_the_command_does_without_the_dashboards_libraries(start: Start, own_home: Path):
    code = "import sys, app.cli.launch; print(sorted({'gradio', 'torch', 'trl'} & set(sys.modules)))"
    assert start("-c", code).communicate(timeout=30)[0] == "[]\n"
