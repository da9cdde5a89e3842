"""The New run page's functions: anyone may call them with anything; nothing typed is lost, nothing wrong launched."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import choices, launch, new_run, presets, view, worker_requests
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.registry import questions, registry
from groupwise.storage.registry.messages.build import BuildAnswer
from groupwise.storage.registry.messages.problem import messages_of
from groupwise.storage.spec import spec as specs
from groupwise.storage.spec.problem import Problem, SpecError
from tests.support import offer

TEXT = presets.quickstart_text().replace("max_steps: 60", "max_steps: 60  # mine")
FUNCTIONS = (
    new_run.open_new_run, new_run.edit_settings, new_run.ask_worker, new_run.read_answer, new_run.try_step,
    new_run.cancel_question, new_run.launch_run, new_run.keep_data_file, new_run.import_file, new_run.preset_settings,
    new_run.save_preset, new_run.delete_preset,
)  # fmt: skip


def built(text: str) -> int:
    """A question to TRL about this text, answered as the worker would when it finds nothing wrong."""
    question = worker_requests.ask_about_text(questions.BUILD, text, topic="t")
    questions.answer_question(question, BuildAnswer(problems=[]))
    return question


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize(
    "sent",
    [None, 7, [], "x", {}, {"text": 3}, {"text": TEXT, "edits": 5, "known": [], "kind": {}, "topic": 9, "row": -1},
     {"text": "x" * 300_000}, {"text": "\0", "path": "/etc/passwd", "name": "../x", "question": "1", "built": math.nan},
     {"text": "name: [", "path": "a\0b", "name": "\0", "question": 2**70, "from": "../../etc", "preset": "<script>"}],
    ids=range(10),
)  # fmt: skip
def test_the_page_may_send_anything_to_every_function(registry_home: Path, function: Any, sent: Any) -> None:
    said = function(sent)
    json.dumps(said, allow_nan=False)
    assert registry.list_runs() == []
    assert list(paths.data_folder().iterdir()) == []


@pytest.mark.usefixtures("no_worker")
def test_only_what_trl_took_is_launched_and_exactly_as_written() -> None:
    offer.publish_installed()
    assert new_run.launch_run({"text": TEXT}) == {"unasked": True}
    question = built(TEXT)
    other = TEXT.replace("beta: 0.02", "beta: 0.03")
    assert new_run.launch_run({"text": other, "built": question}) == {"unasked": True}
    said = new_run.launch_run({"text": TEXT, "built": question})
    [run] = registry.list_runs()
    assert said == {"url": f"/run?id={run.id}"}
    assert run.folder.spec.read_text() == TEXT


@pytest.mark.usefixtures("no_worker")
def test_the_quickstart_as_it_ships_waits_for_nobody() -> None:
    offer.publish_installed()
    assert new_run.launch_run({"text": presets.quickstart_text()})["url"] == f"/run?id={registry.list_runs()[0].id}"


@pytest.mark.usefixtures("no_worker")
def test_what_trl_does_not_take_is_not_launched() -> None:
    offer.publish_installed()
    question = worker_requests.ask_about_text(questions.BUILD, TEXT, topic="t")
    problems = messages_of([Problem("training.temperature", "should be above 0.")])
    questions.answer_question(question, BuildAnswer(problems=problems))
    assert "should be above 0" in new_run.launch_run({"text": TEXT, "built": question})["sentence"]
    assert registry.list_runs() == []


@pytest.mark.usefixtures("no_worker")
def test_a_spec_with_a_problem_launches_nothing_and_says_it_with_its_fixes() -> None:
    offer.publish_installed()
    text = TEXT.replace("num_generations: 8", "num_generations: 7")
    assert "something to mend" in new_run.launch_run({"text": text, "built": built(text)})["sentence"]
    assert registry.list_runs() == []
    [problem] = [one for one in new_run.edit_settings({"text": text})["problems"] if one["level"] == "blocking"]
    assert (problem["field"], problem["line"]) == (
        "training.num_generations",
        text.splitlines().index("  num_generations: 7") + 1,
    )
    for fix in problem["fixes"]:
        edits = [{"path": path, "remove": True} for path in fix["removed"]]
        edits += [{"path": path, "value": value} for path, value in fix["settings"].items()]
        assert not new_run.edit_settings({"text": text, "edits": edits})["blocked"], fix["label"]


@pytest.mark.usefixtures("no_worker")
def test_problems_of_form_and_of_meaning_come_together() -> None:
    offer.publish_installed()
    text = (
        TEXT.replace("limit: 4000", "limit: many").replace("- name: format", "- name: formatt").replace("beta", "bata")
    )
    fields = {one["field"] for one in new_run.edit_settings({"text": text})["problems"]}
    assert {"data.limit", "rewards.0.name", "training.bata"} <= fields


def test_a_text_that_is_no_yaml_is_said_with_its_line_and_nothing_of_the_form_is_touched(registry_home: Path) -> None:
    said = new_run.edit_settings({"text": "name: x\nrewards: [", "edits": [{"path": "name", "typed": "y"}]})
    assert said["unreadable"]["line"] == 2
    assert said["text"] == "name: x\nrewards: ["
    assert "shown" not in said


def test_settings_of_a_run_or_a_preset_are_opened_and_anything_else_is_said(no_worker: None) -> None:
    run_id = launch.queue_run(TEXT)
    opened = new_run.open_new_run({"from": run_id})
    assert opened["text"] == TEXT
    assert opened["origin"].startswith(
        f"The settings of “{specs.parse_spec(TEXT).name}” ({run_id}). Change what you like"
    )
    for asked in ("../../etc", "nope", "\0", "<script>"):
        opened = new_run.open_new_run({"from": asked})
        assert opened["text"] == presets.quickstart_text()
        assert "There is no run" in opened["origin"]
    assert "There is no preset" in new_run.open_new_run({"preset": "../x"})["origin"]


def test_settings_of_a_run_are_there_while_the_registry_is_damaged(no_worker: None) -> None:
    run_id = launch.queue_run(TEXT)
    paths.registry_path().write_bytes(b"no database" * 100)
    opened = new_run.open_new_run({"from": run_id})
    assert opened["text"] == TEXT
    assert opened["origin"].startswith(f"The settings of {run_id}. ")
    assert "damaged" in opened["sentence"]


def test_a_refused_spec_creates_nothing(registry_home: Path) -> None:
    with pytest.raises(SpecError):
        launch.queue_run("name: x\nrewards: []\n")
    assert registry.list_runs() == []
    assert list(paths.runs_folder().iterdir()) == []


@pytest.mark.usefixtures("no_worker")
def test_a_question_is_asked_about_the_sound_part_of_a_spec_and_answered_once() -> None:
    text = TEXT.replace("max_steps: 60", "max_steps: sixty").replace("limit: 4000", "limit: x")
    asked = new_run.ask_worker({"kind": "preview", "text": text, "topic": "page", "row": 3})
    question = questions.get_question(asked["question"])
    assert question is not None
    assert question.payload["row"] == 3
    assert question.payload["data"]["limit"] is None
    assert "worker" in new_run.read_answer(asked)["waiting"]
    newer = new_run.ask_worker({"kind": "preview", "text": TEXT, "topic": "page", "row": 4})
    assert new_run.read_answer(asked) == {"gone": True}
    questions.answer_question(newer["question"], offer.PREVIEWED)
    assert new_run.read_answer(newer) == {"answer": offer.PREVIEWED.as_dict()}
    assert "sentence" in new_run.ask_worker({"kind": "try", "text": TEXT})
    assert "sentence" in new_run.ask_worker({"kind": "preview", "text": "name: ["})


@pytest.mark.usefixtures("no_worker")
def test_one_step_is_tried_only_of_what_could_be_launched_and_can_be_stopped() -> None:
    offer.publish_installed()
    assert (
        "Mend what blocks"
        in new_run.try_step({"text": TEXT.replace("num_generations: 8", "num_generations: 7")})["sentence"]
    )
    asked = new_run.try_step({"text": TEXT})
    new_run.cancel_question(asked)
    assert new_run.read_answer(asked) == {"gone": True}


def test_the_keys_change_with_what_each_question_depends_on() -> None:
    spec = specs.parse_spec(TEXT)
    before = view.keys(spec)

    def changed(**parts: Any) -> set[str]:
        after = view.keys(spec.model_copy(update=parts))
        return {kind for kind in before if before[kind] != after[kind]}

    assert changed(name="other") == set()
    assert changed(training={**spec.training, "beta": 0.5}) == {"build"}
    assert changed(training={**spec.training, "max_completion_length": 9}) == {"build", "check_data"}
    assert changed(data=spec.data.model_copy(update={"system_prompt": "x"})) == {"preview", "check_data"}
    assert changed(model=spec.model.model_copy(update={"revision": "x"})) == {"preview", "check_data", "build", "model"}


def test_an_upload_is_copied_under_a_plain_name_and_never_over_another(registry_home: Path) -> None:
    paths.uploads_folder().mkdir()
    upload = paths.uploads_folder() / "..my data;$(x).JSONL"
    upload.write_text("{}\n")
    assert new_run.keep_data_file({"path": str(upload)})["source"] == "file:my data-x.jsonl"
    assert new_run.keep_data_file({"path": str(upload)})["name"] == "my data-x.jsonl"
    upload.write_text('{"other": 1}\n')
    said = new_run.keep_data_file({"path": str(upload)})
    assert said["name"] == "my data-x-2.jsonl"
    assert {"value": "file:my data-x.jsonl", "label": "my data-x.jsonl"} in said["files"]


def test_only_what_was_uploaded_is_taken_in_and_only_data_files(registry_home: Path, tmp_path: Path) -> None:
    uploads = paths.uploads_folder()
    uploads.mkdir()
    outside, empty, script, link = tmp_path / "rows.csv", uploads / "a.csv", uploads / "a.py", uploads / "l.csv"
    outside.write_text("a\n1\n")
    empty.touch()
    script.write_text("x")
    link.symlink_to(outside)
    way_out = f"{uploads}/../../{tmp_path.name}/rows.csv"
    for path in (outside, empty, script, link, uploads, way_out, "/etc/passwd", f"{uploads}/\0"):
        assert new_run.keep_data_file({"path": str(path)})["sentence"]
    assert list(paths.data_folder().iterdir()) == []


@pytest.mark.usefixtures("registry_home")
@pytest.mark.parametrize("where", ["while it is copied", "while it gets its name"])
def test_a_disk_that_fills_during_an_upload_leaves_no_part_of_it(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    paths.uploads_folder().mkdir()
    upload = paths.uploads_folder() / "rows.jsonl"
    upload.write_text("{}\n" * 100)

    def fills(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    def half_a_copy(_: Path, target: Path) -> None:
        target.write_text("{}\n" * 50)
        fills()

    if where == "while it is copied":
        monkeypatch.setattr(shutil, "copyfile", half_a_copy)
    else:
        monkeypatch.setattr(Path, "replace", fills)
    assert "could not be kept: No space left on device." in new_run.keep_data_file({"path": str(upload)})["sentence"]
    assert list(paths.data_folder().iterdir()) == []


def test_the_limit_that_is_said_for_an_upload_is_the_one_that_is_kept() -> None:
    assert "at most 100 MB" in choices.ADVICE
    assert choices.data_files.MAX_FILE == 100 * 1024**2


def damage(place: Path) -> None:
    (place / "registry.db").write_bytes(b"this is no database at all" * 100)


def lose(place: Path) -> None:
    (place / "registry.db").unlink()


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize("harm", [damage, lose])
def test_without_a_registry_the_page_is_there_and_says_so(registry_home: Path, harm: Callable[[Path], None]) -> None:
    harm(registry_home)
    opened = new_run.open_new_run({"preset": "quickstart"})
    assert opened["sentence"]
    assert opened["view"]["shown"]["training.max_steps"] == "60"
    for function in (new_run.edit_settings, new_run.ask_worker, new_run.launch_run, new_run.try_step):
        assert function({"text": TEXT, "kind": "preview"})["sentence"]
    assert list(paths.runs_folder().iterdir()) == []


def test_a_damaged_registry_says_what_to_do(registry_home: Path) -> None:
    damage(registry_home)
    assert "groupwise repair" in new_run.open_new_run({})["sentence"]


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize("error", [sqlite3.OperationalError("database or disk is full"), OSError(28, "No space left")])
def test_a_disk_that_is_full_launches_nothing_and_says_so(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    offer.publish_installed()
    question = built(TEXT)

    def fills(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(registry, "create_run", fills)
    said = new_run.launch_run({"text": TEXT, "built": question})["sentence"]
    assert "full" in said or "No space left" in said


def test_a_spec_or_a_script_is_imported_and_anything_else_is_refused_in_words(registry_home: Path) -> None:
    from groupwise.storage.checks.script import to_script

    assert new_run.import_file({"name": "a.yaml", "text": TEXT}) == {"text": TEXT, "notes": []}
    script = new_run.import_file({"name": "train.py", "text": to_script(specs.parse_spec(TEXT))})
    assert specs.parse_spec(script["text"]) == specs.parse_spec(TEXT)
    for name, text in (
        ("a.yaml", "name: ["),
        ("a.yaml", "- 1"),
        ("a.py", "def ("),
        ("a.yaml", "x: !!python/name:os.system"),
    ):
        assert f"“{name}”" in new_run.import_file({"name": name, "text": text})["sentence"]


def test_a_view_is_there_before_the_worker_has_said_anything() -> None:
    seen = view.describe_text(TEXT, Offer())
    assert seen["problems"] == [] or not seen["blocked"]
    assert "GRPOTrainer" in seen["script"]
