"""The New run page's functions: anyone may call them with anything; nothing typed is lost, nothing wrong launched."""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import choices, edits, launch, new_run, presets, view, worker_requests, yaml_edit
from groupwise.app.ui import topbar
from groupwise.storage.checks.data import MEANWHILE
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.registry import questions, registry
from groupwise.storage.registry.messages.build import BuildAnswer
from groupwise.storage.registry.messages.dry_run import TryQuestion
from groupwise.storage.registry.messages.message import Progress
from groupwise.storage.registry.messages.problem import messages_of
from groupwise.storage.spec import spec as specs
from groupwise.storage.spec.spec import NO_MODEL
from groupwise.storage.spec.words.problem import Problem, SpecError
from tests.conftest import holding, playing_supervisor
from tests.support import offer
from tests.support.new_run import TEXT, built

FUNCTIONS = (
    new_run.open_new_run, new_run.edit_settings, new_run.ask_worker, new_run.read_answer, new_run.try_step,
    new_run.cancel_question, new_run.launch_run, new_run.keep_data_file, new_run.read_import, new_run.take_import,
    new_run.preset_settings, new_run.add_reward,
    new_run.save_preset, new_run.delete_preset,
)  # fmt: skip


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
    question, _ = worker_requests.ask_about_text(questions.BUILD, TEXT, topic="t")
    problems = messages_of([Problem("training.temperature", "should be above 0.")])
    questions.answer_question(question, BuildAnswer(problems=problems))
    assert "should be above 0" in new_run.launch_run({"text": TEXT, "built": question})["sentence"]
    assert registry.list_runs() == []


@pytest.mark.usefixtures("no_worker")
def test_a_spec_with_a_problem_launches_nothing_and_says_it_with_its_fixes() -> None:
    offer.publish_installed()
    text = TEXT.replace("num_generations: 8", "num_generations: 7")
    assert "Fix the problems" in new_run.launch_run({"text": text, "built": built(text)})["sentence"]
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
        TEXT.replace("limit: 2500", "limit: many").replace("- name: format", "- name: formatt").replace("beta", "bata")
    )
    fields = {one["field"] for one in new_run.edit_settings({"text": text})["problems"]}
    assert {"data.limit", "rewards.0.name", "training.bata"} <= fields


def test_a_text_that_is_no_yaml_is_said_with_its_line_and_nothing_of_the_form_is_touched(registry_home: Path) -> None:
    said = new_run.edit_settings({"text": "name: x\nrewards: [", "edits": [{"path": "name", "typed": "y"}]})
    assert said["unreadable"]["line"] == 2
    assert said["text"] == "name: x\nrewards: ["
    assert "shown" not in said


def test_what_a_page_knows_of_other_data_counts_for_nothing(registry_home: Path) -> None:
    """As when an answer comes late, or the source was changed a moment ago."""
    hub = edits.apply(TEXT, [edits.Edit("data.source", "hub:a/b"), edits.Edit("data.limit", yaml_edit.ABSENT)])
    other, filtered = hub.replace("a/b", "c/d"), edits.apply(hub, [edits.Edit("data.filter", ["answer > 3"])])
    keys = new_run.edit_settings({"text": hub})["keys"]
    seen = {"source": keys["source"], "rows_read": 7777, "rows_of": keys["rows"], "columns": ["frage"]}

    def shown(text: str, **more: object) -> str:
        return str(new_run.edit_settings({"text": text, "known": {**seen, **more}}))

    assert "7,761 prompts" in shown(hub) and "frage" not in shown(hub)  # but for the 16 that are held out
    assert "prompts (" not in shown(other), "another dataset"
    assert "prompts (" not in shown(filtered), "how many of them a filter keeps is not counted yet"
    of_filtered = new_run.edit_settings({"text": filtered})["keys"]["rows"]
    assert "prompts (" not in shown(filtered, rows_of=of_filtered), "the preview counts what is there before a filter"
    for path, value in (("data.limit", 20), ("data.holdout", 8), ("data.prompt_column", "frage"), ("data.split", "b")):
        assert "prompts (" not in shown(edits.apply(hub, [edits.Edit(path, value)])), f"counted with another {path}"
    thinking = edits.apply(hub, [edits.Edit("data.system_prompt", "Think.")])
    assert "7,761 prompts" in shown(thinking), "no row more or less"
    checked = {"rows": 500, "rows_of": of_filtered}
    assert "484 prompts" in shown(filtered, **checked) and "484" not in shown(hub, **checked)


