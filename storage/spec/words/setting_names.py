"""What a person meant by a setting that there is none of: another name, or one that TRL or transformers gave up.

A name is offered only where its meaning is near, and never where that setting is given already: no click writes over
what was typed. Sources of what was removed: the release notes of TRL 0.28 and of transformers 5, read beside what is
installed; of the others the first wheel whose GRPOConfig or TrainingArguments has them no more.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from groupwise.storage.spec.words.foreign_letters import as_english, letter_words
from groupwise.storage.spec.words.joined_parts import join_fixes
from groupwise.storage.spec.words.number_words import count_words
from groupwise.storage.spec.words.odd_spaces import trim_spaces
from groupwise.storage.spec.words.problem import BLOCKING, Fix, Problem

TRL, TRL_VLLM = "TRL 0.28", "TRL 0.18"
TRANSFORMERS_5, TRANSFORMERS_5_15 = "transformers 5.0", "transformers 5.15"
NEARLY = 0.9  # of a name of others, from where on another is a slip of it
LONGEST = 40  # characters of a value that a sentence quotes
LONG = 7  # letters of a name of others', from where on a slip of it is taken for one
SHORT = 2  # letters of a word that can stand for all of it
_STAGE = re.compile(r"^stages\.\d+\.(?=training\b)")  # its rewards are its own
COMPLETION = "max_completion_length"
_SWAPPED = 4  # letters of a name of others', from where on two that changed places are a slip of the hand
_PART_BEFORE = "lora_"  # names of LoraConfig that repeat their part: people leave it out
_LETTER_BEFORE = re.compile(r"^[a-z]_(?=.{2})")  # by which a part is put aside, as in x_data
_DOUBLED = re.compile(r"([a-z])\1+")
# Words that look alike and mean something else (a VLM is a model of vision and language).
_APART = {("accelerate", "accelerator"), ("reference", "inference"), ("precision", "revision"), ("type", "dtype"),
          ("vlm", "vllm")}  # fmt: skip
# How people call the number of steps, which is one thing wherever it stands.
STEPS = frozenset({"steps", "num_steps", "n_steps", "total_steps", "train_steps", "training_steps", "num_train_steps",
                   "max_train_steps", "num_training_steps", "total_training_steps"})  # fmt: skip
ALIKE = 0.72  # of each word of a name to that of another, from where on one is a slip of the other


@dataclass(frozen=True)
class Removed:
    """A setting that is gone: since which version, what there is instead, and the setting that takes
    its value as `convert` makes it (None: that value cannot be had there)."""

    since: str
    instead: str
    setting: str = ""
    convert: Callable[[Any], Any] = lambda value: value


def _share_below_one(value: Any) -> float | None:
    """Of a number or a text such as 10%."""
    written = value.strip() if isinstance(value, str) else ""
    if percent := re.fullmatch(r"(\d{1,2}(?:\.\d+)?) ?(%?)", written):
        value = float(percent[1]) / 100 if percent[2] else float(percent[1])
    return float(value) if isinstance(value, (int, float)) and 0 <= value < 1 else None


def _word_if_true(word: Any) -> Callable[[Any], Any]:
    return lambda value: word if value is True else None


_NOTHING = "Nothing replaces it."
REMOVED = {
    "max_prompt_length": Removed(TRL, "Prompts are no longer cut; leave long ones out with a filter under data."),
    "use_liger_loss": Removed(TRL, "use_liger_kernel does the same.", "use_liger_kernel"),
    "vllm_guided_decoding_regex": Removed(
        TRL, "vllm_structured_outputs_regex does the same.", "vllm_structured_outputs_regex"
    ),
    "wandb_log_unique_prompts": Removed(
        TRL, "log_unique_prompts does the same; every prompt is recorded here anyway.", "log_unique_prompts"
    ),
    "warmup_ratio": Removed(
        TRANSFORMERS_5_15, "warmup_steps takes a share of the steps below 1.", "warmup_steps", _share_below_one
    ),
    "evaluation_strategy": Removed(TRANSFORMERS_5, "Its name is eval_strategy.", "eval_strategy"),
    "no_cuda": Removed(TRANSFORMERS_5, "Its name is use_cpu.", "use_cpu"),
    "save_safetensors": Removed(TRANSFORMERS_5, "Weights are always saved as safetensors."),
    "half_precision_backend": Removed(TRANSFORMERS_5, "bf16 and fp16 replace it."),
    "include_tokens_per_second": Removed(TRANSFORMERS_5, "Groupwise charts tokens per second of every run."),
    "per_gpu_train_batch_size": Removed(
        TRANSFORMERS_5, "Its name is per_device_train_batch_size.", "per_device_train_batch_size"
    ),
    "per_gpu_eval_batch_size": Removed(
        TRANSFORMERS_5, "Its name is per_device_eval_batch_size.", "per_device_eval_batch_size"
    ),
    "include_inputs_for_metrics": Removed(
        TRANSFORMERS_5, "include_for_metrics: [inputs] does the same.", "include_for_metrics", _word_if_true(["inputs"])
    ),
    "push_to_hub_model_id": Removed(TRANSFORMERS_5, "Its name is hub_model_id.", "hub_model_id"),
    "push_to_hub_organization": Removed(TRANSFORMERS_5, "hub_model_id names it, too, as in ORG/NAME."),
    "use_mps_device": Removed(TRANSFORMERS_5, "An Apple GPU is used where there is one."),
    "fp16_backend": Removed(TRANSFORMERS_5, "bf16 and fp16 replace it."),
    "use_legacy_prediction_loop": Removed(TRANSFORMERS_5, _NOTHING),
    "tpu_metrics_debug": Removed(TRANSFORMERS_5, "debug takes tpu_metrics_debug."),
    "fsdp_min_num_params": Removed(TRANSFORMERS_5, "fsdp_config takes min_num_params."),
    "fsdp_transformer_layer_cls_to_wrap": Removed(TRANSFORMERS_5, "fsdp_config takes transformer_layer_cls_to_wrap."),
    **dict.fromkeys(
        ("mp_parameters", "jit_mode_eval", "tpu_num_cores", "past_index", "ray_scope"),
        Removed(TRANSFORMERS_5, _NOTHING),
    ),
    "adafactor": Removed(TRANSFORMERS_5, "optim: adafactor does the same.", "optim", _word_if_true("adafactor")),
    "group_by_length": Removed("transformers 5.2", "It had no effect on GRPO."),
    "fp16_opt_level": Removed(TRANSFORMERS_5, "bf16 and fp16 replace it."),
    "xpu_backend": Removed("transformers 4.32", "Its name is ddp_backend.", "ddp_backend"),
    "vllm_max_model_len": Removed(TRL_VLLM, "Its name is vllm_max_model_length.", "vllm_max_model_length"),
    "vllm_device": Removed(TRL_VLLM, "vllm_mode says where vLLM runs."),
    "vllm_dtype": Removed(TRL_VLLM, "vLLM’s own server takes it: trl vllm-serve --dtype."),
    "vllm_enable_prefix_caching": Removed(
        TRL_VLLM, "vLLM’s own server takes it: trl vllm-serve --enable_prefix_caching."
    ),
}


def removed_words(name: str) -> str:
    """What is said of a setting of REMOVED: since when it is gone, and what there is instead."""
    return f"was removed in {REMOVED[name].since}. {REMOVED[name].instead}"


# Settings that people write beside `training`, though they belong under it.
UNDER_TRAINING = frozenset({
    "learning_rate", "max_steps", "num_train_epochs", "beta", "temperature", "num_generations", "loss_type", "epsilon",
    "per_device_train_batch_size", "gradient_accumulation_steps", "max_completion_length", "warmup_steps", "top_p",
    "lr_scheduler_type", "optim", "weight_decay", "max_grad_norm", "logging_steps", "save_steps", "save_strategy",
    "eval_strategy", "eval_steps", "bf16", "fp16", "seed", "use_vllm", "report_to", "run_name",
    "gradient_checkpointing", "scale_rewards", "num_iterations", "push_to_hub", "hub_model_id", "project",
    "generation_batch_size", "steps_per_generation",
})  # fmt: skip

# How others name the same: verl, OpenRLHF, ms-swift, Unsloth's notebooks, and people.
ELSEWHERE = {
    "lr": "learning_rate", "epochs": "num_train_epochs", "num_epochs": "num_train_epochs",
    **dict.fromkeys(STEPS, "max_steps"),
    "batch_size": "per_device_train_batch_size", "train_batch_size": "per_device_train_batch_size",
    "per_device_batch_size": "per_device_train_batch_size", "per_gpu_train_batch_size": "per_device_train_batch_size",
    "micro_batch_size": "per_device_train_batch_size",
    "actor_lr": "learning_rate", "actor_learning_rate": "learning_rate", "policy_lr": "learning_rate",
    "peak_lr": "learning_rate", "base_lr": "learning_rate", "wd": "weight_decay",
    "rollout_n": "num_generations", "num_return_sequences": "num_generations", "group_size": "num_generations",
    "rollouts": "num_generations", "n_samples_per_prompt": "num_generations", "n_generations": "num_generations",
    "generations": "num_generations",
    **dict.fromkeys(
        ("num_completions", "n_completions", "completions_per_prompt", "samples_per_prompt", "num_samples_per_prompt",
         "n_samples", "generations_per_prompt", "rollouts_per_prompt", "num_rollouts", "g"),
        "num_generations"),
    **dict.fromkeys(("log_interval", "log_steps", "log_every", "log_freq", "logging_interval"), "logging_steps"),
    **dict.fromkeys(("save_interval", "save_every", "save_freq", "checkpoint_every", "checkpoint_interval"),
                    "save_steps"),
    **dict.fromkeys(("eval_interval", "eval_every", "eval_freq", "test_freq", "evaluation_steps"), "eval_steps"),
    "eval_batch_size": "per_device_eval_batch_size",
    "loss": "loss_type",
    "kl": "beta", "kl_coef": "beta",
    "kl_loss_coef": "beta", "init_kl_coef": "beta", "kl_weight": "beta", "kl_beta": "beta",
    "max_new_tokens": "max_completion_length", "max_tokens": "max_completion_length",
    "max_response_length": "max_completion_length", "max_len": "max_completion_length", "wandb_project": "project",
    "generate_max_len": "max_completion_length",
    "grad_accum": "gradient_accumulation_steps", "accumulation_steps": "gradient_accumulation_steps",
    "cliprange": "epsilon", "clip_range": "epsilon", "clip_ratio": "epsilon", "clip_eps": "epsilon",
    "clip_epsilon": "epsilon", "eps_clip": "epsilon", "epsilon_low": "epsilon", "epsilon_lower": "epsilon",
    "eps_low": "epsilon", "eps_clip_low": "epsilon", "clip_low": "epsilon", "clip_ratio_low": "epsilon",
    "cliprange_low": "epsilon", "epsilon_upper": "epsilon_high", "eps_clip_high": "epsilon_high",
    "clip_high": "epsilon_high", "clip_ratio_high": "epsilon_high", "cliprange_high": "epsilon_high",
    "mu": "num_iterations", "ppo_epochs": "num_iterations", "num_ppo_epochs": "num_iterations",
    "ppo_epoch": "num_iterations", "update_epochs": "num_iterations",
    "grad_clip": "max_grad_norm", "clip_grad": "max_grad_norm", "clip_grad_norm": "max_grad_norm",
    "gradient_clipping": "max_grad_norm", "gradient_clip_val": "max_grad_norm", "max_norm": "max_grad_norm",
    "warmup": "warmup_steps", "scheduler": "lr_scheduler_type", "lr_scheduler": "lr_scheduler_type",
    "scheduler_type": "lr_scheduler_type",
    "optimizer": "optim", "beta1": "adam_beta1", "beta2": "adam_beta2", "num_processes": "processes",
    "sampling_temperature": "temperature", "attn": "attn_implementation", "attention": "attn_implementation",
    "importance_sampling": "importance_sampling_level",
    "rank": "r", "lora_r": "r", "lora_rank": "r", "alpha": "lora_alpha", "dropout": "lora_dropout",
    "target": "target_modules", "targets": "target_modules", "lora_target": "target_modules",
    "lora_target_modules": "target_modules", "modules": "target_modules",
    "model_name": "id", "model_name_or_path": "id", "path": "id",
    "torch_dtype": "dtype", "precision": "dtype", "params": "parameters", "parms": "parameters", "kwargs": "parameters",
    "gpus": "processes", "num_gpus": "processes", "n_gpus": "processes", "n_gpus_per_node": "processes",
    "nproc_per_node": "processes", "world_size": "processes",
    **dict.fromkeys(("solution_column", "solutions_column", "ground_truth_column"), "answer_column"),
    **dict.fromkeys(("question_column", "questions_column", "problem_column"), "prompt_column"),
    "dataset": "source", "dataset_name": "source", "test_size": "holdout", "max_samples": "limit",
}  # fmt: skip

# Words of every day, which are near to one name in the data and to another in an example: in no line by itself is such
# a word a setting.
_NEAR = {
    "answer": ("answer_column", "completion"), "answers": ("answer_column",), "answer_key": ("answer_column",),
    "answer_field": ("answer_column",), "ground_truth": ("answer_column",), "solution": ("answer_column", "completion"),
    "question": ("prompt_column", "prompt"), "prompt": ("prompt_column",), "prompt_field": ("prompt_column",),
    "prompt_key": ("prompt_column",), "response": ("completion",),
}  # fmt: skip


def meant_name(name: str, names: Collection[str], given: Collection[str] = ()) -> str | None:
    """The one of `names` that was meant by `name`: a slip of it, or what others call so; None where no meaning is near,
    or where that one is `given` as well."""
    plain = as_english(trim_spaces(name)).replace("-", "_").replace(" ", "_")
    others = (ELSEWHERE.get(plain, ""), *_NEAR.get(plain, ()), _LETTER_BEFORE.sub("", plain))
    other = next((one for one in others if one in names), "")
    near = [one for one in names if is_slip(plain, one.casefold())] or _begun_by(plain, names)
    near = near or [one for one in names if one != (bare := one.removeprefix(_PART_BEFORE)) and is_slip(plain, bare)]
    near = near or [one for word, one in ELSEWHERE.items() if one in names and _is_slip_of_other(plain, word)]
    closest = max(near, key=lambda one: difflib.SequenceMatcher(None, plain, one).ratio(), default=None)
    meant = other or closest
    return None if meant in given else meant


def _begun_by(typed: str, names: Collection[str]) -> list[str]:
    """The one name that two or more words, the last of them perhaps cut, are the beginning of, as gradient_acc is of
    gradient_accumulation_steps; none where several are."""
    begun = [one for one in names if one.startswith(typed)] if re.search(r"_\w{3}", typed) else []
    return begun if len(begun) == 1 else []


def _is_slip_of_other(typed: str, name: str) -> bool:
    """Whether a name is a slip of one that others have; of a short one a letter makes another word, unless it sounds
    the same, or two of its letters changed places."""
    alike = min(len(typed), len(name)) >= LONG and difflib.SequenceMatcher(None, typed, name).ratio() >= NEARLY
    return alike or _as_heard(typed) == _as_heard(name) or (len(name) >= _SWAPPED and _is_swapped(typed, name))


def _is_swapped(typed: str, name: str) -> bool:
    """Whether two letters that stand side by side changed places, as in rnak."""
    places = [n for n, (one, other) in enumerate(zip(typed, name, strict=False)) if one != other]
    if len(typed) != len(name) or len(places) != 2 or places[1] != places[0] + 1:
        return False
    at = places[0]
    return typed[at : at + 2] == name[at : at + 2][::-1]


def is_slip(typed: str, name: str) -> bool:
    """Whether two names differ as a slip of the hand does: in letters of a word or in how much of it is written out
    (hi, high), never in a word."""
    typed, name = _as_heard(typed), _as_heard(name)
    ours, theirs = typed.split("_"), name.split("_")
    if not _APART.isdisjoint(zip(ours, theirs, strict=False)):
        return False
    if "".join(ours) == "".join(theirs) or _DOUBLED.sub(r"\1", typed) == _DOUBLED.sub(r"\1", name):
        return True
    return len(ours) == len(theirs) and all(map(_is_slip_of_word, ours, theirs))


def _as_heard(name: str) -> str:
    """A name with f for ph, as it is heard: of a short word these two letters are half (alfa, alpha)."""
    return name.replace("ph", "f")


def _is_slip_of_word(typed: str, word: str) -> bool:
    shortened = min(len(typed), len(word)) >= SHORT and (typed.startswith(word) or word.startswith(typed))
    return shortened or difflib.SequenceMatcher(None, typed, word).ratio() >= ALIKE


def without_answered(problems: Iterable[Problem]) -> list[Problem]:
    """The problems without those of a setting that is not given, where another offers to rename onto it what is: what
    is wrong with its absence or its default is settled by that click, and a fix of its own would be in its way. So it
    is with all that is said of the defaults of a part whose name is misspelt, and with what does not block and would
    be put right there; nor is there a warning or advice on what is in it."""
    found = list(problems)
    onto = answered_places(found)
    typed = tuple(f"{one.field}." for one in found for fix in one.fixes if one.field in fix.removed and fix.settings)
    advised = [one for one in found if one.level != BLOCKING and f"{one.field}.".startswith(typed)]
    return [
        one for one in found
        if one not in advised and not any(_is_answered(path, one.field, onto) for path in _places_of(one))
    ]  # fmt: skip


def _is_answered(path: str, field: str, onto: Mapping[str, str]) -> bool:
    """Whether another problem than that of `field` offers its value for this path, or for a part that it is in: a part
    in itself that holds another of its name is offered for its own place, and waits for nothing."""
    place = f"{_STAGE.sub('', path)}."
    return any(place.startswith(f"{one}.") and by != field for one, by in onto.items())


def _places_of(problem: Problem) -> Iterable[str]:
    """Its field, and where the fixes of one that does not block write."""
    if problem.level == BLOCKING:
        return (problem.field,)
    setting = [fix for fix in problem.fixes if problem.field not in fix.removed]
    return (problem.field, *(path for fix in setting for path in fix.settings))


def answered_places(problems: Iterable[Problem]) -> dict[str, str]:
    """The places, by their paths without a stage's, that a problem of another name offers its value for; and that
    name's path."""
    return {
        _STAGE.sub("", path): one.field
        for one in problems
        for fix in one.fixes
        if one.field in fix.removed
        for path in fix.settings
    }


