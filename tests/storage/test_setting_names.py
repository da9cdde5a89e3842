"""A setting that there is none of: what was meant by it is offered, what was removed says so, nothing typed is lost."""

from __future__ import annotations

import dataclasses

import pytest
from trl import GRPOConfig

from groupwise.storage.spec.spec import RunSpec, parse_spec
from groupwise.storage.spec.words.problem import Problem, SpecError
from groupwise.storage.spec.words.setting_names import ELSEWHERE, REMOVED, meant_name, unknown_setting

TRL_FIELDS = {field.name for field in dataclasses.fields(GRPOConfig)}
REMOVE = "Remove it"


def about(name: str, value: object, **given: object) -> Problem:
    return unknown_setting(f"training.{name}", value, TRL_FIELDS, {name: value, **given}, "TRL has no such field.")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("learning_rat", "learning_rate"), ("Learning-Rate", "learning_rate"), ("learningrate", "learning_rate"),
        ("num_generation", "num_generations"), ("eval_step", "eval_steps"), ("lr", "learning_rate"),
        ("group_size", "num_generations"), ("kl_coef", "beta"), ("max_new_tokens", "max_completion_length"),
        ("epsilon_low", "epsilon"), ("clip_ratio_low", "epsilon"), ("clip_low", "epsilon"), ("eps_clip", "epsilon"),
        ("clip_high", "epsilon_high"), ("epsilon_upper", "epsilon_high"), ("clip_ratio_high", "epsilon_high"),
        ("mu", "num_iterations"), ("ppo_epochs", "num_iterations"), ("rollout_n", "num_generations"),
        ("num_return_sequences", "num_generations"), ("actor_lr", "learning_rate"), ("peak_lr", "learning_rate"),
        ("kl_beta", "beta"), ("clip_grad", "max_grad_norm"), ("wd", "weight_decay"),
        ("lr_scheduler", "lr_scheduler_type"), ("beta1", "adam_beta1"), ("beta2", "adam_beta2"),
    ],
)  # fmt: skip
def test_a_slip_and_what_others_call_it_is_offered(typed: str, meant: str) -> None:
    problem = about(typed, 3)
    assert f"Did you mean “{meant}”?" in problem.message
    assert problem.fixes[0].settings == {f"training.{meant}": 3}
    assert [fix.label for fix in problem.fixes] == [f"Rename it to {meant}", REMOVE]


def test_a_short_word_is_offered_as_it_is_heard() -> None:
    """Of alfa and alpha two letters of four differ: `rank` was answered, `lora_alfa` beside it was not."""
    fields = {"r", "lora_alpha", "lora_dropout", "target_modules", "alpha_pattern", "rank_pattern"}
    assert [meant_name(typed, fields) for typed in ("lora_alfa", "alfa", "lora_alpfa")] == ["lora_alpha"] * 3
    problem = unknown_setting("lora.lora_alfa", 32, fields, {"lora_alfa": 32}, "PEFT has no such field.")
    assert problem.message.endswith("Did you mean “lora_alpha”?")
    assert [fix.label for fix in problem.fixes] == ["Rename it to lora_alpha", REMOVE]
    assert meant_name("alto", fields) is None


@pytest.mark.parametrize(
    "typed",
    ["max_prompt_length", "max_prompt", "top_j", "reward_threshold", "prompt_length", "accelerate_config", "use_vlm"],
)
def test_a_name_of_another_meaning_is_not_offered(typed: str) -> None:
    assert meant_name(typed, TRL_FIELDS - {"top_k", "top_p"}) is None
    assert [fix.label for fix in about(typed, 3).fixes][-1] == REMOVE


def test_a_lower_bound_is_not_put_over_the_one_that_is_set() -> None:
    problem = about("epsilon_low", 0.2, epsilon=0.1, epsilon_high=0.28)
    assert problem.message.endswith("Did you mean “epsilon”? It is set already.")
    assert [(fix.label, fix.settings) for fix in problem.fixes] == [(REMOVE, {})]


