"""`groupwise launch` as a newcomer meets it: real processes; a spec that cannot run makes nothing, and says why."""

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
from groupwise.storage.home import paths
from groupwise.storage.record import states
from groupwise.storage.registry import commands, registry
from groupwise.worker.builtin import starter
from tests.conftest import Groupwise, Start
from tests.support import offer

SPEC = """\
# the comment stays
name: small
data: {source: task:arithmetic}
rewards: [{name: format}]
training: {num_generations: 4}
"""


@pytest.fixture
def offered(registry_home: Path, no_worker: None) -> Iterator[Path]:
    """A home whose worker (played by the test) has said what it offers, and takes every setting."""
    offer.publish()
    with offer.answering():
        yield registry_home


def write(folder: Path, text: str, name: str = "spec.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


# --- launch: what is wrong with a spec


def launch_bad(groupwise: Groupwise, path: Path) -> list[str]:
    """The problems that launching this file prints; nothing is made by it."""

    def made() -> list[Path]:
        return sorted(place for place in paths.home().rglob("*") if place != paths.app_lock())

    before = made()
    result = groupwise("launch", str(path))
    assert (result.returncode, result.stdout) == (2, "")
    assert made() == before
    assert registry.list_runs() == []
    return result.stderr.splitlines()


BAD = {
    "num_generation: 4": "{path}:5: training.num_generation: TRL's GRPOConfig has no such field. Did you mean “num_gen",
    "learning_rate: fast": '{path}:5: training.learning_rate: should be a number, not "fast".',
    "num_generations: 3": "{path}:5: training.num_generations: each generation makes 8 completions (8 a device), which",
    "output_dir: /tmp": "{path}:5: training.output_dir: cannot be set here",
    "beta: 1, beta: 2": "{path}:5: training.beta: given twice",
}


@pytest.mark.parametrize("setting", BAD)
def test_every_problem_has_its_line_its_field_and_the_nearest_name(
    groupwise: Groupwise, offered: Path, tmp_path: Path, setting: str
):
    path = write(tmp_path, SPEC.replace("num_generations: 4", setting))
    lines = launch_bad(groupwise, path)
    assert lines[0].startswith(BAD[setting].format(path=path))


def test_all_problems_are_said_at_once(groupwise: Groupwise, offered: Path, tmp_path: Path):
    text = SPEC.replace("name: format", "name: fromat").replace("num_generations", "num_generation")
    path = write(tmp_path, text.replace("task:arithmetic", "file:./nowhere.jsonl"))
    assert [line.split(": ")[:2] for line in launch_bad(groupwise, path)] == [
        [f"{path}:3", "data.source"],
        [f"{path}:4", "rewards.0.name"],
        [f"{path}:5", "training.num_generation"],
    ]


@pytest.mark.usefixtures("no_worker")
def test_what_only_trl_refuses_is_said_with_its_line(groupwise: Groupwise, registry_home: Path, tmp_path: Path):
    offer.publish()
    path = write(tmp_path, SPEC)
    refused = {"field": "training.num_generations", "message": "TRL says no.", "level": "blocking", "fixes": []}
    with offer.answering((refused, {**refused, "level": "advice"})):
        assert launch_bad(groupwise, path) == [f"{path}:5: training.num_generations: TRL says no."]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"name: [", "This is not YAML"),
        (b"", "A spec is a mapping of settings"),
        (b"\xff\xfe\x00", "is not text in UTF-8"),
        (b"name: !!python/object/apply:os.system ['touch /tmp/x']", "This is not YAML"),
        (b"x: &a [1]\ny: *a", "Aliases"),
        (b"# " + b"x" * 300_000, "larger than 256 KB"),
    ],
    ids=["unclosed", "empty", "binary", "tag", "alias", "huge"],
)
def test_a_file_that_is_no_spec_is_a_sentence(
    groupwise: Groupwise, offered: Path, tmp_path: Path, content: bytes, words: str
):
    path = tmp_path / "spec.yaml"
    path.write_bytes(content)
    assert words in launch_bad(groupwise, path)[0]


