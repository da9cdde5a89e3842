"""The New run page's functions: anyone may call them with anything; nothing typed is lost, nothing wrong launched."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import choices, edits, launch, new_run, presets, view, worker_requests, yaml_edit
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards import library
from groupwise.storage.registry import questions, registry
from groupwise.storage.registry.messages.build import BuildAnswer
from groupwise.storage.registry.messages.problem import messages_of
from groupwise.storage.spec import spec as specs
from groupwise.storage.spec.problem import Problem, SpecError
from tests.conftest import holding, playing_supervisor
from tests.support import offer

TEXT = presets.quickstart_text().replace("max_steps: 60", "max_steps: 60  # mine")
FUNCTIONS = (
    new_run.open_new_run, new_run.edit_settings, new_run.ask_worker, new_run.read_answer, new_run.try_step,
    new_run.cancel_question, new_run.launch_run, new_run.keep_data_file, new_run.read_import, new_run.take_import,
    new_run.preset_settings, new_run.add_reward,
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
    name = specs.parse_spec(TEXT).name
    assert opened["text"] == TEXT.replace(name, f"{name}-2", 1)
    assert opened["origin"] == f"From run “{name}”"
    assert opened["arrival"] == {
        "run": {"id": run_id, "name": name}, "name": f"{name}-2", "changes": [], "refused": "",
    }  # fmt: skip
    kept = new_run.open_new_run({"from": run_id, "keep": "1"})  # for a preset of these settings, as they are
    assert (kept["text"], kept["arrival"]) == (TEXT, None)
    for asked in ({"from": "../../etc"}, {"from": "nope"}, {"from": "\0"}, {"from": "<script>"}, {"preset": "../x"}):
        opened = new_run.open_new_run({**asked, "set": ["training.beta=0.5"], "reward": "length"})
        assert opened["text"] == presets.quickstart_text(), "nothing is changed of what nobody asked for"
        assert (opened["origin"], opened["arrival"]) == ("Preset: Quickstart", None)
        [(kind, name)] = asked.items()
        what = "run" if kind == "from" else "preset"
        assert opened["missing"] == f"There is no {what} “{name}”. Nothing was taken from it or changed."


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (b"name: [[[{\n\x00", "The spec.yaml of “{}” cannot be read: it is not YAML"),
        (b"name: \xff", "The spec.yaml of “{}” cannot be read: it is not text in UTF-8"),
        (None, "The folder of “{}” has no spec.yaml"),
    ],
)
def test_a_run_whose_spec_was_spoilt_is_not_said_to_be_missing(
    no_worker: None, written: bytes | None, why: str
) -> None:
    run_id = launch.queue_run(TEXT)
    spec_file = paths.run_folder(run_id).spec
    spec_file.unlink()
    if written is not None:
        spec_file.write_bytes(written)
    opened = new_run.open_new_run({"from": run_id})
    assert opened["missing"] == f"{why.format(run_id)}. Nothing was taken from it or changed."
    assert opened["text"] == presets.quickstart_text()


@pytest.mark.usefixtures("no_worker")
def test_a_reward_function_is_added_to_a_draft_or_it_is_said_why_not() -> None:
    offer.publish_installed()
    library.save_reward("short", "def short(completions, **kwargs):\n    return [1.0 for _ in completions]\n")
    added = new_run.add_reward({"text": TEXT, "reward": "short"})
    assert [reward.name for reward in specs.parse_spec(added["text"]).rewards] == ["format", "correctness", "short"]
    assert "max_steps: 60  # mine" in added["text"] and added["done"]
    assert added["words"] == "“short” was added to this draft’s rewards, with weight 1."
    again = new_run.add_reward({"text": added["text"], "reward": "short"})
    assert again["text"] == added["text"] and again["words"] == "“short” is one of this draft’s rewards already."
    broken = new_run.add_reward({"text": "name: [", "reward": "short"})
    assert broken["unreadable"] and not broken["done"] and broken["text"] == "name: ["
    assert broken["words"] == "“short” was not added: the YAML of this draft cannot be read."
    unknown = new_run.add_reward({"text": TEXT, "reward": "nix"})
    assert unknown["text"] == TEXT and unknown["words"] == "There is no reward function “nix”, so none was added."
    assert "sentence" in new_run.add_reward({"reward": "short"})
    opened = new_run.open_new_run({"reward": "nix"})
    assert opened["text"] == presets.quickstart_text()
    assert opened["arrival"]["refused"] == unknown["words"]


def test_settings_of_a_run_are_there_while_the_registry_is_damaged(no_worker: None) -> None:
    run_id = launch.queue_run(TEXT)
    paths.registry_path().write_bytes(b"no database" * 100)
    opened = new_run.open_new_run({"from": run_id})
    name = specs.parse_spec(TEXT).name
    assert opened["text"] == TEXT.replace(name, f"{name}-2", 1)
    assert opened["origin"] == f"From run “{name}”"
    assert "damaged" in opened["sentence"]


@pytest.mark.parametrize(
    ("name", "taken", "new"),
    [
        ("sums", set(), "sums-2"),
        ("sums", {"sums", "sums-2"}, "sums-3"),
        ("sums-2", {"sums", "sums-2"}, "sums-3"),
        ("sums-3", {"sums", "sums-3", "other"}, "sums-2"),
        ("sums-9", {"sums", "sums-9"}, "sums-9-2"),
        ("run-2024", {"run", "run-2024"}, "run-2024-2"),
        ("run-2024-2", {"run-2024", "run-2024-2"}, "run-2024-3"),
        ("lr-1e-5", {"lr-1e-5", "lr-1e-4"}, "lr-1e-5-2"),
        ("beta 0.02 2", {"beta 0.02 2"}, "beta 0.02 2 2"),
        ("seed-07", {"seed", "seed-07"}, "seed-07-2"),
        ("sums with LoRA", set(), "sums with LoRA 2"),
        ("sums with LoRA 2", {"sums with LoRA", "sums with LoRA 2"}, "sums with LoRA 3"),
        ("qwen2.5-0.5b", set(), "qwen2.5-0.5b-2"),
        ("7", set(), "7-2"),
        ("x" * 80, {"x" * 80, "x" * 78 + "-2"}, "x" * 78 + "-3"),
    ],
)
def test_a_run_that_begins_with_anothers_settings_has_a_name_of_its_own(name: str, taken: set[str], new: str) -> None:
    assert presets.next_name(name, taken) == new


def test_what_a_page_knows_of_other_data_counts_for_nothing(registry_home: Path) -> None:
    """As when an answer comes late, or the source was changed a moment ago."""
    hub = edits.apply(TEXT, [edits.Edit("data.source", "hub:a/b"), edits.Edit("data.limit", yaml_edit.ABSENT)])
    other, filtered = hub.replace("a/b", "c/d"), edits.apply(hub, [edits.Edit("data.filter", ["answer > 3"])])
    keys = new_run.edit_settings({"text": hub})["keys"]
    seen = {"source": keys["source"], "rows": 7777, "rows_of": keys["source"], "columns": ["frage"]}

    def shown(text: str, **more: object) -> str:
        return str(new_run.edit_settings({"text": text, "known": {**seen, **more}}))

    assert "7,761 prompts" in shown(hub) and "frage" not in shown(hub)  # but for the 16 that are held out
    assert "prompts (" not in shown(other), "another dataset"
    assert "7,761 prompts" in shown(filtered), "all rows that the preview counted"
    checked = {"rows": 500, "rows_of": new_run.edit_settings({"text": filtered})["keys"]["rows"]}
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
    with pytest.raises(SpecError, match="choose"):
        launch.queue_run(text)


def test_all_that_is_wrong_is_said_at_once(registry_home: Path) -> None:
    """What one problem hides of another: an endless number the form's, the form's those of the check, a slip of the
    YAML all of them."""
    text = TEXT.replace("max_steps: 60", f"max_steps: {'9' * 80}").replace("limit: 4000", "limit: many")
    text = text.replace("id: starter", "id: /no/such").replace("eval_strategy", "eval_strategi")
    seen = new_run.edit_settings({"text": text})
    fields = [one["field"] for one in seen["problems"] if one["level"] == "blocking"]
    assert {"training.max_steps", "data.limit", "model.id"} <= set(fields) and len(fields) == len(set(fields))
    broken = text.replace("name: ", "name: [", 1).replace("holdout: 16", "holdout: 16\n  holdout: 17")
    problems = new_run.edit_settings({"text": broken})["unreadable"]["problems"]
    assert [one["line"] for one in problems if "not YAML" in one["message"]]
    said = {one["field"]: one["message"] for one in problems}
    assert "given twice" in said["data.holdout"] and "digits" in said["training.max_steps"]
    assert "there is no folder" in said["model.id"] and "name" not in said
    fixes = {one["field"]: [fix["label"] for fix in one["fixes"]] for one in problems if one["fixes"]}
    assert list(fixes) == ["data.holdout"] and fixes["data.holdout"][0].startswith("Keep the first (line ")


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


def test_a_question_that_nobody_takes_up_says_why_and_what_to_do(registry_home: Path) -> None:
    first, asked = (questions.ask_question(view.about_data(specs.parse_spec(TEXT), row)) for row in (1, 2))

    def waiting(seconds: float) -> str:
        with registry.write_registry() as db:
            db.execute("UPDATE question SET asked_at = ?", [time.time() - seconds])
        return str(new_run.read_answer({"question": asked})["waiting"])

    assert waiting(1) == "Starting the worker…"
    goes_on, log = " Nothing is lost: this goes on by itself.", f" If it stays so, {paths.worker_log()} may say why."
    busy = "which takes longer on a busy machine."
    assert waiting(10) == f"The worker is still starting, {busy}{goes_on}"
    assert waiting(60) == f"The worker is still starting, {busy}{goes_on}{log}"
    with playing_supervisor(registry_home):
        assert waiting(1) == "Waiting for the worker…"
        assert waiting(10) == f"The worker is loading its libraries, {busy}{goes_on}"
        with holding(paths.questions_lock()):
            assert waiting(10) == f"The worker is busy: 1 other question like this one came first.{goes_on}"
            questions.answer_question(first, offer.PREVIEWED)
            idle = "The worker does not answer yet: the machine is busy, with a run perhaps."
            assert waiting(60) == f"{idle}{goes_on}{log}"


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


@pytest.mark.parametrize(
    ("called", "arrived", "kept", "words"),
    [
        ("Größe und Maß.csv", "Größe und Maß.csv", "Größe und Maß.csv", "Größe und Maß.csv is uploaded."),
        ("U\u0308bung.csv", "Ubung.csv", "Übung.csv", "Übung.csv is uploaded."),  # a Mac's letters
        ("sums (1).csv", "sums 1.csv", "sums 1.csv",
         "“sums (1).csv” is uploaded as sums 1.csv: its name has signs that a name here cannot have."),
        ("../../evil.csv", "evil.csv", "evil.csv", "evil.csv is uploaded."),
        ("evil.exe", "evil.csv", "evil.csv", "evil.csv is uploaded."),
    ],
)  # fmt: skip
def test_an_upload_keeps_the_name_that_it_had(
    registry_home: Path, called: str, arrived: str, kept: str, words: str
) -> None:
    paths.uploads_folder().mkdir()
    upload = paths.uploads_folder() / arrived
    upload.write_text("a\n1\n")
    said = new_run.keep_data_file({"path": str(upload), "name": called})
    assert (said["name"], said["words"], paths.data_file(kept).read_text()) == (kept, words, "a\n1\n")
    assert new_run.keep_data_file({"path": str(upload), "name": called})["name"] == kept, "the same file again"
    upload.write_text("a\n2\n")
    said = new_run.keep_data_file({"path": str(upload), "name": called})
    second = kept.replace(".csv", "-2.csv")
    assert said["name"] == second and said["words"].endswith(
        f" is uploaded as {second}: another file is called {kept}."
    )


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

    sent = {"name": "a.yaml", "text": TEXT, "functions": []}
    assert new_run.take_import(sent) == {"text": TEXT, "notes": [], "saved": []}
    script = new_run.take_import({"name": "train.py", "text": to_script(specs.parse_spec(TEXT))})
    assert specs.parse_spec(script["text"]) == specs.parse_spec(TEXT) and script["notes"] == []
    for name, text in (
        ("a.yaml", "name: ["),
        ("a.yaml", "- 1"),
        ("a.py", "def ("),
        ("a.yaml", "x: !!python/name:os.system"),
        ("a.ipynb", "{}"),
    ):
        assert f"“{name}”" in new_run.read_import({"name": name, "text": text})["sentence"]
        assert f"“{name}”" in new_run.take_import({"name": name, "text": text, "functions": ["x", 3]})["sentence"]


def test_a_scripts_functions_are_saved_under_free_names_and_never_over_others(registry_home: Path) -> None:
    mine = "def format(completions, **kwargs):\n    return [len(format.__name__) for _ in completions]\n"
    text = f"from trl import *\n{mine}GRPOTrainer('a/b', reward_funcs=[format, format]).train()"
    offer.publish_installed()
    (shown,) = new_run.read_import({"name": "", "text": text})["functions"]
    assert (shown["name"], shown["saved_as"]) == ("format", "my_format") and "ships with Groupwise" in shown["why"]
    assert library.newest_rewards() == []
    taken = new_run.take_import({"name": "", "text": text, "functions": ["format"]})
    assert taken["saved"] == ["my_format"] and [one["name"] for one in taken["rewards"] if one["own"]] == ["my_format"]
    assert "return [len(my_format.__name__)" in library.get_reward("my_format").code
    assert [one.name for one in specs.parse_spec(taken["text"]).rewards] == ["my_format", "my_format"]
    again = new_run.take_import({"name": "", "text": text, "functions": ["format"]})
    assert again["saved"] == ["my_format"] and len(library.versions("my_format")) == 1  # the same code is the same
    other = new_run.take_import({"name": "", "text": text.replace("[len(", "[1 + len("), "functions": ["format"]})
    assert other["saved"] == ["my_format_2"]
    assert any("format was saved as my_format_2. " in one for one in other["notes"])
    assert len(library.versions("my_format")) == 1


def test_a_view_is_there_before_the_worker_has_said_anything() -> None:
    seen = view.describe_text(TEXT, Offer())
    assert seen["problems"] == [] or not seen["blocked"]
    assert "GRPOTrainer" in seen["script"]