@pytest.mark.parametrize("typed", ["learning_rat", "lr"])
def test_no_fix_writes_over_what_is_set(typed: str) -> None:
    problem = about(typed, 3, learning_rate=1e-5)
    assert problem.message == "TRL has no such field. Did you mean “learning_rate”? It is set already."
    assert [(fix.label, fix.settings) for fix in problem.fixes] == [(REMOVE, {})]
    assert meant_name(typed, TRL_FIELDS, {"learning_rate"}) is None


@pytest.mark.parametrize("name", REMOVED)
def test_a_removed_setting_is_gone_from_what_is_installed_and_says_since_when(name: str) -> None:
    gone = REMOVED[name]
    assert name not in TRL_FIELDS and (not gone.setting or gone.setting in TRL_FIELDS)
    problem = about(name, True)
    assert f"in {gone.since}." in problem.message and problem.message.endswith(gone.instead)
    assert problem.fixes[-1].label == REMOVE and problem.fixes[-1].removed == (f"training.{name}",)


def test_a_removed_setting_gives_its_value_to_what_replaced_it_unless_that_is_set() -> None:
    assert about("warmup_ratio", 0.1).fixes[0].settings == {"training.warmup_steps": 0.1}
    assert about("warmup_ratio", "10%").fixes[0].settings == {"training.warmup_steps": 0.1}
    assert [fix.label for fix in about("warmup_ratio", 1.0).fixes] == [REMOVE], "1 would be one step"
    taken = about("warmup_ratio", 0.1, warmup_steps=5)
    assert [fix.label for fix in taken.fixes] == [REMOVE] and taken.message.endswith("warmup_steps is set already.")


@pytest.mark.parametrize(
    ("name", "value", "settings"),
    [
        ("per_gpu_train_batch_size", 4, {"training.per_device_train_batch_size": 4}),
        ("per_gpu_eval_batch_size", 4, {"training.per_device_eval_batch_size": 4}),
        ("adafactor", True, {"training.optim": "adafactor"}),
        ("adafactor", False, {}),
        ("vllm_dtype", "auto", {}),
        ("vllm_enable_prefix_caching", True, {}),
        ("vllm_max_model_len", 512, {"training.vllm_max_model_length": 512}),
    ],
)
def test_the_value_of_a_removed_setting_goes_on_under_its_new_name(name: str, value: object, settings: object) -> None:
    assert about(name, value).fixes[0].settings == settings
    taken = {gone.removeprefix("training."): 1 for gone in about(name, value).fixes[0].settings}
    assert about(name, value, **taken).fixes[0].settings == {}, "never onto what is set"


def test_786_tokens_of_prompt_do_not_become_the_length_of_completions() -> None:
    problem = about("max_prompt_length", 256, max_completion_length=786)
    assert [(fix.label, fix.settings) for fix in problem.fixes] == [(REMOVE, {})]


