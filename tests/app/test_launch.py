"""`groupwise launch` as a newcomer meets it: real processes; a spec that cannot run makes nothing, and says why."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupwise.app.cli.launch import CHECKING, GIVE_YAML
from groupwise.storage.home import paths
from groupwise.storage.registry import questions, registry
from groupwise.storage.registry.messages.problem import Failed, ProblemMessage
from groupwise.worker.builtin import starter
from tests.conftest import Groupwise
from tests.support import offer
from tests.support.launching import SPEC, write


@pytest.fixture
def offered(registry_home: Path, no_worker: None) -> Iterator[Path]:
    """A home whose worker (played by the test) has said what it offers, and takes every setting."""
    offer.publish()
    with offer.answering():
        yield registry_home


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
    "learning_rate: fast": "{path}:5: training.learning_rate: should be a number, not “fast”.",
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


@pytest.mark.parametrize("part", ["training", "data", "lora", "kl", "launch"])
@pytest.mark.parametrize("others", ["", "max_step: 3, num_generations: 3"], ids=["alone", "with others"])
def test_a_part_in_itself_is_refused_however_deep(
    groupwise: Groupwise, offered: Path, tmp_path: Path, part: str, others: str
):
    inner = {"training": "beta: 0.1", "data": "limit: 3", "lora": "r: 3", "kl": "target: 0.1", "launch": "processes: 1"}
    deep = f"{part}: {{{inner[part]}, {part}: {{{inner[part]}}}}}"
    parts = {"data": "source: task:arithmetic", "training": others or "num_generations: 4", part: deep}
    if part in ("data", "training"):
        parts[part] += ", source: task:arithmetic" if part == "data" else f", {others or 'num_generations: 4'}"
    text = "name: small\nrewards: [{name: format}]\n" + "".join(f"{one}: {{{said}}}\n" for one, said in parts.items())
    said = graves(launch_bad(groupwise, write(tmp_path, text)))
    words = f"{part}.{part}: is indented too far: “{part}” begins at the left edge, where it is set already."
    assert sum(words in line for line in said) == 1
    assert not others or any("training.max_step: " in line for line in said)


def test_training_in_the_training_of_a_stage_is_refused(groupwise: Groupwise, offered: Path, tmp_path: Path):
    stages = "stages:\n- training: {training: {max_steps: 3}, max_steps: 4}\n- training: {beta: 0.1}\n"
    (said,) = graves(launch_bad(groupwise, write(tmp_path, SPEC.partition("training")[0] + stages)))
    assert "spec.yaml:6: stages.0.training.training: is indented too far: “training” begins at the left edge." in said


def test_all_problems_are_said_at_once(groupwise: Groupwise, offered: Path, tmp_path: Path):
    text = SPEC.replace("name: format", "name: fromat").replace("num_generations", "num_generation")
    path = write(tmp_path, text.replace("task:arithmetic", "file:./nowhere.jsonl"))
    assert [line.split(": ")[:2] for line in graves(launch_bad(groupwise, path))] == [
        [f"{path}:3", "data.source"],
        [f"{path}:4", "rewards.0.name"],
        [f"{path}:5", "training.num_generation"],
    ]


def test_what_follows_from_a_misspelt_name_is_not_said_beside_it(groupwise: Groupwise, offered: Path, tmp_path: Path):
    batch = "per_device_train_batch_size: 30"
    slips = f"num_generation: 8, max_completion_lenght: 48, {batch}"
    path = write(tmp_path, SPEC.replace("num_generations: 4", slips))
    *named, then = graves(launch_bad(groupwise, path))
    assert [line.split(": ")[1] for line in named] == ["training.num_generation", "training.max_completion_lenght"]
    assert "training.num_generation: Once that is fixed: each generation makes 30" in then, "of the 8 that are given"
    (unsaid,) = graves(launch_bad(groupwise, write(tmp_path, SPEC.replace("num_generations: 4", batch))))
    assert "training.num_generations: is not set: TRL's default is 8, and each generation makes 30" in unsaid


def test_what_a_wrong_form_or_a_slip_of_the_yaml_hides_is_said_with_it(
    groupwise: Groupwise, offered: Path, tmp_path: Path
):
    wrong = SPEC.replace("num_generations: 4", "max_prompt_length: 786, num_generations: 3")
    form = graves(launch_bad(groupwise, write(tmp_path, wrong + "launch: {processes: many}\n")))
    slip = graves(launch_bad(groupwise, write(tmp_path, wrong + "launch: {processes: [1}\n")))
    for lines in (form, slip):
        assert len(lines) == 3
        assert any("training.max_prompt_length: was removed in TRL 0.28" in line for line in lines)
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
        twice = write(tmp_path, SPEC + "lora: {r: 4}\nlora: {r: 8}\n")
        slip, said = sorted(launch_bad(groupwise, twice), key=lambda line: "TRL says" in line)
        assert "lora: given twice" in slip and said == first, "also of a text that cannot be read yet"


@pytest.mark.parametrize(
    ("source", "is_said"), [("task:aritmetic", True), ("file:gone.jsonl", True), ("file:./rows.jsonl", False)]
)
def test_beside_a_slip_the_data_is_told_of_unless_it_is_named_as_seen_from_the_file(
    groupwise: Groupwise, offered: Path, tmp_path: Path, source: str, is_said: bool
) -> None:
    (tmp_path / "rows.jsonl").write_text('{"question": "1 + 1", "answer": "2"}\n')
    path = write(tmp_path, SPEC.replace("task:arithmetic", source) + "lora: {r: 4}\nlora: {r: 8}\n")
    lines = graves(launch_bad(groupwise, path))
    assert any("lora: given twice" in line for line in lines)
    assert any(": data.source: " in line for line in lines) == is_said


def test_a_filter_on_a_column_that_is_not_there_is_said_once_and_beside_a_misspelt_task(
    groupwise: Groupwise, offered: Path, tmp_path: Path
) -> None:
    filtered = SPEC.replace("source: task:arithmetic", 'source: task:arithmetic, filter: ["level < 3"]')
    assert filtered != SPEC
    for text in (filtered, filtered.replace("task:arithmetic", "task:aritmetic")):
        lines = graves(launch_bad(groupwise, write(tmp_path, text)))
        assert [line for line in lines if "data.filter.0" in line] == [
            f"{tmp_path / 'spec.yaml'}:3: data.filter.0: there is no column “level”. The columns are question, answer."
        ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"name: [", "This is not YAML"),
        (b"", "The spec is empty. Begin with “name: my-run”."),
        (b"# later\n", "The spec is empty. Begin with “name: my-run”."),
        (b"- a\n", "A spec is a mapping of settings, such as “name: my-run”."),
        (b"name: \xfc", "is not text in UTF-8: save it as UTF-8. Give the YAML file of a run"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 2000, "is binary, not a run in YAML. Give the YAML file of a run"),
        (b"name: !!python/object/apply:os.system ['touch /tmp/x']", "This is not YAML"),
        (b"x: &a [1]\ny: *a", "Aliases"),
        (b"# " + b"x" * 300_000, "larger than 256 KB"),
        (b'name: "\\u200b"\nrewards: [{name: format}]', "A run needs a name: this one has no visible character."),
    ],
    ids=["unclosed", "empty", "remark", "list", "latin", "binary", "tag", "alias", "huge", "unseen"],
)
def test_a_file_that_is_no_spec_is_a_sentence(
    groupwise: Groupwise, offered: Path, tmp_path: Path, content: bytes, words: str
):
    path = tmp_path / "spec.yaml"
    path.write_bytes(content)
    assert any(words in line for line in launch_bad(groupwise, path))


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


def test_a_spec_is_read_from_standard_input(groupwise: Groupwise, offered: Path, tmp_path: Path):
    def from_input(text: str) -> subprocess.CompletedProcess[str]:
        with write(tmp_path, text).open("rb") as file:
            return groupwise("launch", "-", stdin=file, cwd=tmp_path)

    wrong = from_input(SPEC.replace("num_generations: 4", "num_generation: 4"))
    assert wrong.returncode == 2 and registry.list_runs() == []
    assert "\nstandard input:5: training.num_generation: TRL's GRPOConfig has no such field." in wrong.stderr
    assert "groupwise: standard input is larger than 256 KB" in from_input("# " + "x" * 300_000).stderr
    write(tmp_path, '{"question": "1+1?", "answer": "2"}\n' * 8, "few.jsonl")
    done = from_input(SPEC.replace("task:arithmetic", "file:./few.jsonl"))
    assert (done.returncode, [run.id for run in registry.list_runs()]) == (0, [done.stdout.strip()])


def test_a_spec_that_is_not_there_or_a_folder_is_a_sentence(groupwise: Groupwise, offered: Path, tmp_path: Path):
    pictured = tmp_path / "a.png"
    pictured.write_bytes(b"\x89PNG\r\n")
    for path, why in {
        tmp_path / "none.yaml": "is not there",
        tmp_path: "is a folder",
        pictured: "is a picture, not a run in YAML",
    }.items():
        (said,) = launch_bad(groupwise, path)
        assert said == f"groupwise: {path} {why}. {GIVE_YAML}"
    write(tmp_path, SPEC)
    assert launch_bad(groupwise, tmp_path) == [
        f"groupwise: {tmp_path} is a folder. Give the file in it: {tmp_path}/spec.yaml"
    ]


def test_a_word_that_is_no_command_is_told_which_may_be_meant(groupwise: Groupwise):
    for word, said in {
        "lanch": " Did you mean “launch”?",
        "my.yaml": " `groupwise launch FILE` starts",
        "?": "",
    }.items():
        result = groupwise(word)
        assert result.returncode == 2 and f"there is no command “{word}”.{said}" in result.stderr
        assert "The commands: serve, launch, list" in result.stderr


def test_a_file_that_is_in_the_home_and_not_beside_the_spec_is_pointed_to(
    groupwise: Groupwise, offered: Path, tmp_path: Path
):
    (paths.data_folder() / "few.csv").write_text("question,answer\n1+1?,2\n")
    path = write(tmp_path, SPEC.replace("task:arithmetic", "file:./few.csv"))
    said = f"there is no file “few.csv” in {tmp_path}. Copy it there, or correct the path. "
    said += f"Or write file:few.csv for the one in {paths.data_folder()}."
    lines = launch_bad(groupwise, path)
    assert lines[0] == f"{path}:3: data.source: {said}"
    assert "it can only do sums" not in "".join(lines)  # nobody has read what is asked there
    twice = write(tmp_path, path.read_text() + "training: {max_steps: 5, max_steps: 6}\n", "twice.yaml")
    beside = launch_bad(groupwise, twice)  # nor does a text that cannot be read yet hide it
    assert f"{twice}:3: data.source: {said}" in beside and any("given twice" in line for line in beside)


@pytest.mark.usefixtures("registry_home", "no_worker")
def test_rows_that_ask_nothing_are_the_only_cause(groupwise: Groupwise, tmp_path: Path):
    """It was said beside it that there are 0 rows."""
    offer.publish()
    write(tmp_path, '{"question": null, "answer": "2"}', "my.jsonl")
    path = write(tmp_path, SPEC.replace("task:arithmetic", "file:./my.jsonl"))
    cause = ProblemMessage.from_plain({**EMPTY, "level": "blocking", "message": "none of the rows has a prompt."})
    checked = offer.CHECKED.model_copy(
        update={
            "problems": [cause],
            "usable": 0,
            "kept": 0,
            "rows": offer.PREVIEWED.rows.model_copy(update={"count": 1}),
        }
    )
    with offer.answering(others={questions.CHECK_DATA: checked}):
        lines = launch_bad(groupwise, path)
    assert graves(lines) == [f"{path}:3: data.filter: none of the rows has a prompt."]


def test_a_name_that_cannot_be_is_refused(groupwise: Groupwise, offered: Path, tmp_path: Path):
    for name in ("", "x" * 81):
        assert groupwise("launch", str(write(tmp_path, SPEC)), "--name", name).returncode == 2
    assert registry.list_runs() == []


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


@pytest.mark.parametrize("relative", [True, False])
def test_a_path_without_its_kind_is_named_as_the_file_that_it_leads_to(
    groupwise: Groupwise, offered: Path, tmp_path: Path, relative: bool
):
    """file:my.jsonl was advised, which is in no home."""
    path = write(tmp_path, "{}", "my.jsonl")
    source = "my.jsonl" if relative else str(path)
    lines = launch_bad(groupwise, write(tmp_path, SPEC.replace("task:arithmetic", source)))
    meant = "file:./my.jsonl" if relative else f"file:{path}"
    assert any(line.endswith(f"Did you mean “{meant}”?") for line in lines), lines


@pytest.mark.parametrize("name", ["~nobody-here/x.csv", r"~\0/x.csv", r"./\0"])
def test_a_file_in_the_home_of_nobody_is_not_there(groupwise: Groupwise, offered: Path, tmp_path: Path, name: str):
    path = write(tmp_path, SPEC.replace("task:arithmetic", f'"file:{name}"'))
    result = groupwise("launch", str(path), env={**os.environ, "HF_HOME": "~nobody-here"})
    assert result.returncode == 2 and "data.source" in result.stderr and "there is no file" in result.stderr


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
EMPTY = {**LATE, "message": "3 of 9 rows have no prompt and are left out."}


def test_warnings_are_printed_and_strict_makes_problems_of_them(
    groupwise: Groupwise, registry_home: Path, no_worker: None, tmp_path: Path
):
    offer.publish()
    write(tmp_path, '{"question": "1+1?", "answer": "2"}', "my.jsonl")
    path = write(tmp_path, SPEC.replace("task:arithmetic", "file:./my.jsonl").replace("4}", "4, beta: 0.0}"))
    checked = offer.CHECKED.model_copy(update={"problems": [ProblemMessage.from_plain(EMPTY)]})
    line = f"{path}:3: warning: data.filter: 3 of 9 rows have no prompt and are left out."
    with offer.answering(others={questions.CHECK_DATA: checked}):
        refused = groupwise("launch", str(path), "--strict")
        assert (refused.returncode, refused.stdout) == (2, "") and line in refused.stderr.splitlines()
        assert refused.stderr.endswith("\nNothing was started: --strict does not launch with warnings.\n")
        assert registry.list_runs() == [] and not list(paths.data_folder().iterdir())
        result = groupwise("launch", str(path))
    assert result.returncode == 0 and registry.get_run(result.stdout.strip()) is not None
    assert line in result.stderr.splitlines() and "--strict" not in result.stderr
    assert all(one.stderr.splitlines()[0] == CHECKING for one in (refused, result)), "it was silent while it checked"


@pytest.mark.usefixtures("registry_home", "no_worker")
def test_what_the_worker_sees_in_the_rows_is_known_to_the_advice(groupwise: Groupwise, tmp_path: Path):
    """The starter was said to find no right answers, also of sums; commas in prompts beside points were not told."""
    offer.publish()
    write(tmp_path, '{"question": "1+1?", "answer": "2"}', "my.jsonl")
    text = SPEC.replace("task:arithmetic", "file:./my.jsonl").replace("name: format", "name: correctness")
    path = write(tmp_path, text)

    def say(**seen: object) -> str:
        with offer.answering(others={questions.CHECK_DATA: offer.CHECKED.model_copy(update=seen)}):
            return groupwise("launch", str(path)).stderr

    beyond, point = "the starter is there to try things out", "such as 0.75: a completion that says 0,75"
    other, sums, commas = say(), say(sums=True), say(point="0.75")
    # Advice on what is not in the file stands at no line: an editor would jump to another setting.
    assert f"\n{path}: advice: training.beta: at 0" in other and not re.search(r":\d+: advice: training.beta", other)
    assert beyond in other and beyond not in sums, sums
    assert point in commas and point not in other, commas


@pytest.mark.parametrize(
    "wrong",
    [
        ("num_generations: 4", "num_generation: 4", "5: training.num_generation: TRL's GRPOConfig has no such field."),
        ("name: format", "name: fromat", "4: rewards.0.name: "),
        ("name: format", "name: format, weight: heavy", "4: rewards.0.weight: should be a number, not “heavy”."),
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
    assert f"{path}:3: warning: data.filter: 3 of 9 rows have no prompt and are left out." in lines
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
    gone = Failed(error="This took too long and was stopped.")
    with offer.answering(others={questions.CHECK_DATA: gone}):
        result = groupwise("launch", str(path := write(tmp_path, SPEC)))
    assert result.returncode == 0
    said = f"{path}:3: warning: data: could not be checked: This took too long and was stopped."
    assert said in result.stderr.splitlines()


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