def unknown_setting(
    path: str, value: Any, names: Collection[str], given: Collection[str], said: str, line: int | None = None, *,
    fitting: Collection[str] | None = None,
) -> Problem:  # fmt: skip
    """The problem of a setting at `path` that is none of `names`, beside what else is `given` there. `said`: the
    sentence that there is none; `fitting`: the names that its value can stand at, where not at all."""
    parent, _, name = path.rpartition(".")
    remove = Fix(f"Remove it{size_words(value)}", {}, (path,))
    if parent == "training" and name in REMOVED:
        return _removed_setting(path, value, names, given, line)
    meant = meant_name(name, names if fitting is None else fitting)
    if (name == "max_length" or (meant is None and is_slip(as_english(name), "max_length"))) and COMPLETION in names:
        return _of_both_lengths(path, value, given, said, line)
    said += letter_words(name)
    if meant is None:
        return Problem(path, said + _say_unfit(name, value, names), line, fixes=(remove,))
    if meant in given:
        joined = join_fixes(path, value, f"{parent}.{meant}".lstrip("."), given)
        return Problem(path, f"{said} Did you mean “{meant}”? It is set already.", line, fixes=(*joined, remove))
    rename = Fix(f"Rename it to {meant}", {f"{parent}.{meant}".lstrip("."): value}, (path,))
    return Problem(path, f"{said} Did you mean “{meant}”?", line, fixes=(rename, remove))


