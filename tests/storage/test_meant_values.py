"""What is offered in place of a value that was refused is near in meaning, installed, and never another number."""

from __future__ import annotations

from typing import Any

import pytest

from groupwise.storage.checks.check import examine_spec
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.rows.column_names import meant_column
from groupwise.storage.spec.spec import from_dict, parse_spec
from groupwise.storage.spec.words.problem import Problem, SpecError, nearest_name
from groupwise.storage.spec.words.setting_names import meant_name
from groupwise.worker.questions.build import lora_fields, training_fields


def about(field: str, **parts: Any) -> Problem:
    spec = from_dict({"name": "small", "rewards": [{"name": "format"}], **parts})
    found = examine_spec(spec, Offer(training=training_fields(), lora=lora_fields()))
    return next(problem for problem in found if problem.field == field)


def test_adamw_means_the_adamw_of_torch_and_few_names_are_said() -> None:
    found = about("training.optim", training={"optim": "adamw"})
    assert found.message.startswith("should be one of adamw_torch_fused, adamw_torch, adafactor, sgd,")
    assert " and 33 more. Did you mean “adamw_torch”?" in found.message
    assert [fix.label for fix in found.fixes] == ["Use adamw_torch", "Use the default (adamw_torch_fused)"]
    assert about("training.optim", training={"optim": "adamw_torhc"}).fixes[0].label == "Use adamw_torch"


def test_an_optimiser_of_its_own_is_no_slip_of_a_plain_one() -> None:
    meant = {"adamw8bit": "adamw_8bit", "AdamW-8bit": "adamw_8bit", "paged_adamw8bit": "paged_adamw_8bit",
             "adamm": "adamw_torch"}  # fmt: skip
    for typed, name in meant.items():
        assert about("training.optim", training={"optim": typed}).fixes[0].label == f"Use {name}", typed


def test_what_needs_a_package_that_is_not_here_is_said_with_the_slip_and_not_offered() -> None:
    def found(given: dict[str, Any], *packages: str) -> Problem:
        spec = from_dict({"name": "small", "rewards": [{"name": "format"}], "training": given})
        extras = dict.fromkeys(("scipy", *packages), "1")
        offer = Offer(training=training_fields(), lora=lora_fields(), extras=extras)
        [one] = [one for one in examine_spec(spec, offer) if one.field == f"training.{next(iter(given))}"]
        return one

    slip = found({"optim": "adamw8bit"})
    assert "Did you mean “adamw_8bit”? It needs bitsandbytes, which is not installed here: pip" in slip.message
    assert [fix.label for fix in slip.fixes] == ["Use the default (adamw_torch_fused)"]
    named = found({"optim": "adamw_8bit"})
    assert named.message.startswith("needs bitsandbytes, which is not installed here")
    there = found({"optim": "adamw8bit"}, "bitsandbytes")
    assert there.message.endswith("“adamw_8bit”?") and there.fixes[0].label == "Use adamw_8bit"
    switch = found({"use_vllm": "yes"})
    assert "Did you mean true? It needs vllm, which is not" in switch.message
    assert [fix.label for fix in switch.fixes] == ["Use the default (false)"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("yep", True), ("Yeah", True), ("yup", True), ("on", True), ("y", True),
        ("nope", False), ("nah", False), ("off", False), ("n", False),
        ("ja", True), ("Oui", True), ("si", True), ("sí", True), ("sì", True),
        ("да", True), ("sim", True), ("tak", True),
        ("nein", False), ("non", False), ("нет", False), ("nie", False), ("nee", False),
    ],
)  # fmt: skip
def test_yes_and_no_as_people_say_them_are_true_and_false(typed: str, meant: bool) -> None:
    found = about("training.bf16", training={"bf16": typed})
    word = str(meant).lower()
    assert found.message == f"should be true or false, not “{typed}”. Did you mean {word}?"
    assert [fix.label for fix in found.fixes] == [f"Use {word}", "Use the default"]


def test_gspo_is_another_setting_of_trl_and_no_slip_of_sapo() -> None:
    found = about("training.loss_type", training={"loss_type": "GSPO"})
    assert "GSPO in TRL is importance_sampling_level: sequence" in found.message and "sapo" not in found.message
    assert found.fixes[0].settings == {"training.importance_sampling_level": "sequence", "training.loss_type": "grpo"}
    assert [fix.label for fix in found.fixes[1:]] == ["Use the default (dapo)"]
    given = {"loss_type": "gspo", "importance_sampling_level": "token"}
    assert about("training.loss_type", training=given).fixes[0].settings == {"training.loss_type": "grpo"}


def test_of_an_algorithm_slips_alone_are_offered() -> None:
    def offered(typed: str) -> list[str]:
        return [fix.label for fix in about("training.loss_type", training={"loss_type": typed}).fixes]

    for typed in ("gmpo", "reinforce", "ppo", "rloo", "dpo", "capo", "REINFORCE++"):
        assert offered(typed) == ["Use the default (dapo)"], typed
    slips = {"gpro": "grpo", "dap": "dapo", "Dr. GRPO": "dr_grpo", "drgrpo": "dr_grpo", "sappo": "sapo"}
    for typed, meant in slips.items():
        assert offered(typed)[0] == f"Use {meant}"
    level = about("training.importance_sampling", training={"importance_sampling": "sequence"})
    assert level.fixes[0].settings == {"training.importance_sampling_level": "sequence"}


