"""What keeps a spec from running: names, types, batch arithmetic, files, each with its sentence at its field."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.checks.batch import check_batch
from groupwise.storage.checks.check import OWNED, check_spec, examine_spec
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import from_dict, line_numbers, parse_spec
from groupwise.storage.spec.words.problem import BLOCKING, WARNING
from tests.support import offer
from tests.support.offer import OFFER


def problems(offered: Offer = OFFER, **changes: Any) -> list[tuple[str, str]]:
    """(field, message) of each problem of a small good spec with these changes."""
    parts: dict[str, Any] = {"name": "small", "rewards": [{"name": "format"}], **changes}
    return [(problem.field, problem.message) for problem in check_spec(from_dict(parts), offered)]


def only(found: list[tuple[str, str]]) -> tuple[str, str]:
    assert len(found) == 1, found
    return found[0]


def test_a_good_spec_has_no_problem():
    assert problems() == []
    assert problems(training={"num_generations": 4, "beta": 0.1, "bf16": None, "learning_rate": 1}) == []
    assert problems(lora={"r": 16, "target_modules": ["q_proj"]}) == []


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("num_generation", 4, "no such field. Did you mean “num_generations”?"),
        ("num_generation", "abc", "no such field. Did you mean “num_generations”? It does not take “abc”."),
        ("zzz", 1, "TRL's GRPOConfig has no such field."),
        ("learning_rate", "1e-4", "should be a number, not “1e-4”. Write it without quotes."),
        ("learning_rate", True, "should be a number, not true."),
        ("learning_rate", None, "has no value: it should be a number."),
        ("learning_rate", float("inf"), "should be a finite number."),
        ("num_generations", 4.0, "should be a whole number, not 4.0."),
        ("num_generations", 1e9, "should be a whole number, not 1e9."),
        ("bf16", "yes", "should be true or false"),
        ("bf16", 1, "should be true or false"),
        ("loss_type", "drgrpo", "should be one of grpo, dapo, dr_grpo, bnpo. Did you mean “dr_grpo”?"),
        ("lr_scheduler_kwargs", 5, "should be a mapping or text"),
        ("num_generations", 1, "at least 2"),
        ("num_generations", "8 rollouts", "Did you mean 8?"),
    ],
)
def test_a_setting_is_held_against_what_trl_offers(name: str, value: Any, words: str):
    field, message = only(problems(training={name: value}))
    assert field == f"training.{name}" and words in message


@pytest.mark.parametrize("name", sorted(OWNED))
def test_what_groupwise_decides_itself_says_where_a_person_says_it(name: str):
    field, message = only(problems(training={name: "x"}))
    assert field == f"training.{name}" and OWNED[name] in message


def test_lora_is_held_against_what_peft_offers():
    assert only(problems(lora={"rr": 8}))[1].startswith("PEFT's LoraConfig has no such field.")
    assert only(problems(lora={"r": "8"}))[0] == "lora.r"


def test_rewards_exist_and_are_listed_once():
    assert "Did you mean “format”?" in only(problems(rewards=[{"name": "fromat"}]))[1]
    assert "There are format, correctness, length." in only(problems(rewards=[{"name": "zzz"}]))[1]
    assert only(problems(rewards=[{"name": "format"}, {"name": "format"}])) == (
        "rewards.1.name",
        "“format” is listed twice.",
    )


def test_what_is_not_known_yet_is_not_held_against_anyone():
    nothing = Offer()
    assert problems(nothing, training={"anything": 1}, rewards=[{"name": "mine"}], data={"source": "task:mine"}) == []


BATCHES = [
    # settings, processes, field of the problem (None: none)
    ({"per_device_train_batch_size": 8, "num_generations": 8}, 1, None),
    ({"per_device_train_batch_size": 4, "num_generations": 8}, 1, "training.num_generations"),
    ({"per_device_train_batch_size": 4, "num_generations": 8}, 2, None),
    ({"per_device_train_batch_size": 1, "gradient_accumulation_steps": 8, "num_generations": 8}, 1, None),
    ({"per_device_train_batch_size": 1, "steps_per_generation": 8, "num_generations": 8}, 1, None),
    (
        {"steps_per_generation": 1, "gradient_accumulation_steps": 4, "num_generations": 16},
        1,
        "training.num_generations",
    ),
    ({"generation_batch_size": 24, "num_generations": 12}, 1, None),
    ({"generation_batch_size": 24, "num_generations": 7}, 1, "training.num_generations"),
    ({"generation_batch_size": 24, "steps_per_generation": 3}, 1, "training.generation_batch_size"),
]


@pytest.mark.parametrize(("training", "processes", "field"), BATCHES)
def test_groups_fill_a_generation_batch(training: dict[str, Any], processes: int, field: str | None):
    found = problems(training=training, launch={"processes": processes})
    assert [name for name, _ in found] == ([field] if field else [])


@pytest.mark.parametrize(
    ("size", "steps", "field"),
    [("16", 2, "steps_per_generation"), (0, 2, "steps_per_generation"), (16, "2", "generation_batch_size"),
     (16, 2.5, "generation_batch_size")],
)  # fmt: skip
def test_that_two_cannot_be_given_together_does_not_wait_until_both_are_right(size: Any, steps: Any, field: str):
    found = problems(training={"generation_batch_size": size, "steps_per_generation": steps})
    told = [name for name, words in found if words.startswith("cannot be given together with ")]
    assert told == [f"training.{field}"] and len(found) == 2


def test_the_arithmetic_is_said_with_the_sizes_that_fit():
    _, message = only(problems(training={"per_device_train_batch_size": 10, "num_generations": 4}))
    assert "10 completions (10 a device)" in message and "Use groups of 5 or 10." in message  # 2 are too few to compare


SEVERAL = {"gradient_accumulation_steps": 0, "generation_batch_size": 7, "num_generations": 8,
           "per_device_train_batch_size": 16}  # fmt: skip


def test_what_does_not_fit_is_said_beside_what_is_too_little():
    assert [field for field, _ in problems(training=SEVERAL)] == [
        "training.gradient_accumulation_steps", "training.generation_batch_size",
    ]  # fmt: skip
    by_slip = problems(training={**SEVERAL, "gradient_accumulation_steps": "x"})
    assert [field for field, _ in by_slip] == [field for field, _ in problems(training=SEVERAL)]
    nothing_counted = {"gradient_accumulation_steps": 0, "num_generations": 16}
    assert [field for field, _ in problems(training=nothing_counted)] == ["training.gradient_accumulation_steps"]


ARITHMETIC = [
    SEVERAL, {"generation_batch_size": 20, "num_generations": 6}, {"per_device_train_batch_size": 4},
    {"per_device_train_batch_size": 10, "num_generations": 4}, {"generation_batch_size": 40, "num_generations": 16},
    {"num_generations": 12, "eval_strategy": "steps"}, {"num_generations": 64},
]  # fmt: skip


@pytest.mark.parametrize("training", ARITHMETIC)
@pytest.mark.parametrize("processes", [1, 3])
def test_no_click_on_the_arithmetic_leads_to_another(training: dict[str, Any], processes: int):
    spec = from_dict({"name": "small", "rewards": [{"name": "format"}], "training": training,
                      "data": {"holdout": 8}, "launch": {"processes": processes}})  # fmt: skip
    found = check_batch(spec, OFFER)
    for problem in found:
        for fix in problem.fixes:
            gone = {path.removeprefix("training.") for path in fix.removed}
            left = {name: value for name, value in training.items() if name not in gone}
            made = {path.removeprefix("training."): value for path, value in fix.settings.items()}
            after = check_batch(spec.model_copy(update={"training": left | made}), OFFER)
            assert {one.field for one in after} < {one.field for one in found}, (problem, fix.label, after)


def test_evaluation_needs_rows_and_whole_groups():
    found = problems(training={"eval_strategy": "steps", "num_generations": 4, "per_device_eval_batch_size": 6})
    assert [name for name, _ in found] == ["data.holdout", "training.per_device_eval_batch_size"]
    assert problems(training={"eval_strategy": "steps"}, data={"holdout": 8}) == []


@pytest.mark.parametrize(
    "source",
    ["file:../x.jsonl", "file:/etc/passwd", "file:a/b.jsonl", "file:", "file:..", "file:.hidden.jsonl",
     "file:a\nb.jsonl", "file:x\0.jsonl", "file:$(id).jsonl", "file:link.jsonl", "http://x/y.jsonl", "zip::x",
     "x.jsonl", "task:",
     "task:nope", "file:missing.jsonl", "file:empty.jsonl", "file:notes.docx", "file:folder.jsonl"],
)  # fmt: skip
def test_data_is_a_task_or_a_whole_file_in_the_home(registry_home: Path, tmp_path: Path, source: str):
    (tmp_path / "outside.jsonl").write_text("{}")
    (paths.data_folder() / "link.jsonl").symlink_to(tmp_path / "outside.jsonl")
    (paths.data_folder() / "empty.jsonl").touch()
    (paths.data_folder() / "notes.docx").write_text("hello")
    (paths.data_folder() / "folder.jsonl").mkdir()
    assert only(problems(data={"source": source}))[0] == "data.source"


def test_a_file_in_the_home_is_fine_whatever_the_case_of_its_ending(registry_home: Path):
    for name in ("a.jsonl", "B.CSV", "c d.parquet"):
        (paths.data_folder() / name).write_text("x")
        assert problems(data={"source": f"file:{name}"}) == []


def test_an_answer_pattern_is_a_regular_expression():
    assert only(problems(data={"answer_pattern": "("}))[0] == "data.answer_pattern"
    assert problems(data={"answer_pattern": "#### (.*)"}) == []


@pytest.mark.parametrize("model", ["starter", "org/name", "name", "Qwen/Qwen2.5-0.5B"])
def test_a_model_may_be_the_starter_or_a_hub_id(model: str):
    assert problems(model={"id": model}) == []


@pytest.mark.parametrize("model", ["a/b/c", "../x", "/nowhere", "http://x", "org/na me", "$(id)", "~/nowhere-at-all"])
def test_no_other_text_is_a_model(model: str):
    assert only(problems(model={"id": model}))[0] == "model.id"


def test_lines_come_from_the_yaml_and_where_a_field_is_absent_from_the_part_it_is_in(registry_home: Path):
    text = "name: a\nrewards: [{name: format}]\ntraining:\n  beta: 0.1\n  num_generations: 3\ndata:\n  limit: 5\n"
    found = check_spec(parse_spec(text), OFFER, line_numbers(text))
    assert [(p.field, p.line) for p in found] == [("training.num_generations", 5)]
    text = text.replace("num_generations: 3", "eval_strategy: steps")
    assert [(p.field, p.line) for p in check_spec(parse_spec(text), OFFER, line_numbers(text))] == [("data.holdout", 6)]


def test_the_offer_is_what_the_worker_published(registry_home: Path):
    assert Offer.read_published() == Offer()
    offer.publish()
    assert Offer.read_published() == OFFER


FIELDS = {
    "eval_on_start": ("bool", False), "eval_steps": ("float", None), "save_steps": ("float", 500),
    "save_strategy": ("str", "steps"), "logging_strategy": ("str", "steps"),
}  # fmt: skip
MORE = {name: {"types": [kind, "none"], "default": default} for name, (kind, default) in FIELDS.items()}
WATCHING = replace(OFFER, training={**offer.TRAINING, **MORE})


@pytest.mark.parametrize(
    ("data", "training", "rows", "field", "labels"),
    [
        ({"holdout": 40}, {}, 40, "data.holdout", ["Hold out 4"]),
        ({"holdout": 5}, {}, 5, "data.holdout", ["Hold out none"]),
        ({}, {"eval_strategy": "steps"}, 40, "data.holdout", ["Hold out 4 rows", "Do not evaluate"]),
        ({}, {"eval_on_start": True}, 19, "training.eval_on_start", ["Hold out 1 row", "Do not evaluate"]),
        ({}, {"eval_on_start": True}, 9, "training.eval_on_start", ["Do not evaluate"]),
        ({}, {"eval_on_start": True}, 9000, "training.eval_on_start", ["Hold out 64 rows", "Do not evaluate"]),
        ({}, {"eval_on_start": True}, None, "training.eval_on_start", ["Hold out 64 rows", "Do not evaluate"]),
        ({"limit": 50}, {"eval_strategy": "steps", "eval_on_start": True}, 9000, "data.holdout",
         ["Hold out 5 rows", "Do not evaluate"]),
    ],
)  # fmt: skip
def test_of_the_rows_that_are_known_a_sensible_part_is_held_out(
    registry_home: Path, data: dict[str, Any], training: dict[str, Any], rows: int | None, field: str, labels: list[str]
) -> None:
    (paths.data_folder() / "rows.jsonl").write_text("{}")
    parts = {"name": "a", "rewards": [{"name": "format"}], "data": {"source": "file:rows.jsonl", **data}}
    training = {"per_device_eval_batch_size": 8, **training}
    [problem] = examine_spec(from_dict({**parts, "training": training}), WATCHING, rows=rows)
    assert (problem.field, [fix.label for fix in problem.fixes]) == (field, labels)
    for fix in problem.fixes:
        kept = {name: value for name, value in training.items() if f"training.{name}" not in fix.removed}
        mended = {**parts, "data": {**parts["data"], **{p.split(".")[1]: v for p, v in fix.settings.items()}}}
        assert examine_spec(from_dict({**mended, "training": kept}), WATCHING, rows=rows) == []


@pytest.mark.parametrize("name", ["save_steps", "logging_steps"])
def test_between_two_steps_nothing_is_done_and_both_are_offered(name: str) -> None:
    path = f"training.{name}"
    parts = {"name": "a", "rewards": [{"name": "format"}], "training": {name: 1.5}}
    [problem] = examine_spec(from_dict(parts), WATCHING)
    assert (problem.field, problem.message) == (
        path, "should be a whole number of steps, or a share of the run below 1, not 1.5.",
    )  # fmt: skip
    assert [fix.settings for fix in problem.fixes if not fix.fallback] == [{path: 1}, {path: 2}]
    strategy = name.replace("steps", "strategy")
    for fine in ({name: 2.0}, {name: 0.5}, {name: 1.5, strategy: "no"}, {"eval_steps": 1.5}):
        assert problems(WATCHING, training=fine) == []


@pytest.mark.parametrize(
    ("training", "processes", "field", "level", "put"),
    [
        ({"dataloader_num_workers": 9999}, 1, "training.dataloader_num_workers", BLOCKING, [4, 0]),
        ({"dataloader_num_workers": 9}, 1, "training.dataloader_num_workers", WARNING, [4, 0]),
        ({"dataloader_num_workers": 5}, 2, "training.dataloader_num_workers", WARNING, [4, 0]),
        ({"dataloader_num_workers": 8}, 8, "training.dataloader_num_workers", BLOCKING, [1, 0]),
        ({"dataloader_num_workers": 1, "dataloader_prefetch_factor": 9999}, 1, "training.dataloader_prefetch_factor",
         WARNING, [2]),
        ({}, 9, "launch.processes", WARNING, [8]),
        ({}, 64, "launch.processes", BLOCKING, [8]),
    ],
)  # fmt: skip
def test_more_processes_than_there_are_cores_for_are_said_before_they_start(
    training: dict[str, Any], processes: int, field: str, level: str, put: list[int]
) -> None:
    names = {"dataloader_num_workers": 0, "dataloader_prefetch_factor": None}
    fields = {**offer.TRAINING, **{name: {"types": ["int"], "default": value} for name, value in names.items()}}
    machine = replace(OFFER, training=fields, hardware={"cores": 8, "gpus": [], "memory": 64 * 10**9})
    parts = {"name": "small", "rewards": [{"name": "format"}], "training": training, "launch": {"processes": processes}}
    (problem,) = examine_spec(from_dict(parts), machine)
    assert (problem.field, problem.level) == (field, level)
    assert [fix.settings for fix in problem.fixes] == [{field: value} for value in put]
    assert examine_spec(from_dict({**parts, "training": {"dataloader_num_workers": 8}, "launch": {}}), machine) == []
    if "prefetch" not in field:  # of a machine that is not known nothing is said
        assert examine_spec(from_dict(parts), replace(machine, hardware={})) == []