def _say_unfit(name: str, value: Any, names: Collection[str]) -> str:
    """Of a plain slip of a name that cannot have the value: both are to be put right, which no click does."""
    near = meant_name(name, [one for one in names if len(one) >= LONG and is_slip(as_english(name), one)])
    given = f"“{value}”" if isinstance(value, str) and value.isprintable() and len(value) <= LONGEST else "such a value"
    return f" Did you mean “{near}”? It does not take {given}." if near else ""


def one_for_each_name(problems: Iterable[Problem], lines: Mapping[str, int]) -> list[Problem]:
    """The problems of the settings of one part, where each name is offered for one of them alone: of two that are near
    it the second is told of the first, and no click writes over what another wrote. `lines`: of each field."""
    taken: dict[str, Problem] = {}
    found = []
    for one in problems:
        # a whole part under another name is read as that part: what is wrong in both of two is said
        own = one.fixes if "." in one.field else ()
        renames = [fix for fix in own if fix.removed == (one.field,) and len(fix.settings) == 1]
        place = next(iter(renames[0].settings)) if renames else one.field
        first = taken.setdefault(place, one)
        if first is not one and renames:
            words = f" {_both_names(first.field, one.field, lines)} both mean {place.rpartition('.')[2]}: keep one."
            said = one.message.partition(" Did you mean")[0]
            one = replace(one, message=said + words, fixes=tuple(f for f in one.fixes if f is not renames[0]))
        found.append(one)
    return found