def test_names_in_one_text_are_offered_as_a_list() -> None:
    for text in ("q_proj, v_proj", "q_proj v_proj", "['q_proj', 'v_proj']"):
        found = about("lora.target_modules", lora={"target_modules": text})
        assert found.fixes[0].settings == {"lora.target_modules": ["q_proj", "v_proj"]}
        assert "write q_proj, v_proj as a list" in found.message


def test_a_number_with_its_unit_keeps_its_number() -> None:
    found = about("training.max_completion_length", training={"max_completion_length": "48 tokens"})
    assert found.fixes[0].settings == {"training.max_completion_length": 48}
    assert "Did you mean 48?" in found.message


def test_a_share_in_per_cent_is_offered_as_a_share() -> None:
    found = about("training.top_p", training={"top_p": 95})
    assert found.message == "should be above 0 and at most 1; 95 % is 0.95."  # why 0.95 is offered
    assert found.fixes[0].settings == {"training.top_p": 0.95}
    found = about("training.min_p", training={"min_p": 2})
    assert (found.message, found.fixes[0].label) == ("should be between 0 and 1; 2 % is 0.02.", "Use 0.02")
    for field, slip in (("top_p", 2), ("min_p", 95)):  # as per cent nobody samples so
        found = about(f"training.{field}", training={field: slip})
        assert "%" not in found.message
        [fix] = found.fixes
        assert fix.label in ("Use the default (1.0)", "Use the default")


def test_a_top_k_below_nothing_is_said_with_a_default_that_is_taken() -> None:
    found = about("training.top_k", training={"top_k": -5})
    assert found.message == "should be at least 0." and found.fixes[0].removed == ("training.top_k",)


def test_what_is_wrong_with_each_number_of_a_batch_is_said_beside_one_that_is_none() -> None:
    wrong = {"per_device_train_batch_size": "0,5", "gradient_accumulation_steps": -3, "num_generations": 1}
    for field, words in (("gradient_accumulation_steps", "at least 1."), ("num_generations", "at least 2 completions")):
        assert words in about(f"training.{field}", training=wrong).message


def test_a_setting_that_trl_decides_by_itself_has_the_words_of_its_neighbours() -> None:
    labels = [fix.label for fix in about("training.bf16", training={"bf16": "maybe"}).fixes]
    assert labels[-1] == "Use the default"


def test_a_clip_range_that_is_turned_round_is_a_warning() -> None:
    found = about("training.epsilon_high", training={"epsilon_high": 0.1})
    assert found.level == "warning" and found.message.startswith("is below epsilon (0.2)")
    assert found.fixes[0].settings == {"training.epsilon_high": 0.2}


def test_a_number_of_rows_that_is_written_as_a_decimal_is_offered_whole() -> None:
    with pytest.raises(SpecError) as caught:
        from_dict({"name": "small", "rewards": [{"name": "format"}], "data": {"holdout": 1e3}})
    [found] = caught.value.problems
    assert found.fixes[0].settings == {"data.holdout": 1000}


@pytest.mark.parametrize("typed", ["förmat", "fo\u0308rmat", "fórmåt", "FORMÁT"])
def test_accents_hide_no_near_name(typed: str) -> None:
    assert nearest_name(typed, ["format", "length"], 0.9) == "format"
    assert meant_name(typed, ["format", "length"]) == meant_column(typed, ["format", "answer"]) == "format"
    with pytest.raises(SpecError) as error:
        parse_spec(f"rewards: [{{name: {typed}}}]\n")
    problem = next(one for one in error.value.problems if one.field == "rewards.0.name")
    assert problem.message.lower().endswith("did you mean “format”?")
    assert list(problem.fixes[0].settings) == ["rewards.0.name"]


@pytest.mark.parametrize(
    ("name", "written", "meant"),
    [
        ("seed", "${SEED:-7}", 7), ("seed", "${SEED-7}", 7), ("seed", "${oc.env:SEED,7}", 7), ("seed", "${SEED}", None),
        ("seed", "${SEED:-soon}", None), ("learning_rate", "${LR:-1e-5}", 1e-5), ("bf16", "${BF16:-true}", True),
        ("loss_type", "${LOSS:-dr_grpo}", "dr_grpo"),
    ],
)  # fmt: skip
def test_what_a_variable_is_written_to_fall_back_to_is_offered_where_it_fits(name: str, written: str, meant: Any):
    found = about(f"training.{name}", training={name: written})
    own = [fix for fix in found.fixes if not fix.fallback]
    assert [fix.settings for fix in own] == ([{f"training.{name}": meant}] if meant is not None else [])
    assert found.message.endswith(" Variables are not read here.") and found.fixes[-1].fallback


def test_what_a_variable_falls_back_to_is_offered_of_every_part_of_a_spec():
    text = "name: x\nmodel: {id: starter, dtype: '${D:-bfloat16}'}\ndata: {limit: '${N:-100}', shuffle: '${S:-soon}'}\n"
    with pytest.raises(SpecError) as caught:
        parse_spec(f"{text}rewards:\n- {{name: format, weight: '${{W:-0.5}}'}}\n")
    offered = {one.field: one.fixes[0].settings.get(one.field) for one in caught.value.problems}
    assert offered == {
        "model.dtype": "bfloat16", "data.limit": 100, "data.shuffle": None, "rewards.0.weight": 0.5,
    }  # fmt: skip
    assert all("Variables are not read here." in one.message for one in caught.value.problems)
