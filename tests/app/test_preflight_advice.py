"""What a colleague would say of a spec; and the whole report, quickly."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groupwise.app.pages.new.preflight import memory_fixes
from groupwise.app.pages.new.preflight.advice import advise
from groupwise.app.pages.new.preflight.report import report
from groupwise.app.pages.new.view import describe_text
from groupwise.storage.checks.batch import check_batch
from groupwise.storage.checks.length import check_length
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models.model_facts import facts
from groupwise.storage.spec import spec
from groupwise.storage.spec.spec import ModelSpec, RunSpec
from groupwise.storage.spec.words.problem import ADVICE, BLOCKING, WARNING, Problem
from groupwise.worker.builtin import starter
from tests.app.test_preflight_disk import OFFER
from tests.app.test_preflight_memory import GB, MODEL
from tests.support.offer import publish_installed

MORE = {"temperature": 1.0, "logging_strategy": "steps", "num_train_epochs": 3.0}
FIELDS = {**(OFFER.training or {}), **{name: {"types": [], "default": value} for name, value in MORE.items()}}
# A spec of which nothing is to be said.
GOOD = {
    "beta": 0.02, "learning_rate": 1e-6, "max_steps": 60, "logging_steps": 1, "per_device_train_batch_size": 16,
    "save_steps": 20,
}  # fmt: skip


def offer(*gpus: str) -> Offer:
    there = [{"name": name, "memory": 80 * GB, "free": 80 * GB} for name in gpus]
    return Offer(FIELDS, hardware={"gpus": there, "cores": 2, "memory": 64 * GB})


def a_spec(lora: Any = None, data: Any = None, launch: Any = None, rewards: Any = None, **training: Any) -> RunSpec:
    raw = {"name": "a", "lora": lora, "data": data or {}, "launch": launch or {}, "training": {**GOOD, **training}}
    return spec.from_dict({**raw, "rewards": rewards or [{"name": "format"}]})


def said(run_spec: RunSpec, *gpus: str, **known: Any) -> list[Problem]:
    return advise(run_spec, offer(*gpus), known.pop("facts", MODEL), **known)


def test_of_a_good_spec_nothing_is_said() -> None:
    assert said(a_spec(), "NVIDIA A100-SXM4-80GB") == []


MINE = "def {0}(completions, **kwargs):\n    return [float(len({1})) for one in completions]\n"


def own_rewards(**codes: str) -> Offer:
    own = {name: {"own": True, "hash": name, "code": code} for name, code in codes.items()}
    return Offer(FIELDS, rewards={**own, "correctness": {"help": ""}, "format": {"help": ""}})


def test_rewards_of_which_none_looks_at_the_answer_are_said_before_the_launch() -> None:
    there = own_rewards(mine=MINE.format("mine", "one"), other=MINE.format("other", "kwargs['answer']"))
    alone = a_spec(rewards=[{"name": "mine"}, {"name": "other", "weight": 0.0}])
    (found,) = advise(alone, there, MODEL)
    assert (found.field, found.level) == ("rewards.0.name", WARNING)
    assert found.message.startswith(
        "no reward reads the answer. Rows have an answer, but “mine”, the only reward function with a weight, looks "
        "only at the completion."
    )
    assert [fix.settings for fix in found.fixes] == [{"rewards.2": {"name": "correctness", "weight": 1.0}}]
    unweighed = a_spec(rewards=[{"name": "mine"}, {"name": "correctness", "weight": 0.0}])
    assert advise(unweighed, there, MODEL)[0].fixes[0].settings == {"rewards.1.weight": 1.0}
    for listed in (["mine", "other"], ["mine", "correctness"]):
        assert advise(a_spec(rewards=[{"name": name} for name in listed]), there, MODEL) == []
    shipped = Offer(FIELDS, rewards={"format": {"help": "", "code": MINE.format("format", "one")}})
    assert [one.field for one in advise(a_spec(), shipped, MODEL)] == ["rewards.0.name"]
    stages = [{}, {"rewards": [{"name": "correctness"}]}]
    staged = spec.from_dict({"name": "a", "rewards": [{"name": "format"}], "training": GOOD, "stages": stages})
    assert not any("reads the answer" in one.message for one in advise(staged, shipped, MODEL))
    of_file = a_spec(rewards=[{"name": "mine"}], data={"source": "file:a.csv"})
    for columns, warned in {None: [], ("question",): [], ("question", "answer"): ["rewards.0.name"]}.items():
        warnings = [one.field for one in advise(of_file, there, MODEL, columns=columns) if one.level == WARNING]
        assert warnings == warned


def test_what_is_said_of_a_stages_own_rewards_is_said_there() -> None:
    stages = [{"training": {"max_steps": 20}}, {"rewards": [{"name": "mine"}], "training": {"max_steps": 20}}]
    raw = {"name": "a", "training": GOOD, "rewards": [{"name": "correctness"}], "stages": stages}
    (found,) = advise(spec.from_dict(raw), own_rewards(mine=MINE.format("mine", "one")), MODEL)
    assert found.field == "stages.1.rewards.0.name"
    assert list(found.fixes[0].settings) == ["stages.1.rewards.1"]


def test_what_the_starter_can_do_is_said_where_the_data_is_none_of_its_own() -> None:
    for source in ("file:fragen.csv", "hub:openai/gsm8k", "gym:chain_sum"):
        (found,) = said(a_spec(data={"source": source}))
        assert (found.field, found.level) == ("model.id", ADVICE) and "only do sums such as “12+30?”" in found.message
        other = a_spec(data={"source": source}).model_copy(update={"model": ModelSpec(id="a/b")})
        assert "model.id" not in {one.field for one in said(other)}
        (fix,) = found.fixes  # a model that can, by name, with what it takes
        assert (fix.label, fix.settings, fix.removed) == (
            "Use Qwen/Qwen2.5-0.5B-Instruct", {"model.id": "Qwen/Qwen2.5-0.5B-Instruct"}, ("model.revision",)
        )  # fmt: skip
        assert "1 GB, downloaded once from the Hugging Face Hub" in found.message and "a GPU with 8 GB" in found.message
        assert said(a_spec(data={"source": source}), sums=True) == []
        trained = a_spec(data={"source": source}).model_copy(update={"model": ModelSpec(id="/home/runs/one/model")})
        (found,) = said(trained, facts=facts(starter.MODEL))
        assert found.message.startswith("this model comes from the starter, which is there to try things out: it can")
    for source in ("task:arithmetic", "file:", "hub:"):  # its own, or none yet
        assert said(a_spec(data={"source": source})) == []


def test_answers_with_a_point_beside_prompts_with_commas_are_read_as_the_model_will_write_them() -> None:
    both = [{"name": "format"}, {"name": "correctness"}]
    (found,) = said(a_spec(rewards=both), point="0.75")
    assert (found.field, found.level) == ("rewards.1.parameters.decimal", WARNING)
    assert "such as 0.75: a completion that says 0,75 is scored wrong" in found.message
    (fix,) = found.fixes
    assert (fix.label, fix.settings) == ("Read 0,75 as 0.75", {found.field: "comma"})
    for settled in (a_spec(rewards=[{"name": "correctness", "parameters": {"decimal": "comma"}}]),
                    a_spec(data={"source": "task:arithmetic", "answer_numbers": "comma"}, rewards=both)):  # fmt: skip
        assert said(settled, point="0.75") == []


def test_a_format_that_nothing_asks_for_is_told_of_with_a_system_prompt_that_does() -> None:
    def of(rewards: Any, tags: tuple[str, ...] = (), model: str = "a/b", **data: Any) -> list[Problem]:
        rows = {"source": "task:arithmetic", **data}
        return said(a_spec(data=rows, rewards=rewards).model_copy(update={"model": ModelSpec(id=model)}), tags=tags)

    both = [{"name": "correctness"}, {"name": "format"}]
    (found,) = of(both)
    assert (found.field, found.level) == ("rewards.1.name", ADVICE)
    assert found.message.startswith("no prompt asks the model for <think> and <answer>, so")
    (fix,) = found.fixes
    asked = fix.settings["data.system_prompt"]
    assert "<think> and </think>" in asked and "<answer> and </answer>" in asked
    for told in ({"system_prompt": asked}, {"prompt_template": "Use <think> and <answer>. {question}"}, {
        "examples": [{"prompt": "1+1?", "completion": "<think>two</think><answer>2</answer>"}]}):  # fmt: skip
        assert of(both, **told) == []
    assert of(both, tags=("think", "answer")) == of(both, model="starter") == of([{"name": "correctness"}]) == []
    assert of([{"name": "correctness"}, {"name": "format", "weight": 0.0}]) == []
    (other,) = of([{"name": "format", "parameters": {"tags": ["plan", "reply"]}}], tags=("b",))
    assert other.fixes[0].settings["data.system_prompt"].endswith("<plan>…</plan> <reply>…</reply>")
    assert [one.fixes for one in of(both, system_prompt="Be brief.")] == [()]


def test_a_group_that_no_run_has_is_said_with_what_it_costs() -> None:
    (found,) = said(a_spec(num_generations=8000, per_device_train_batch_size=8000, gradient_accumulation_steps=2))
    assert (found.level, found.message) == (WARNING, (
        "groups of 8,000 are far larger than runs with GRPO have: every prompt is answered 8,000 times, and a step "
        "takes 16,000 completions. 4 to 16 are usual."
    ))  # fmt: skip
    (found,) = said(a_spec(num_generations=1024, per_device_train_batch_size=1024))
    assert found.level == ADVICE


@pytest.mark.parametrize(
    ("training", "field", "level", "mended_by"),
    [
        ({"num_generations": 2}, "num_generations", ADVICE, {"num_generations": 8}),
        (
            {"num_generations": 64, "per_device_train_batch_size": 64},
            "num_generations", ADVICE, {"num_generations": 8},
        ),
        (
            {"num_generations": 2048, "per_device_train_batch_size": 2048},
            "num_generations", WARNING, {"num_generations": 8},
        ),
        ({"learning_rate": 1e-4}, "learning_rate", WARNING, {"learning_rate": 5e-6}),
        ({"learning_rate": 0.0}, "learning_rate", WARNING, {"learning_rate": 5e-6}),
        ({"learning_rate": 1e-8}, "learning_rate", ADVICE, {"learning_rate": 5e-6}),
        ({"temperature": 0.0}, "temperature", BLOCKING, {"temperature": 1.0}),
        ({"temperature": 2}, "temperature", BLOCKING, {"temperature": 2.0}),
        ({"temperature": 0.1}, "temperature", WARNING, {"temperature": 1.0}),
        ({"beta": 0.0}, "beta", ADVICE, {"beta": 0.02}),
        ({"weight_decay": 100}, "weight_decay", WARNING, {"weight_decay": 0.0}),
        ({"max_grad_norm": 0}, "max_grad_norm", ADVICE, {"max_grad_norm": 1.0}),
        ({"temperature": 50.0}, "temperature", WARNING, {"temperature": 1.0}),
        ({"epsilon": 1.0}, "epsilon", WARNING, {"epsilon": 0.2}),
        ({"logging_steps": 50}, "logging_steps", ADVICE, {"logging_steps": 1}),
        ({"max_steps": 500, "save_strategy": "no"}, "save_strategy", ADVICE, {"save_strategy": "steps"}),  # every 20
        ({"max_steps": 500, "save_strategy": "no", "save_steps": None}, "save_strategy", ADVICE,
         {"save_strategy": "steps", "save_steps": 100}),
        ({"max_steps": 200, "save_steps": 500}, "save_steps", ADVICE, {"save_strategy": "steps", "save_steps": 40}),
    ],
)  # fmt: skip
def test_each_thing_is_said_at_its_field_and_one_click_ends_it(
    training: dict[str, Any], field: str, level: str, mended_by: dict[str, Any]
) -> None:
    run_spec = a_spec(**training)
    (problem,) = said(run_spec)
    assert (problem.field, problem.level) == (f"training.{field}", level)
    (fix,) = problem.fixes
    assert fix.settings == {f"training.{name}": value for name, value in mended_by.items()}
    mended = memory_fixes.with_settings(run_spec, fix.settings)
    assert mended is not None and said(mended) == []


def test_few_points_on_a_chart_are_told_by_the_run_and_how_often_it_logs() -> None:
    (problem,) = said(a_spec(max_steps=3, logging_steps=10))
    assert problem.message == "only 1 point on each chart: the run has 3 steps and logs every 10 steps."


def test_a_warm_up_as_long_as_the_run_is_said_with_a_usual_one() -> None:
    for warm, schedule, words in (
        (100_000, "linear", "100,000 steps of warm-up, and there are 60 steps in all."),
        (60, "constant_with_warmup", "60 steps of warm-up, and there are 60 steps in all."),
    ):
        (problem,) = said(a_spec(warmup_steps=warm, lr_scheduler_type=schedule))
        assert (problem.field, problem.level) == ("training.warmup_steps", WARNING)
        assert problem.message == f"the learning rate never reaches its set value: {words}"
        assert [fix.settings for fix in problem.fixes] == [{"training.warmup_steps": steps} for steps in (6, 0)]
    for warm, schedule in ((59, "linear"), (0.5, "cosine"), (0, "linear"), (500, "constant")):
        assert said(a_spec(warmup_steps=warm, lr_scheduler_type=schedule)) == []
    uncounted = a_spec(warmup_steps=500, num_generations="many")  # the steps are known all the same
    assert "training.warmup_steps" in {one.field for one in said(uncounted)}
    by_epochs = a_spec(warmup_steps=500, max_steps=-1, num_train_epochs=1, data={"limit": 64})
    assert "and there are 32 steps in all" in said(by_epochs)[0].message


def test_a_warm_up_is_weighed_against_its_own_stage() -> None:
    raw = a_spec(warmup_steps=25).model_dump() | {"stages": [
        {"training": {"warmup_steps": 70}}, {"training": {"max_steps": 20}}, {"training": {}}]}  # fmt: skip
    first, second = said(spec.from_dict(raw))
    assert (first.field, second.field) == ("stages.0.training.warmup_steps", "training.warmup_steps")
    assert first.fixes[0].settings == {"stages.0.training.warmup_steps": 6}
    assert second.fixes[0].settings == {"training.warmup_steps": 2}


@pytest.mark.parametrize(
    ("training", "label", "waiting"),
    [
        ({"max_steps": 0}, "Steps", {"Time", "Disk"}),
        ({"max_steps": "many"}, "Steps", {"Time", "Disk"}),
        ({"max_steps": 1e1}, "Steps", {"Time", "Disk"}),
        ({"max_steps": -1, "num_train_epochs": -2}, "Epochs", {"Time", "Disk"}),
        ({"gradient_accumulation_steps": 0}, "Accumulation", {"Memory", "Time", "Disk"}),
        ({"num_generations": None}, "Group size", {"Time", "Disk"}),
    ],
)
def test_an_estimate_waits_for_a_number_that_is_refused(
    registry_home: Path, training: dict[str, Any], label: str, waiting: set[str]
) -> None:
    there = offer()
    fields = {**FIELDS, "num_generations": {"types": ["int"], "default": 8}}
    found = report(a_spec(**training), replace(there, training=fields), MODEL)
    assert f"Steps cannot be counted: “{label}” is not a usable number." in found.sentences
    waits = {one["label"]: one["detail"] for one in found.figures if one["value"] == "—"}
    assert waits == dict.fromkeys(waiting, f"waits until “{label}” is fixed")
    assert {one["label"] for one in found.figures} == {"Memory", "Time", "Disk"}
    assert not any("steps:" in one for one in found.sentences)


def test_a_whole_number_as_temperature_is_what_transformers_refuses() -> None:
    from transformers.generation.logits_process import TemperatureLogitsWarper

    with pytest.raises(ValueError, match="float"):
        TemperatureLogitsWarper(2)  # type: ignore[arg-type]
    TemperatureLogitsWarper(2.0)


def test_more_positions_than_the_model_has_block_where_they_are_learned() -> None:
    gpt = replace(MODEL, model_type="gpt2", max_position=1024)
    (problem,) = said(a_spec(max_completion_length=900), facts=gpt, prompt_tokens=200)
    assert problem.level == BLOCKING and "200 tokens of prompt" in problem.message
    assert problem.fixes[0].settings == {"training.max_completion_length": 824}
    assert said(a_spec(max_completion_length=824), facts=gpt, prompt_tokens=200) == []
    (problem,) = said(a_spec(max_completion_length=900), facts=replace(gpt, model_type="qwen2"), prompt_tokens=200)
    assert problem.level == WARNING


def test_a_row_longer_than_the_model_reads_is_no_matter_of_memory(registry_home: Path) -> None:
    room = MODEL.max_position or 0
    huge = report(a_spec(), offer(), MODEL, rows=21, prompt_tokens=850_000)
    assert huge.estimate == report(a_spec(), offer(), MODEL, rows=21, prompt_tokens=room).estimate
    assert not [problem for problem in huge.problems if "positions" in problem.message]


def test_the_default_rate_is_far_too_low_for_the_starter() -> None:
    training = {name: value for name, value in GOOD.items() if name != "learning_rate"}
    starter = spec.from_dict({"name": "a", "training": training, "rewards": [{"name": "format"}]})
    (problem,) = said(starter, facts=None)
    assert (problem.field, problem.level) == ("training.learning_rate", ADVICE)
    assert problem.fixes[0].settings == {"training.learning_rate": 1e-4}
    assert said(starter) == []  # which is what a usual model is trained with


def test_completions_that_leave_a_prompt_no_room_are_said_once() -> None:
    """They are refused where the spec is checked: a second sentence would only be the first in other words."""
    run_spec = a_spec(max_completion_length=40_000)
    assert said(run_spec, prompt_tokens=200) == []
    (problem,) = check_length(run_spec, offer(), MODEL)
    assert problem.level == BLOCKING and problem.fixes[0].settings == {"training.max_completion_length": 16_384}


def test_fp16_where_bfloat16_can_be_done() -> None:
    (problem,) = said(a_spec(fp16=True), "NVIDIA A100-SXM4-80GB")
    assert problem.field == "training.fp16" and problem.fixes[0].settings["training.bf16"] is True
    assert said(a_spec(fp16=True), "Tesla T4") == []


def test_more_processes_than_gpus_cannot_start() -> None:
    (problem,) = said(a_spec(launch={"processes": 4}), "NVIDIA L4", "NVIDIA L4")
    assert problem.level == BLOCKING and problem.fixes[0].settings == {"launch.processes": 2}


def test_fewer_rows_than_a_generation_takes_block_and_the_fix_fits() -> None:
    run_spec = a_spec(per_device_train_batch_size=64, gradient_accumulation_steps=2)
    (problem,) = said(run_spec, rows=5)
    assert problem.level == BLOCKING and "16 prompts" in problem.message and "5 rows" in problem.message
    mended = memory_fixes.with_settings(run_spec, problem.fixes[0].settings)
    assert mended is not None and said(mended, rows=5) == []


def test_groups_of_one_are_judged_as_what_their_button_makes_of_them() -> None:
    """Of four rows a batch of eight takes one prompt then, and no button offers what the other would undo."""
    run_spec = a_spec(per_device_train_batch_size=8, num_generations=1)
    assert not [one for one in said(run_spec, rows=4) if one.field == "training.per_device_train_batch_size"]
    (problem,) = [one for one in check_batch(run_spec, OFFER, 4) if one.level == BLOCKING]
    assert problem.fixes[0].settings == {"training.num_generations": 8}
    of_six = a_spec(per_device_train_batch_size=6, num_generations=1)
    (problem,) = [one for one in check_batch(of_six, OFFER, 4) if one.level == BLOCKING]
    assert problem.fixes[0].settings == {"training.num_generations": 6}  # 8 do not divide it

    large = a_spec(per_device_train_batch_size=64, gradient_accumulation_steps=2, num_generations=1)
    (problem,) = [one for one in said(large, rows=5) if one.level == BLOCKING]
    both = {**problem.fixes[0].settings, **check_batch(large, OFFER, 5)[0].fixes[0].settings}
    mended = memory_fixes.with_settings(large, both)
    assert mended is not None and said(mended, rows=5) == [] and check_batch(mended, OFFER, 5) == []


def test_too_few_rows_are_said_where_their_cause_is() -> None:
    """Of 40 rows 36 are held out, and a generation takes eight; where all are, that is said by the checks."""
    run_spec = a_spec(data={"source": "file:a.csv", "holdout": 36}, per_device_train_batch_size=64)
    run_spec = run_spec.model_copy(update={"model": ModelSpec(id="a/b")})
    (problem,) = [one for one in said(run_spec, rows=40) if one.level == BLOCKING]
    assert (problem.field, problem.message) == (
        "data.holdout", "36 rows are held out, which leaves 4 to train on, but each generation takes 8 prompts.",
    )  # fmt: skip
    assert problem.fixes[0].settings == {"data.holdout": 4}
    mended = memory_fixes.with_settings(run_spec, problem.fixes[0].settings)
    assert mended is not None and not [one for one in said(mended, rows=40) if one.level == BLOCKING]
    assert not [one for one in said(run_spec, rows=36) if one.level == BLOCKING]


def test_passes_over_a_huge_file_are_noticed() -> None:
    (problem,) = said(a_spec(max_steps=-1), rows=90_000)
    assert problem.field == "training.max_steps" and "135,000 steps" in problem.message


def test_completions_that_are_too_short_for_the_tags_of_format() -> None:
    (problem,) = said(a_spec(max_completion_length=33))  # the starter reads characters
    assert (problem.field, problem.level) == ("training.max_completion_length", WARNING)
    assert problem.message == (
        "33 tokens cannot hold the tags that “format” scores, which take at least 34: no completion will earn from it."
    )
    assert [fix.label for fix in problem.fixes] == ["Use 48"]
    assert said(a_spec(max_completion_length=34)) == []
    partial = [{"name": "format", "parameters": {"strict": False}}]
    assert said(a_spec(max_completion_length=4, rewards=partial)) == []
    other = a_spec(max_completion_length=4).model_copy(update={"model": ModelSpec(id="org/name")})
    (problem,) = (one for one in said(other) if one.field == "training.max_completion_length")
    assert "which take at least 6" in problem.message


def test_rows_held_out_for_nothing_and_rewards_that_weigh_nothing() -> None:
    (problem,) = said(a_spec(data={"holdout": 8, "limit": 200}))
    assert problem.fixes[0].settings == {
        "training.eval_strategy": "steps", "training.eval_steps": 50, "training.eval_on_start": True,
    }  # fmt: skip
    (problem,) = said(a_spec(rewards=[{"name": "format", "weight": 0.0}]))
    assert problem.field == "rewards" and problem.level == WARNING


def test_held_out_figures_with_nothing_to_compare_them_with() -> None:
    held = {"holdout": 8, "limit": 200}
    (problem,) = said(a_spec(data=held, eval_strategy="steps", eval_steps=5))
    assert (problem.field, problem.level) == ("training.eval_on_start", ADVICE)
    assert problem.fixes[0].settings == {"training.eval_on_start": True}
    assert said(a_spec(data=held, eval_strategy="steps", eval_steps=5, eval_on_start=True)) == []
    assert said(a_spec(eval_strategy="no")) == [], "nothing is evaluated"


def test_what_two_stages_share_is_said_once() -> None:
    staged = spec.from_dict({**a_spec(beta=0.0).model_dump(), "stages": [{"training": {}}, {"training": {}}]})
    assert len(said(staged)) == 1


def test_the_report_has_the_gravest_first(registry_home: Path) -> None:
    run_spec = a_spec(temperature=0.0, beta=0.0, learning_rate=1e-3)
    levels = [problem.level for problem in report(run_spec, offer(), MODEL).problems]
    assert levels == sorted(levels, key=[BLOCKING, WARNING, ADVICE].index) and len(set(levels)) == 3
    found = report(run_spec, offer(), MODEL, rows=5000, prompt_tokens=100)
    assert [figure["label"] for figure in found.figures] == ["Memory", "Time", "Disk"]
    assert all(figure["value"] for figure in found.figures)


WILD = st.one_of(
    st.integers(-(10**40), 10**40), st.floats(), st.booleans(), st.none(), st.text(max_size=8),
    st.lists(st.text(max_size=8), max_size=3), st.dictionaries(st.text(max_size=8), st.integers(), max_size=2),
    st.sampled_from(["no", "steps", "epoch", "sgd", "adamw_8bit", "all-linear", 1, 2, 8, 0.5]),
)  # fmt: skip
LORA = st.none() | st.dictionaries(st.sampled_from(["r", "target_modules", "modules_to_save", "lora_alpha"]), WILD)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    training=st.dictionaries(st.sampled_from(sorted(FIELDS)), WILD), lora=LORA,
    rows=st.none() | st.integers(0, 10**12), tokens=st.none() | st.integers(1, 10**6), gpus=st.integers(0, 2),
    stages=st.lists(st.dictionaries(st.sampled_from(sorted(FIELDS)), WILD), max_size=2),
)  # fmt: skip
def test_whatever_is_typed_into_the_settings_there_is_a_report(
    registry_home: Path, training: Any, lora: Any, rows: Any, tokens: Any, gpus: int, stages: Any
) -> None:
    raw = {**a_spec().model_dump(), "training": training, "lora": lora, "stages": [{"training": s} for s in stages]}
    there = replace(offer(*["NVIDIA L4"] * gpus), extras={"bitsandbytes": "0.49"})
    report(spec.from_dict(raw), there, MODEL, rows=rows, prompt_tokens=tokens)


def test_a_run_from_a_checkpoint_says_what_begins_anew(registry_home: Path) -> None:
    place = paths.runs_folder() / "a" / "checkpoints" / "checkpoint-20"
    begun = a_spec().model_copy(update={"model": ModelSpec(id=str(place))})
    words = "Begins from an earlier run’s weights alone: the optimizer and the learning rate schedule start over"
    assert f"{words}, and KL is measured from these weights." in report(begun, offer(), MODEL).sentences
    free = a_spec(beta=0.0).model_copy(update={"model": ModelSpec(id=str(place))})
    assert f"{words}." in report(free, offer(), MODEL).sentences
    assert not any(one.startswith("Begins from") for one in report(a_spec(), offer(), MODEL).sentences)


def test_what_keeps_memory_from_being_estimated_is_named(registry_home: Path) -> None:
    refused = report(a_spec(max_completion_length=1.5), offer(), MODEL)
    words = "Memory cannot be estimated: “Max completion length” is not a usable number."
    assert words in refused.sentences
    blamed = report(a_spec(max_completion_length=1.5), offer(), MODEL, blamed={"training.max_completion_length"})
    assert words not in blamed.sentences and blamed.figures[0]["label"] == "Memory"
    assert blamed.figures[0]["value"] == "—"


@pytest.mark.parametrize(
    ("training", "awaited", "waiting"),
    [
        ({"beta": "0,04"}, "KL weight", ["Memory", "Time"]),
        ({"optim": 5}, "Optimizer", ["Memory", "Disk"]),
        ({"save_strategy": []}, "Save", ["Disk"]),
        ({"logging_steps": "x"}, "", []),
    ],
)
def test_an_estimate_waits_for_each_value_that_it_needs_and_that_is_of_another_kind(
    registry_home: Path, training: dict[str, Any], awaited: str, waiting: list[str]
) -> None:
    fields = {
        "beta": {"types": ["float"], "default": 0.0}, "optim": {"types": ["str"], "default": "adamw_torch"},
        "save_strategy": {"types": ["str"], "default": "steps"}, "logging_steps": {"types": ["float"], "default": 10},
    }  # fmt: skip
    there = replace(offer(), training={**FIELDS, **fields})
    figures = report(a_spec(max_steps=10, **training), there, MODEL).figures
    assert [one["label"] for one in figures] == ["Memory", "Time", "Disk"]
    waits = {one["label"]: one["detail"] for one in figures if one["value"] == "—"}
    assert list(waits) == waiting
    assert all(f"“{awaited}" in detail for detail in waits.values())


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("max_steps", 10**9, "should be below 1,000,000,000."),
        ("max_completion_length", 10**9, "should be below 1,000,000,000."),
        ("max_completion_length", -5, "should be at least 1."),
        ("seed", 2**32, "should be from 0 to 4,294,967,295."),
        ("seed", -1, "should be from 0 to 4,294,967,295."),
        ("max_steps", 0, "should be at least 1, or −1 to leave it to the epochs."),
    ],
)
def test_a_number_nothing_is_counted_with_is_a_problem_at_its_field_and_said_once(
    registry_home: Path, name: str, value: int, words: str
) -> None:
    publish_installed()
    text = spec.to_yaml(a_spec(**{name: value}))
    view = describe_text(text, Offer.read_published())
    [said] = [one for one in view["problems"] if one["field"] == f"training.{name}"]
    assert (said["message"], said["level"], view["blocked"]) == (words, BLOCKING, True)
    assert not any("reckon" in one for one in view["sentences"])


def test_a_beta_of_nothing_that_follows_a_target_is_said_once(own_home: Path) -> None:
    """“Begin with beta 0.04” stood beside “Use 0.02”."""
    assert [one.field for one in said(a_spec(beta=0.0)) if one.field == "training.beta"] == ["training.beta"]
    follows = a_spec(beta=0.0).model_copy(update={"kl": spec.KlSpec(target=0.05)})
    assert not [one for one in said(follows) if one.field == "training.beta"]


@pytest.mark.parametrize("steps", [-1, 0, math.inf, "thirty", 1])
def test_epochs_are_checked_wherever_the_steps_may_be_left_to_them(registry_home: Path, steps: Any) -> None:
    """“Leave it to the epochs” led to −3 of them."""
    publish_installed()
    text = spec.to_yaml(a_spec(max_steps=steps, num_train_epochs=-3))
    said = [one["field"] for one in describe_text(text, Offer.read_published())["problems"]]
    assert ("training.num_train_epochs" in said) == (steps != 1)


def test_how_long_prompts_are_taken_to_be_is_said_until_they_are_counted(registry_home: Path) -> None:
    words = "Assumes 512-token prompts, as those of the data are not counted."
    assert words in report(a_spec(), offer(), MODEL).sentences
    assert words not in report(a_spec(), offer(), MODEL, prompt_tokens=90).sentences
    assert report(a_spec(), offer(), MODEL).assumed == words  # the page says it with the figures, also while it reads
    assert report(a_spec(), offer(), MODEL, prompt_tokens=90).assumed == ""
    assumed = [one["label"] for one in report(a_spec(), offer(), MODEL).figures if one.get("assumes")]
    assert assumed == ["Memory", "Time"]
    assert not any(one.get("assumes") for one in report(a_spec(), offer(), MODEL, prompt_tokens=90).figures)
    timed = report(a_spec(optim="x"), offer(), MODEL, blamed=["training.optim"])  # memory waits, the time is shown
    assert [one["value"] for one in timed.figures][0] == "—" and words in timed.sentences


def test_the_report_of_a_spec_that_nothing_is_known_about_says_what_is_missing(own_home: Path) -> None:
    found = report(a_spec(), Offer(), None)
    assert found.figures == [] and found.estimate is None
    assert found.sentences == ["Memory cannot be estimated: the model’s files are not here yet."]