def _both_names(first: str, second: str, lines: Mapping[str, int]) -> str:
    """Two settings by their names, with their lines where these differ."""
    at = [lines.get(field) for field in (first, second)]
    told = [f" (line {line})" if line and at[0] != at[1] else "" for line in at]
    one, other = (field.rpartition(".")[2] for field in (first, second))
    return f"“{one}”{told[0]} and “{other}”{told[1]}"


def size_words(value: Any) -> str:
    """How much goes with a part, for behind a button's words."""
    noun = ("setting", "settings") if isinstance(value, dict) else ("entry", "entries")
    return f" ({count_words(len(value), *noun)})" if isinstance(value, (dict, list)) and value else ""


def _of_both_lengths(path: str, value: Any, given: Collection[str], said: str, line: int | None) -> Problem:
    """The problem of max_length, which other trainers of TRL have: it is near in meaning, and not the same."""
    it = "it" if path.rpartition(".")[2] == "max_length" else "max_length"
    whole = f"{said} In SFT and DPO {it} counts prompt and completion together; {COMPLETION} counts the completion "
    whole += "alone"
    remove = Fix("Remove it", {}, (path,))
    if COMPLETION in given:
        return Problem(path, f"{whole}, and is set already.", line, fixes=(remove,))
    place = f"{path.rpartition('.')[0]}.{COMPLETION}"
    is_length = isinstance(value, int) and not isinstance(value, bool) and value > 0
    use = (Fix(f"Use it as {COMPLETION} ({value})", {place: value}, (path,)),) if is_length else ()
    return Problem(path, f"{whole}.", line, fixes=(*use, remove))


def _removed_setting(
    path: str, value: Any, names: Collection[str], given: Collection[str], line: int | None
) -> Problem:
    parent, _, name = path.rpartition(".")
    gone = REMOVED[name]
    fixes = [Fix("Remove it", {}, (path,))]
    taken = gone.convert(value) if gone.setting in names and gone.setting not in given else None
    if taken is not None:
        fixes.insert(0, Fix(f"Use {gone.setting}", {f"{parent}.{gone.setting}": taken}, (path,)))
    also = f" {gone.setting} is set already." if gone.setting and gone.setting in given else ""
    return Problem(path, f"{removed_words(name)}{also}", line, fixes=tuple(fixes))
