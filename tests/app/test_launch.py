"""`groupwise launch` as a newcomer meets it: real processes; a spec that cannot run makes nothing, and says why."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from groupwise.app.cli.launch import CHECKING
from groupwise.app.core.data_files import copy_into_home
from groupwise.storage.home import paths
from groupwise.storage.record import states
from groupwise.storage.registry import commands, questions, registry
from groupwise.storage.registry.messages.problem import Failed, ProblemMessage
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
    return result.stderr.removeprefix(f"{CHECKING}\n").splitlines()


def graves(lines: list[str]) -> list[str]:
    """Those that keep the spec from being launched."""
    return [line for line in lines if not re.search(r": (warning|advice): ", line)]


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
    assert [line.split(": ")[:2] for line in graves(launch_bad(groupwise, path))] == [
        [f"{path}:3", "data.source"],
        [f"{path}:4", "rewards.0.name"],
        [f"{path}:5", "training.num_generation"],
    ]


def test_what_a_wrong_form_or_a_slip_of_the_yaml_hides_is_said_with_it(
    groupwise: Groupwise, offered: Path, tmp_path: Path
):
    wrong = SPEC.replace("num_generations: 4", "max_prompt_length: 786, num_generations: 3")
    form = graves(launch_bad(groupwise, write(tmp_path, wrong + "launch: {processes: many}\n")))
    slip = graves(launch_bad(groupwise, write(tmp_path, wrong + "launch: {processes: [1}\n")))
    for lines in (form, slip):
        assert len(lines) == 3
        assert any("training.max_prompt_length: is no longer there since TRL 0.28" in line for line in lines)
        assert any("training.num_generations: each generation makes 8" in line for line in lines)
    assert any("spec.yaml:6: launch.processes: should be" in line for line in form)
    assert any("spec.yaml:6: This is not YAML" in line for line in slip)


@pytest.mark.usefixtures("no_worker")
def test_what_only_trl_refuses_is_said_with_its_line(groupwise: Groupwise, registry_home: Path, tmp_path: Path):
    offer.publish()
    path = write(tmp_path, SPEC)
    refused = {"field": "training.num_generations", "message": "TRL says no.", "level": "blocking", "fixes": []}
    with offer.answering((refused, {**refused, "level": "advice", "message": "TRL says hm."})):
        first, *others = launch_bad(groupwise, path)
        assert first == f"{path}:5: training.num_generations: TRL says no."
        assert not any("TRL says hm." in line for line in others), "advice on a value that is refused"


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


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("train.py", "from trl import GRPOTrainer", "a Python script"),
        ("Train.IPYNB", "{}", "a notebook"),
        ("grpo.yaml", "model_name_or_path: a/b\nreward_funcs: [accuracy]", "a recipe of TRL or open-r1"),
    ],
)
def test_what_is_imported_on_the_page_is_told_so(
    groupwise: Groupwise, offered: Path, tmp_path: Path, name: str, content: str, kind: str
):
    path = tmp_path / name
    path.write_text(content)
    (said,) = launch_bad(groupwise, path)
    assert f"{path} is {kind}, not a run in YAML. Import it under New run" in said and "export the YAML there." in said


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
    write(tmp_path, "hello", "my.docx")
    bad = SPEC.replace("num_generations", "num_generation")
    launch_bad(groupwise, write(tmp_path, bad.replace("task:arithmetic", "file:./my.jsonl")))
    lines = launch_bad(groupwise, write(tmp_path, SPEC.replace("task:arithmetic", f"file:{tmp_path}/my.docx")))
    assert "“my.docx” is a text document, which holds no rows that can be read. Copy its table into" in lines[0]


def test_a_file_beside_the_spec_is_pointed_to(groupwise: Groupwise, offered: Path, tmp_path: Path):
    write(tmp_path, "{}", "my.jsonl")
    lines = launch_bad(groupwise, write(tmp_path, SPEC.replace("task:arithmetic", "file:my.jsonl")))
    assert "Or write file:./my.jsonl" in lines[0]


def test_a_file_that_was_written_so_is_not_pointed_to_again(groupwise: Groupwise, offered: Path, tmp_path: Path):
    """What was wrong was said of file:./my.jsonl, with the advice to write file:./my.jsonl."""
    write(tmp_path, "", "my.jsonl")
    lines = launch_bad(groupwise, write(tmp_path, SPEC.replace("task:arithmetic", "file:./my.jsonl")))
    assert lines[0].endswith("spec.yaml:3: data.source: “my.jsonl” is empty.")
    (paths.data_folder() / "my.jsonl").touch()
    lines = launch_bad(groupwise, write(tmp_path, SPEC.replace("task:arithmetic", "file:my.jsonl")))
    assert lines[0].endswith("data.source: “my.jsonl” is empty.")


# --- launch: what should be known all the same


LATE = {"field": "data.filter", "line": None, "level": "warning", "fixes": []}
EMPTY = {**LATE, "message": "3 of 9 rows have nothing to ask and are left out."}


def test_warnings_are_printed_and_strict_makes_problems_of_them(
    groupwise: Groupwise, registry_home: Path, no_worker: None, tmp_path: Path
):
    offer.publish()
    write(tmp_path, '{"question": "1+1?", "answer": "2"}', "my.jsonl")
    path = write(tmp_path, SPEC.replace("task:arithmetic", "file:./my.jsonl").replace("4}", "4, beta: 0.0}"))
    checked = offer.CHECKED.model_copy(update={"problems": [ProblemMessage.from_plain(EMPTY)]})
    line = f"{path}:3: warning: data.filter: 3 of 9 rows have nothing to ask and are left out."
    with offer.answering(others={questions.CHECK_DATA: checked}):
        refused = groupwise("launch", str(path), "--strict")
        assert (refused.returncode, refused.stdout) == (2, "") and line in refused.stderr.splitlines()
        assert registry.list_runs() == [] and not list(paths.data_folder().iterdir())
        result = groupwise("launch", str(path))
    assert result.returncode == 0 and registry.get_run(result.stdout.strip()) is not None
    assert line in result.stderr.splitlines()
    assert all(one.stderr.splitlines()[0] == CHECKING for one in (refused, result)), "it was silent while it checked"


@pytest.mark.parametrize(
    "wrong",
    [
        ("num_generations: 4", "num_generation: 4", "5: training.num_generation: TRL's GRPOConfig has no such field."),
        ("name: format", "name: fromat", "4: rewards.0.name: "),
        ("name: format", "name: format, weight: heavy", "4: rewards.0.weight: should be a number, not 'heavy'."),
        ("rewards:", "model: {id: ./no-such-model}\nrewards:", "4: model.id: "),
    ],
    ids=["setting", "reward", "form", "model"],
)
def test_what_only_the_worker_knows_of_the_data_is_said_with_what_blocks_without_it(
    groupwise: Groupwise, registry_home: Path, no_worker: None, tmp_path: Path, wrong: tuple[str, str, str]
):
    """It came in a second round, once all else was put right."""
    offer.publish()
    write(tmp_path, '{"question": "1+1?", "answer": "2"}', "my.jsonl")
    old, new, words = wrong
    path = write(tmp_path, SPEC.replace("task:arithmetic", "file:./my.jsonl").replace(old, new))
    checked = offer.CHECKED.model_copy(update={"problems": [ProblemMessage.from_plain(EMPTY)]})
    with offer.answering(others={questions.CHECK_DATA: checked}):
        lines = launch_bad(groupwise, path)
    assert any(line.startswith(f"{path}:{words}") for line in lines)
    assert f"{path}:3: warning: data.filter: 3 of 9 rows have nothing to ask and are left out." in lines
    assert not list(paths.data_folder().iterdir())


@pytest.mark.parametrize("kind", [questions.BUILD, questions.PREVIEW])
def test_a_helper_that_died_is_not_the_specs_fault(
    groupwise: Groupwise, registry_home: Path, no_worker: None, tmp_path: Path, kind: str
):
    offer.publish()
    write(tmp_path, '{"question": "1+1?", "answer": "2"}', "my.jsonl")
    path = write(tmp_path, SPEC.replace("task:arithmetic", "file:./my.jsonl"))
    with offer.answering(others={kind: Failed(error="The helper process ended before it could answer. Try again.")}):
        result = groupwise("launch", str(path))
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.splitlines() == [
        CHECKING,
        "groupwise: The helper process ended before it could answer. Try again. That is a fault of Groupwise, not of "
        f"the spec. {paths.worker_log()} may say more.",
    ]
    assert registry.list_runs() == [] and not list(paths.data_folder().iterdir())


def test_rows_that_could_not_be_checked_are_a_warning(
    groupwise: Groupwise, registry_home: Path, no_worker: None, tmp_path: Path
):
    offer.publish()
    gone = Failed(error="This took too long and was given up.")
    with offer.answering(others={questions.CHECK_DATA: gone}):
        result = groupwise("launch", str(path := write(tmp_path, SPEC)))
    assert result.returncode == 0
    said = f"{path}:3: warning: data: could not be checked: This took too long and was given up."
    assert said in result.stderr.splitlines()


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
    assert process.stderr is not None and "Reading what the installed TRL offers" in process.stderr.readline()
    offer.publish()
    with offer.answering():
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0 and registry.get_run(out.strip()) is not None


def test_the_command_does_without_the_dashboards_libraries(start: Start, own_home: Path):
    code = "import sys, app.cli.launch; print(sorted({'gradio', 'torch', 'trl'} & set(sys.modules)))"
    assert start("-c", code).communicate(timeout=30)[0] == "[]\n"