@pytest.mark.parametrize(
    ("source", "words"), [("hub:", "choose a dataset"), ("file:", "choose a file"), ("gym: ", "task")]
)
def test_a_source_that_is_not_chosen_is_no_data(source: str, words: str, registry_home: Path) -> None:
    text = edits.apply(TEXT, [edits.Edit("data.source", source)])
    seen = new_run.edit_settings({"text": text})
    assert {"preview", "check_data"} & set(seen["keys"]) == set()
    [problem] = [one for one in seen["problems"] if one["field"] == "data.source"]
    assert words in problem["message"] and problem["level"] == "blocking"
    assert (seen["sentences"], seen["figures"]) == (["Choose the data first."], [])
    with pytest.raises(SpecError, match="choose"):
        launch.queue_run(text)


def test_of_a_file_that_is_gone_nothing_is_reckoned_and_another_can_be_chosen(registry_home: Path) -> None:
    file = paths.data_folder() / "übungen.csv"
    file.write_text("question,answer\n1+1?,2\n")
    text = edits.apply(TEXT, [edits.Edit("data.source", "file:übungen.csv")])
    there = new_run.edit_settings({"text": text})
    assert "preview" in there["keys"] and there["sentences"]
    known = {"source": there["keys"]["source"], "rows": 120, "rows_of": there["keys"]["rows"]}
    none = new_run.edit_settings({"text": text, "known": {**known, "rows": 0}})
    assert (none["sentences"], none["figures"]) == (["No row is left to train on."], [])
    assert launch.spec_and_problems(text, {**known, "rows": 0})[1], "and nothing is launched for it"
    unread = new_run.edit_settings({"text": text, "known": {"source": known["source"], "unreadable": True}})
    assert (unread["sentences"], unread["figures"]) == (["The data cannot be read as it is set."], [])
    assert "0 rows" not in str(none["problems"]), "what follows from that is no problem of its own"
    file.unlink()
    gone = new_run.edit_settings({"text": text, "known": known})
    assert {"preview", "check_data"} & set(gone["keys"]) == set()
    assert (gone["sentences"], gone["figures"]) == ([], [])
    [problem] = [one for one in gone["problems"] if one["field"] == "data.source"]
    ways = [("Choose another file", True), (MEANWHILE.label, False)]  # as of a dataset that the hub does not have
    assert [(fix["label"], fix["leads"]) for fix in problem["fixes"]] == ways
    (paths.data_folder() / "übung.csv").write_text("question,answer\n1+1?,2\n")
    [problem] = [one for one in new_run.edit_settings({"text": text})["problems"] if one["field"] == "data.source"]
    assert [fix["label"] for fix in problem["fixes"]] == ["Use file:übung.csv", "Choose another file"]


def test_all_that_is_wrong_is_said_at_once(registry_home: Path) -> None:
    """What one problem hides of another: an endless number the form's, the form's those of the check, a slip of the
    YAML all of them."""
    text = TEXT.replace("max_steps: 60", f"max_steps: {'9' * 80}").replace("limit: 2500", "limit: many")
    text = text.replace("id: starter", "id: /no/such").replace("eval_strategy", "eval_strategi")
    seen = new_run.edit_settings({"text": text})
    fields = [one["field"] for one in seen["problems"] if one["level"] == "blocking"]
    assert {"training.max_steps", "data.limit", "model.id"} <= set(fields) and len(fields) == len(set(fields))
    broken = text.replace("name: ", "name: [", 1).replace("holdout: 16", "holdout: 16\n  holdout: 17")
    problems = new_run.edit_settings({"text": broken})["unreadable"]["problems"]
    assert [one["line"] for one in problems if "not YAML" in one["message"]]
    said = {one["field"]: one["message"] for one in problems}
    assert "given twice" in said["data.holdout"] and "digits" in said["training.max_steps"]
    assert "there is no folder" in said["model.id"] and said["name"].startswith("Once that is fixed: “name” should")
    fixes = {one["field"]: [fix["label"] for fix in one["fixes"]] for one in problems if one["fixes"]}
    assert fixes["data.holdout"][0].startswith("Keep the first (line ")
    assert set(fixes) == {"", "data.holdout", "model.id", "data.limit"}  # those that change lines as they stand