def test_a_spec_that_is_not_there_or_a_folder_is_a_sentence(groupwise: Groupwise, offered: Path, tmp_path: Path):
    assert "No such file" in launch_bad(groupwise, tmp_path / "none.yaml")[0]
    assert "directory" in launch_bad(groupwise, tmp_path)[0]


def test_a_name_that_cannot_be_is_refused(groupwise: Groupwise, offered: Path, tmp_path: Path):
    for name in ("", "x" * 81):
        assert groupwise("launch", str(write(tmp_path, SPEC)), "--name", name).returncode == 2
    assert registry.list_runs() == []


# --- launch: what is made of a good one


def test_a_launch_prints_the_id_and_keeps_the_file_as_written(groupwise: Groupwise, offered: Path, tmp_path: Path):
    result = groupwise("launch", str(write(tmp_path, SPEC)))
    run = registry.get_run(result.stdout.strip())
    assert result.returncode == 0 and run is not None and run.state == states.QUEUED
    assert run.folder.spec.read_text() == SPEC and (run.model, run.data) == ("starter", "task:arithmetic")


def test_another_name_is_in_the_spec_that_is_kept(groupwise: Groupwise, offered: Path, tmp_path: Path):
    run = registry.get_run(groupwise("launch", str(write(tmp_path, SPEC)), "--name", "mine").stdout.strip())
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


def test_a_data_file_is_not_kept_for_a_spec_that_cannot_run(groupwise: Groupwise, offered: Path, tmp_path: Path):
    write(tmp_path, "{}", "my.jsonl")
    write(tmp_path, "hello", "my.txt")
    bad = SPEC.replace("num_generations", "num_generation")
    launch_bad(groupwise, write(tmp_path, bad.replace("task:arithmetic", "file:./my.jsonl")))
    assert (
        "JSONL, CSV or Parquet"
        in launch_bad(groupwise, write(tmp_path, SPEC.replace("task:arithmetic", f"file:{tmp_path}/my.txt")))[0]
    )


def test_a_file_beside_the_spec_is_pointed_to(groupwise: Groupwise, offered: Path, tmp_path: Path):
    write(tmp_path, "{}", "my.jsonl")
    lines = launch_bad(groupwise, write(tmp_path, SPEC.replace("task:arithmetic", "file:my.jsonl")))
    assert "Or write file:./my.jsonl" in lines[0]


def test_odd_file_names_become_names_a_home_can_hold(registry_home: Path, tmp_path: Path):
    for odd in ("данные.jsonl", "-x;rm.jsonl", "a\nb.jsonl", "..jsonl", "x" * 200 + ".jsonl"):
        target, new = copy_into_home(write(tmp_path, odd, odd))
        assert new and target.parent == paths.data_folder() and target.read_text() == odd
        assert copy_into_home(tmp_path / odd) == (target, False)
    assert len(list(paths.data_folder().iterdir())) == 5 and not list(paths.data_folder().glob(".*"))


def test_a_model_folder_is_meant_from_where_the_spec_lies(groupwise: Groupwise, offered: Path, tmp_path: Path):
    folder = tmp_path / "my-model"
    folder.mkdir()
    path = write(tmp_path, SPEC + "model: {id: ./my-model}\n")
    assert "is not a model folder: it has no config.json" in launch_bad(groupwise, path)[0]
    shutil.copytree(starter.MODEL, folder, dirs_exist_ok=True)
    run = registry.get_run(groupwise("launch", str(path), cwd=tmp_path.parent, env=_importable()).stdout.strip())
    assert run is not None and run.model == str(folder)


def _importable() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


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
    told(process, "running: step 3/9, reward 0.500")
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
    assert process.stderr is not None and "Waiting for the worker" in process.stderr.readline()
    offer.publish()
    with offer.answering():
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0 and registry.get_run(out.strip()) is not None


def test_the_command_does_without_the_dashboards_libraries(start: Start, own_home: Path):
    code = "import sys, app.cli.launch; print(sorted({'gradio', 'torch', 'trl'} & set(sys.modules)))"
    assert start("-c", code).communicate(timeout=30)[0] == "[]\n"