def test_what_others_call_it_leads_to_a_setting_that_there_is() -> None:
    parts = [type(RunSpec.model_fields[part].default) for part in ("model", "data", "launch")]
    spec = {name for part in parts for name in part.model_fields}
    lora = {"r", "lora_alpha", "lora_dropout", "target_modules"}
    assert [name for name, ours in ELSEWHERE.items() if ours not in TRL_FIELDS | spec | lora] == []
    assert [name for name in ELSEWHERE if name in TRL_FIELDS] == []


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("solution_column", "answer_column"), ("ground_truth_column", "answer_column"),
        ("question_column", "prompt_column"), ("problem_column", "prompt_column"), ("reward_column", None),
    ],
)  # fmt: skip
def test_a_column_by_what_it_holds_is_the_one_of_that_meaning(typed: str, meant: str | None) -> None:
    names = [*type(RunSpec.model_fields["data"].default).model_fields]
    assert meant_name(typed, names) == meant
    if meant:
        problem = unknown_setting(f"data.{typed}", "x", names, {typed}, "there is no such field.")
        assert problem.message == f"there is no such field. Did you mean “{meant}”?"
        assert problem.fixes[0].settings == {f"data.{meant}": "x"}
        taken = unknown_setting(f"data.{typed}", "x", names, {typed, meant}, "there is no such field.")
        assert "set already" in taken.message and all(f"data.{meant}" not in fix.settings for fix in taken.fixes)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("sheduler_type", "lr_scheduler_type"), ("sampling_temperature", "temperature"),
        ("num_completions", "num_generations"), ("samples_per_prompt", "num_generations"), ("G", "num_generations"),
        ("generations", "num_generations"), ("log_interval", "logging_steps"), ("save_interval", "save_steps"),
        ("eval_batch_size", "per_device_eval_batch_size"), ("max_token", "max_completion_length"),
        ("lr_schedule", "lr_scheduler_type"), ("gradient_acc", "gradient_accumulation_steps"), ("top_kk", "top_k"),
        ("top_pp", "top_p"), ("num_completions_to", "num_completions_to_print"), ("lora_rang", None), ("clip", None),
    ],
)  # fmt: skip
def test_what_people_call_a_setting_of_trl_leads_to_it(typed: str, meant: str | None) -> None:
    assert meant_name(typed, TRL_FIELDS) == meant


def test_a_number_as_kl_is_its_weight() -> None:
    problem = about("kl", 0.1)
    assert "Did you mean “beta”?" in problem.message and problem.fixes[0].settings == {"training.beta": 0.1}


def test_a_field_of_the_spec_beside_the_one_that_was_meant_is_only_removed() -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec("name: a\nrewards: [{name: format}]\ndata: {source: 'task:arithmetic', dataset: x, spit: train}\n")
    by_field = {problem.field: problem for problem in caught.value.problems}
    assert [fix.label for fix in by_field["data.dataset"].fixes] == [REMOVE]
    assert "Did you mean “source”? It is set already." in by_field["data.dataset"].message
    with pytest.raises(SpecError) as labelled:
        parse_spec("name: a\nrewards: [{name: format}]\ntags: [x, y]\n")
    [tags] = labelled.value.problems
    assert "in Runs" in tags.message and [fix.label for fix in tags.fixes] == ["Remove it"], "never “stages”"
    assert by_field["data.spit"].fixes[0].settings == {"data.split": "train"} and by_field["data.spit"].line == 3


@pytest.mark.parametrize(
    ("typed", "meant", "said"),
    [
        ("b\u0435ta", "beta", " “\u0435” in it is a Cyrillic letter."),
        ("m\u0430x_st\u0435ps", "max_steps", " “\u0430” and “\u0435” in it are Cyrillic letters."),
        ("t\u03bfp_p", "top_p", " “\u03bf” in it is a Greek letter."),
        ("to\uff50_p", "top_p", " “\uff50” in it is a full-width letter."),
        ("max\u200b_steps", "max_steps", " There is a sign in it that cannot be seen."),
        ("bêta", "beta", ""),
    ],
)
def test_a_letter_of_another_alphabet_is_named(typed: str, meant: str, said: str) -> None:
    assert about(typed, 3).message == f"TRL has no such field.{said} Did you mean “{meant}”?"
    given = about(typed, 3, **{meant: 4})
    assert given.message == f"TRL has no such field.{said} Did you mean “{meant}”? It is set already."


def test_a_name_in_another_alphabet_is_only_unknown() -> None:
    assert about("шаги", 3).message == about("ステップ", 3).message == "TRL has no such field."


def test_a_letter_of_another_alphabet_is_named_where_a_setting_belongs_elsewhere() -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec("name: a\nrewards: [{name: format}]\nn\u0430me: b\nm\u0430x_steps: 5\n")
    said = "there is no such field. “\u0430” in it is a Cyrillic letter. Did you mean "
    assert [one.message for one in caught.value.problems] == [
        f"{said}“name”? It is set already.", f"{said}“max_steps”? It belongs under training."
    ]  # fmt: skip