def test_of_a_text_that_cannot_be_read_the_worker_is_asked_as_its_slips_are_put_right(registry_home: Path) -> None:
    """Every question about it, and where in the text as it is written an answer's field stands."""
    twice = TEXT.replace("holdout: 16", "holdout: 16\n  holdout: 17")
    once = new_run.edit_settings({"text": twice})["unreadable"]["once"]
    assert once["text"] == TEXT and once["keys"] == new_run.edit_settings({"text": TEXT})["keys"]
    lines = {path: twice.splitlines()[line - 1] for path, line in once["lines"].items()}
    assert lines["data.holdout"] == "  holdout: 16" and lines["training.max_steps"].startswith("  max_steps: ")
    for text in ("- a\n- [", "\t: [", "name: 'a' b\n"):
        assert "once" not in new_run.edit_settings({"text": text})["unreadable"], "it means no spec"


def test_a_name_that_another_run_has_is_said_and_a_free_one_offered(registry_home: Path) -> None:
    text = "name: a\ndata: {source: task:arithmetic}\nrewards: [{name: format}]\n"

    def said() -> list[dict[str, Any]]:
        return [one for one in view.describe_text(text, Offer())["problems"] if one["field"] == "name"]

    assert said() == []
    registry.create_run(text, name="a", model="starter", data="task:arithmetic")
    (found,) = said()
    words = "another run is called “a” already. Another name tells them apart."
    assert (found["level"], found["message"]) == ("advice", words)
    assert [fix["label"] for fix in found["fixes"]] == ["Use “a-2”"]


def test_a_refused_spec_creates_nothing(registry_home: Path) -> None:
    with pytest.raises(SpecError):
        launch.queue_run("name: x\nrewards: []\n")
    assert registry.list_runs() == []
    assert list(paths.runs_folder().iterdir()) == []


@pytest.mark.usefixtures("no_worker")
def test_a_question_is_asked_about_the_sound_part_of_a_spec_and_answered_once() -> None:
    text = TEXT.replace("max_steps: 60", "max_steps: sixty").replace("limit: 2500", "limit: x")
    asked = new_run.ask_worker({"kind": "preview", "text": text, "topic": "page", "row": 3})
    question = questions.get_question(asked["question"])
    assert question is not None
    assert question.payload["row"] == 3
    assert question.payload["data"]["limit"] is None
    assert new_run.read_answer(asked)["waiting"] == "Reading the data…"
    newer = new_run.ask_worker({"kind": "preview", "text": TEXT, "topic": "page", "row": 4})
    assert new_run.read_answer(asked) == {"gone": True}
    questions.answer_question(newer["question"], offer.PREVIEWED)
    assert new_run.read_answer(newer) == {"answer": offer.PREVIEWED.as_dict()}
    assert "sentence" in new_run.ask_worker({"kind": "try", "text": TEXT})
    assert "sentence" in new_run.ask_worker({"kind": "preview", "text": "name: ["})


def test_a_question_that_nobody_takes_up_says_why_and_what_to_do(registry_home: Path) -> None:
    first, asked = (questions.ask_question(view.about_data(specs.parse_spec(TEXT), row)) for row in (1, 2))

    def waiting(seconds: float) -> str:
        with registry.write_registry() as db:
            db.execute("UPDATE question SET asked_at = ?", [time.time() - seconds])
        return str(new_run.read_answer({"question": asked})["waiting"])

    assert waiting(1) == "Starting the worker…"
    goes_on, log = " Nothing is lost: it continues by itself.", f" If it stays so, {paths.worker_log()} may say why."
    busy = "which takes longer on a busy machine."
    assert waiting(10) == f"The worker is still starting, {busy}{goes_on}"
    assert waiting(60) == f"The worker is still starting, {busy}{goes_on}{log}"
    with playing_supervisor(registry_home):
        assert waiting(1) == "Reading the data…"
        assert waiting(10) == f"The worker is loading its libraries, {busy}{goes_on}"
        with holding(paths.questions_lock()):
            assert waiting(10) == f"The worker is loading its libraries, {busy}{goes_on}", "which it does for seconds"
        with holding(paths.questions_lock()), holding(paths.questions_ready_lock()):
            assert waiting(10) == f"Waiting for 1 other task of the worker.{goes_on}"
            questions.answer_question(first, offer.PREVIEWED)
            idle = f"The worker does not answer yet, {busy}"
            assert waiting(60) == f"{idle}{goes_on}{log}"


