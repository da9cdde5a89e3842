"""The New run page: form and YAML say the same, nothing typed is lost, and nothing that cannot run is launched."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app import format
from app.components import rewards
from app.pages import choices, forecast, form, launch, new, yaml_edit
from app.pages.form import FIELDS, Memory
from storage import home, registry
from storage import spec as specs
from storage.spec import Problem, SpecError
from tests import offer

TEXT = """# why this run
name: one   # its name
model: {id: starter}
data:
  source: task:arithmetic

  limit: 100
rewards:
- name: format
  weight: 1.0
training:
  num_generations: 8   # group size
  per_device_train_batch_size: 64
  logging_steps: 5
  max_steps: 60
"""


def shown(text: str) -> form.Form:
    raw = yaml_edit.load(text)
    assert raw is not None
    return form.from_spec(raw)


def edited(text: str, **changes: Any) -> str:
    return form.merge(text, Memory(text), shown(text) | changes, newest="form")[0]


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("name",), "two", "name: two   # its name"),
        (("training", "num_generations"), 16, "  num_generations: 16   # group size"),
        (("training", "beta"), 0.02, "  beta: 0.02"),
        (("data", "limit"), 5, "  limit: 5"),
    ],
)
def test_one_setting_changes_and_every_other_line_stays(path: tuple[str, ...], value: Any, line: str) -> None:
    after = yaml_edit.put(TEXT, path, value)
    assert line in after.splitlines()
    assert len(set(TEXT.splitlines()) - set(after.splitlines())) <= 1


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("model", "id"), "org/name"), (("lora",), {"r": 4}), (("lora",), None), (("launch", "processes"), 2),
        (("rewards",), [{"name": "length", "weight": 0.5}]), (("training", "max_steps"), yaml_edit.ABSENT),
        (("name",), "yes: [not] #plain"), (("name",), "two\nlines"), (("training",), {}),
    ],
)  # fmt: skip
def test_what_is_put_is_what_is_read(path: tuple[str, ...], value: Any) -> None:
    raw = yaml_edit.load(yaml_edit.put(TEXT, path, value))
    assert raw is not None
    assert yaml_edit.get(raw, path) == value
    before = yaml_edit.load(TEXT)
    assert before is not None
    assert all(raw[key] == before[key] for key in before if key != path[0])


def test_the_form_changes_its_fields_and_keeps_the_rest() -> None:
    after = edited(TEXT, learning_rate="1e-4", model="org/name", num_generations="4")
    spec = specs.parse(after)
    assert spec.training == {
        "num_generations": 4, "per_device_train_batch_size": 64, "logging_steps": 5, "max_steps": 60,
        "learning_rate": 1e-4,
    }  # fmt: skip
    assert spec.data.limit == 100
    assert after.startswith("# why this run")
    assert "learning_rate: 1e-4" in after


def test_form_to_yaml_to_form_is_the_same_form() -> None:
    changes = {
        "name": "a: [b]", "model": "/models/x", "source": "file:a.jsonl", "learning_rate": "5e-6", "beta": "",
        "max_steps": "abc", "tune": form.LORA, "rewards": [{"name": "correctness", "weight": "2.0"}],
    }  # fmt: skip
    after = shown(edited(TEXT, **changes))
    assert all(form.same(field, after[field], content) for field, content in changes.items())


def test_lora_settings_survive_being_put_away() -> None:
    text = TEXT + "lora: {r: 4, lora_dropout: 0.1}\n"
    full, values, memory = form.merge(text, Memory(text), shown(text) | {"tune": form.FULL}, newest="form")
    assert specs.parse(full).lora is None
    back, _, _ = form.merge(full, memory, values | {"tune": form.LORA}, newest="form")
    assert specs.parse(back).lora == {"r": 4, "lora_dropout": 0.1}


def test_while_the_yaml_cannot_be_read_both_sides_keep_what_was_typed() -> None:
    broken = TEXT.replace("name: one", "name: one: [")
    text, values, memory = form.merge(broken, Memory(TEXT), shown(TEXT) | {"max_steps": "33"}, newest="form")
    assert (text, values["max_steps"], memory.text) == (broken, "33", TEXT)
    mended = TEXT.replace("name: one", "name: two")
    text, values, _ = form.merge(mended, memory, values, newest="yaml")
    assert specs.parse(text).training["max_steps"] == 33
    assert values["name"] == "two"


def test_an_edit_of_the_yaml_leaves_the_yaml_as_it_was_typed() -> None:
    typed = TEXT.replace("max_steps: 60", "max_steps:   61  # more")
    text, values, _ = form.merge(typed, Memory(TEXT), shown(TEXT), newest="yaml")
    assert text == typed
    assert values["max_steps"] == "61"


@pytest.mark.parametrize("kept", [None, 7, "", "{}", "[]", '{"text": 3, "lora": 4}', "x" * 1000])
def test_a_memory_of_any_form_is_taken_or_left(kept: Any) -> None:
    assert isinstance(Memory.read(kept, TEXT).text, str)


@pytest.mark.parametrize("sent", [None, 7, [], {}, "[]", '[{"name": 4, "on": true}]', "nonsense", True, math.nan])
def test_the_page_may_send_anything_for_every_field(registry_home: Path, sent: Any) -> None:
    arguments = [sent] * (2 + len(FIELDS))
    assert len(new.changed_form(*arguments)) == 2 + 2 * len(FIELDS) + 1
    assert len(new.changed_yaml(*arguments)) == 2 + 2 * len(FIELDS) + 1
    new.start(*arguments)
    new.add_file(*([sent] * (3 + len(FIELDS))))
    assert registry.runs() == []
    assert list(home.data_folder().iterdir()) == []


@pytest.mark.usefixtures("no_worker")
def test_a_spec_with_a_problem_launches_nothing_and_says_it_at_the_field() -> None:
    offer.publish()
    text = TEXT.replace("num_generations: 8", "num_generations: 7")
    *said, target = new.start(text, Memory(text).write(), *fields(text))
    assert target == ""
    assert registry.runs() == []
    note = said[1 + FIELDS.index("num_generations")]
    assert "field-problem" in note
    assert "do not divide" in note
    assert "training.num_generations, line 12" in said[-1]


@pytest.mark.usefixtures("no_worker")
def test_launch_queues_exactly_what_is_shown_with_the_last_edit_of_the_form() -> None:
    contents = fields(TEXT)
    contents[FIELDS.index("max_steps")] = "44"
    *_, target = new.start(TEXT, Memory(TEXT).write(), *contents)
    [run] = registry.runs()
    assert target == f"/run?id={run.id}"
    assert run.folder.spec.read_text() == TEXT.replace("max_steps: 60", "max_steps: 44")


def fields(text: str) -> list[Any]:
    values = shown(text)
    return [rewards.rows(values[field], {}) if field == "rewards" else values[field] for field in FIELDS]


def test_every_preset_can_be_launched(registry_home: Path) -> None:
    for path in launch.PRESETS.glob("*.yaml"):
        spec, found = launch.problems(launch.preset(path.stem))
        assert spec is not None
        assert found == []


@pytest.mark.usefixtures("no_worker")
def test_settings_of_a_run_or_a_preset_are_opened_and_anything_else_is_said() -> None:
    run_id = launch.start(TEXT)
    assert new.opened(run_id, "")[0] == TEXT
    for asked in ("../../etc", "nope", "\0", "<script>"):
        text, origin = new.opened(asked, "")
        assert text == launch.preset()
        assert "There is no run" in origin
        assert "<script" not in origin
    assert "There is no preset" in new.opened("", "../x")[1]


def test_a_refused_spec_creates_nothing(registry_home: Path) -> None:
    with pytest.raises(SpecError):
        launch.start("name: x\nrewards: []\n")
    assert registry.runs() == []
    assert list(home.runs_folder().iterdir()) == []


def test_an_upload_is_copied_under_a_plain_name_and_never_over_another(registry_home: Path, tmp_path: Path) -> None:
    upload = tmp_path / "..my data;$(x).JSONL"
    upload.write_text("{}\n")
    assert choices.keep(str(upload)) == "my data-x.jsonl"
    assert choices.keep(str(upload)) == "my data-x.jsonl"
    upload.write_text('{"other": 1}\n')
    assert choices.keep(str(upload)) == "my data-x-2.jsonl"
    assert ("my data-x.jsonl", "file:my data-x.jsonl") in choices.sources()


@pytest.mark.usefixtures("registry_home")
@pytest.mark.parametrize("where", ["while it is copied", "while it gets its name"])
def test_a_disk_that_fills_during_an_upload_leaves_no_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    upload = tmp_path / "rows.jsonl"
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
    said = new.add_file(str(upload), TEXT, Memory(TEXT).write(), *fields(TEXT))
    assert "could not be kept: No space left on device." in said[-1]
    assert list(home.data_folder().iterdir()) == []


def test_the_limit_that_is_said_for_an_upload_is_the_one_that_is_kept() -> None:
    assert "at most 100 MB" in choices.ADVICE
    assert choices.guard.MAX_FILE == 100 * 1024**2


def damage(place: Path) -> None:
    (place / "registry.db").write_bytes(b"this is no database at all" * 100)


def lose(place: Path) -> None:
    (place / "registry.db").unlink()


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize("harm", [damage, lose])
def test_without_a_registry_the_page_says_so_and_keeps_what_was_typed(
    registry_home: Path, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    upload = tmp_path / "rows.jsonl"
    upload.write_text("{}\n")
    harm(registry_home)
    typed = (TEXT, Memory(TEXT).write(), *fields(TEXT))
    for said, at in (
        (new.changed_form(*typed), -1), (new.changed_yaml(*typed), -1), (new.start(*typed), -2),
        (new.add_file(str(upload), *typed), -2),
    ):  # fmt: skip
        assert "Nothing was launched, and what you typed is kept" in said[at]
        assert all(update == new.gr.skip() for update in said[:at])
    assert new.start(*typed)[-1] == ""
    assert list(home.runs_folder().iterdir()) == []


@pytest.mark.usefixtures("no_worker")
def test_a_disk_that_is_full_launches_nothing_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def fills(*_: Any, **__: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(registry, "create", fills)
    *kept, said, target = new.start(TEXT, Memory(TEXT).write(), *fields(TEXT))
    assert "database or disk is full" in said
    assert target == ""
    assert all(update == new.gr.skip() for update in kept)


def test_without_a_registry_the_form_is_there_all_the_same(registry_home: Path) -> None:
    damage(registry_home)
    request = new.gr.Request(query_params={"preset": "quickstart"})
    text, _, *rest, said, origin = new.first_look(request)
    assert text == launch.preset()
    assert rest[FIELDS.index("max_steps")] == "60"
    assert "groupwise repair" in said
    assert "quickstart" in origin


def test_what_is_no_data_file_is_refused_in_words(registry_home: Path, tmp_path: Path) -> None:
    empty, script, link = tmp_path / "a.csv", tmp_path / "a.py", tmp_path / "l.csv"
    empty.touch()
    script.write_text("x")
    link.symlink_to("/etc/passwd")
    for path in (str(empty), str(script), str(link), str(tmp_path), "/nowhere", None):
        with pytest.raises(ValueError, match=r"[.)]$"):
            choices.keep(path)
    assert list(home.data_folder().iterdir()) == []


def test_what_will_happen_counts_as_trl_does() -> None:
    spec = specs.parse(TEXT)
    said = " ".join(forecast.words(spec, {"gradient_accumulation_steps": 1, "beta": 0.0}))
    assert "8 prompts × 8 completions = <b>64 completions</b> a step" in said
    assert "60 steps: <b>3\u202f840 completions</b>" in said
    assert "4.8 passes over 100 prompts" in said
    assert "No KL" in said
    accumulated = specs.parse(edited(TEXT) + "  gradient_accumulation_steps: 2\n  steps_per_generation: 8\n")
    assert "used for 4 updates of 128" in forecast.words(accumulated, {})[0]
    assert forecast.words(specs.parse(edited(TEXT, num_generations="abc")), {}) == []
    assert forecast.words(specs.parse(edited(TEXT) + "  num_iterations: abc\n"), {}) == []
    assert forecast.words(specs.parse(edited(TEXT) + "  generation_batch_size: abc\n"), {}) == []


@pytest.mark.parametrize(
    ("more", "made"),
    [
        ({"steps_per_generation": 4}, 15 * 256), ({"steps_per_generation": 16}, 4 * 1024),
        ({"steps_per_generation": 16, "num_iterations": 3}, 2 * 1024), ({"gradient_accumulation_steps": 2}, 60 * 128),
        ({"generation_batch_size": 64 * 7}, 9 * 448),
    ],
)  # fmt: skip
def test_a_generation_that_is_begun_is_made_whole(more: dict[str, int], made: int) -> None:
    text = edited(TEXT) + "".join(f"  {name}: {value}\n" for name, value in more.items())
    assert f"60 steps: <b>{format.count(made)} completions</b>" in " ".join(forecast.words(specs.parse(text), {}))


def test_evaluation_comes_with_logging_where_nothing_else_is_said() -> None:
    text = TEXT.replace("limit: 100", "limit: 100\n  holdout: 8")
    said = [
        forecast.words(specs.parse(text + more), {"logging_steps": 10})[2]
        for more in (
            "  eval_strategy: steps\n",
            "  eval_strategy: steps\n  eval_steps: 7\n",
            "  eval_strategy: epoch\n",
        )
    ]
    assert [line.split(",")[0] for line in said] == ["Every 5 steps", "Every 7 steps", "At each evaluation"]


def test_a_problem_is_shown_escaped_and_where_it_belongs() -> None:
    problem = Problem("training.beta", "should be a number, not <img src=x onerror=alert(1)>.", 3)
    assert forecast.place(problem) == "beta"
    assert "<img" not in forecast.note("beta", [problem])
    assert "<img" not in forecast.summary(None, [problem], {})
    assert forecast.place(Problem("training.bf16", "x")) is None
    assert forecast.place(Problem("rewards.0.weight", "x")) == "rewards"


def test_rewards_on_offer_follow_the_chosen_ones() -> None:
    value = rewards.rows([{"name": "mine", "weight": "2.0"}], {"format": {"help": "<b>h</b>"}})
    assert [(row["name"], row["on"]) for row in json.loads(value)] == [("mine", True), ("format", False)]
    assert rewards.chosen(value) == [{"name": "mine", "weight": "2.0"}]