def test_a_try_that_waits_behind_others_says_so_at_once(registry_home: Path) -> None:
    first, second, third = (questions.ask_question(TryQuestion(text=TEXT)) for _ in range(3))

    def waiting(question: int) -> str:
        return str(new_run.read_answer({"question": question})["waiting"])

    with playing_supervisor(registry_home):
        assert waiting(first) == "Loading the libraries…"
        assert waiting(second) == "Waiting for 1 other task of the worker."
        assert waiting(third) == "Waiting for 2 other tasks of the worker."
        with registry.write_registry() as db:
            db.execute("UPDATE question SET asked_at = ?", [time.time() - 10])
        assert waiting(third).startswith("Waiting for 2 other tasks of the worker."), "it loads nothing for it"


def test_the_bar_on_top_and_what_a_question_waits_for_agree(registry_home: Path) -> None:
    """As it was seen: “Worker ready”, and beside it that the worker was loading its libraries."""

    def said(question: int) -> tuple[bool, bool]:
        with registry.write_registry() as db:
            db.execute("UPDATE question SET asked_at = ?", [time.time() - 10])
        status = topbar.worker_status({})
        waits = new_run.read_answer({"question": question})["waiting"]
        return bool(status["ready"] and status["loading"]), "libraries" in waits

    with playing_supervisor(registry_home):
        assert topbar.worker_status({})["loading"] is False, "nothing is asked: it is loaded for the first question"
        asked = questions.ask_question(view.about_data(specs.parse_spec(TEXT), 1))
        assert said(asked) == (True, True)
        with holding(paths.questions_lock()):
            questions.set_progress(asked, Progress(sentence="The first answer takes a while: libraries are loaded."))
            assert said(asked) == (True, True)
            with holding(paths.questions_ready_lock()):
                assert said(asked) == (False, False), "also where its last word was said while they were loading"


@pytest.mark.usefixtures("no_worker")
def test_one_step_is_tried_only_of_what_could_be_launched_and_can_be_stopped() -> None:
    offer.publish_installed()
    assert (
        "Fix what blocks"
        in new_run.try_step({"text": TEXT.replace("num_generations: 8", "num_generations: 7")})["sentence"]
    )
    asked = new_run.try_step({"text": TEXT})
    new_run.cancel_question(asked)
    assert new_run.read_answer(asked) == {"gone": True}


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize("model", ["starter", ""])
def test_nothing_is_said_of_what_a_model_reads_that_is_still_to_be_chosen(model: str) -> None:
    text = TEXT.replace("max_completion_length: 48", "max_completion_length: 1024")
    text = text.replace("id: starter", f"id: {model!r}")
    reading = launch.check_text(text)
    sound = reading.sound
    assert sound is not None
    for kind in (questions.BUILD, questions.CHECK_DATA):
        question = questions.get_question(worker_requests.ask_about_text(kind, text, topic="t")[0])
        assert question is not None
        about = question.payload["spec"] if kind == questions.BUILD else question.payload
        assert about["model"]["id"] == (model or NO_MODEL)
    chosen = view.keys(sound)
    changed = {kind for kind, key in view.keys(sound, reading.as_checked).items() if chosen[kind] != key}
    assert changed == (set() if model else {"build", "check_data"}), "choosing the starter asks anew"


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


def test_a_view_is_there_before_the_worker_has_said_anything() -> None:
    seen = view.describe_text(TEXT, Offer())
    assert seen["problems"] == [] or not seen["blocked"]
    assert "GRPOTrainer" in seen["script"]


def test_problems_are_listed_as_one_meets_them_in_the_text() -> None:
    """Those of the form, of the settings and of the estimates alike; a text that is no YAML as well."""
    text = (
        "training:\n  weight_decay: 100\n  beat: 0.1\ndata: {source: 'task:nothing', limit: many}\n"
        "nam: x\nrewards: [{name: format, weight: heavy}]\nmodel: {id: starter, dtype: half}\n"
    )
    said = view.describe_text(text, offer.OFFER)["problems"]
    blocking = [one["line"] for one in said if one["level"] == "blocking" and one["line"]]
    assert len(blocking) >= 5 and blocking == sorted(blocking)
    placed = [one.line or math.inf for one in launch.problems_of_text(text.replace("name: x\n", ""))]
    assert placed == sorted(placed) and len(placed) >= 4
    broken = view.describe_text(text + "lora: {r: 4\n", offer.OFFER)["unreadable"]
    first, *others = [one["line"] or math.inf for one in broken["problems"]]
    assert first == broken["line"] == 8  # what the form waits for
    assert len(others) > 1 and others == sorted(others)


def test_the_upload_names_the_kinds_of_workbooks_that_it_takes() -> None:
    assert all(suffix in choices.upload_advice() for suffix in (".xlsx", ".xls", ".ods"))
