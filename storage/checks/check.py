"""What keeps a spec from running, found without starting anything: names, types, batch arithmetic, files.

Pure over the spec, what the worker published, and a look at the named files. The worker checks again with TRL's own
GRPOConfig, which has the last word.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from groupwise.storage.checks.algorithms import gspo_problem
from groupwise.storage.checks.batch import BATCH_FIELDS, check_batch
from groupwise.storage.checks.data import check_data
from groupwise.storage.checks.kl import check_kl
from groupwise.storage.checks.length import with_fitting_lengths
from groupwise.storage.checks.limits import TOO_LARGE, check_limits, usual_fixes_of
from groupwise.storage.checks.model import check_model
from groupwise.storage.checks.name_lists import names_problem
from groupwise.storage.checks.packages import check_packages, without_lacking
from groupwise.storage.checks.processes import check_processes
from groupwise.storage.checks.reward_columns import check_seen_columns
from groupwise.storage.checks.rewards import check_rewards
from groupwise.storage.checks.spaces import check_spaces
from groupwise.storage.checks.stages import check_stages
from groupwise.storage.checks.texts import check_name, check_texts
from groupwise.storage.checks.trackers import check_trackers
from groupwise.storage.checks.values import default_fix, fixes_of_value, value_fault
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.rows.units import say_unit
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.misplaced import adapt_in_training, misplaced_problem, part_in_a_part
from groupwise.storage.spec.words.problem import BLOCKING, Fix, Problem, in_order_of_lines, line_of
from groupwise.storage.spec.words.recipe_names import recipe_problem
from groupwise.storage.spec.words.setting_names import one_for_each_name, unknown_setting
from groupwise.storage.spec.words.trl_words import OWN_WEIGHTS, WEIGHTS, trl_problem
from groupwise.storage.spec.words.value_kinds import can_mean, kinds_of_published

# Settings of GRPOConfig that Groupwise decides itself, and where a person says it instead.
OWNED = {
    "output_dir": "each run has its own folder.",
    "overwrite_output_dir": "each run has its own folder.",
    "logging_dir": "each run has its own folder.",
    WEIGHTS: OWN_WEIGHTS,
    "resume_from_checkpoint": "use Resume on the run's page.",
    "model_init_kwargs": "set it under model instead.",
    "trust_remote_code": "code from a model's repository is never run.",
    "hub_token": "tokens belong in the environment (HF_TOKEN), never in a spec.",
    "push_to_hub_token": "tokens belong in the environment (HF_TOKEN), never in a spec.",
}


def check_spec(spec: RunSpec, offer: Offer, lines: dict[str, int] | None = None) -> list[Problem]:
    """Every problem that would keep this spec from running; an empty list means it can be launched."""
    return [problem for problem in examine_spec(spec, offer, lines) if problem.level == BLOCKING]


def examine_spec(
    spec: RunSpec, offer: Offer, lines: dict[str, int] | None = None, columns: list[str] | None = None,
    rows: int | None = None, empty: Collection[str] = (),
) -> list[Problem]:  # fmt: skip
    """Every problem that keeps this spec from running, and what else a person should know. `columns`, `rows`: what the
    preview has seen of the data, if it has, and how many rows it has counted; `empty`: which columns hold nothing."""
    if spec.stages:
        by_stage = [examine_spec(stage, offer, None, columns, rows, empty) for stage in spec.by_stage()]
        limits = [one for one in check_limits(spec, offer) if one.level == BLOCKING]
        of_values = [*limits, *_settings("training", spec.training, offer, spec, lines)]
        unknown = [_unknown_of_stage(stage.training, offer, spec, lines) for stage in spec.stages]
        found = check_stages(spec, offer, by_stage, of_values, unknown)
    else:
        found = _examine_one(spec, offer, columns, rows, lines, empty)
    found += [problem for problem in (*check_name(spec), *check_texts(spec, offer)) if problem not in found]
    placed = [replace(p, line=p.line or line_of(p.field, lines or {})) for p in found]
    return in_order_of_lines(placed)


def _examine_one(
    spec: RunSpec, offer: Offer, columns: list[str] | None, rows: int | None, lines: dict[str, int] | None,
    empty: Collection[str],
) -> list[Problem]:  # fmt: skip
    """Of a run that trains in one go, or of one stage of a run."""
    spaces = list(check_spaces(spec))
    named = {problem.field for problem in spaces}
    settings = [
        *_settings("training", spec.training, offer, spec, lines),
        *_settings("lora", spec.lora or {}, offer, spec, lines),
    ]
    told = {problem.field for problem in settings}  # what is no number that can be has no limits to keep to
    limits = [problem for problem in check_limits(spec, offer) if problem.field not in told]
    found = [
        *settings,
        *limits,
        *(problem for problem in check_processes(spec, offer) if problem.field not in told),
        *check_trackers(spec, offer),
        *(problem for problem in check_packages(spec, offer) if problem.field not in told),
        *check_kl(spec, offer),
        *check_rewards(spec, offer),
        *check_data(spec, offer, columns, rows, empty),
        *check_seen_columns(spec, offer, columns),
        *check_model(spec, offer),
    ]
    found = [*spaces, *(problem for problem in found if problem.field not in named)]
    # what is too large for the model is told with how much that can read, and not as any number once more
    better = {problem.field for problem in found if problem.level == BLOCKING and problem not in limits}
    found = [one for one in found if not (one in limits and one.field in better and TOO_LARGE in one.message)]
    refused = [name for name in BATCH_FIELDS if any(one.field == f"training.{name}" for one in found)]
    found += check_batch(spec, offer, rows, refused)
    return with_fitting_lengths(found, spec, offer)


def _settings(
    section: str, values: dict[str, Any], offer: Offer, spec: RunSpec, lines: dict[str, int] | None
) -> list[Problem]:
    """Unknown names, wrong types and impossible choices, by the published fields."""
    fields = offer.training if section == "training" else offer.lora
    found = []
    for name, value in values.items():
        path = f"{section}.{name}"
        remove = Fix("Remove it", {}, (path,))
        word = trl_problem(name, value, _given(spec, lines), under="training.") if name == WEIGHTS else None
        if word and section == "training":
            found.append(word)
        elif name in OWNED and (section == "training" or name not in (fields or ())):
            found.append(Problem(path, f"cannot be set here: {OWNED[name]}", fixes=(remove,)))
        elif fields is not None and name not in fields:
            found.append(_unknown(path, value, fields, values, offer, spec, lines))
        elif fields is not None and (problem := names_problem(path, value)):
            found.append(problem)
        elif fields is not None and (gspo := gspo_problem(path, value, values, default_fix(path, fields[name]))):
            found.append(gspo)
        elif fields is not None:
            message = value_fault(value, fields[name])
            if message:
                *meant, default = fixes_of_value(path, value, fields[name])
                said = without_lacking(say_unit(Problem(path, message, fixes=tuple(meant)), value), offer)
                others = [default] if said.fixes else usual_fixes_of(path, spec) or [default]
                found.append(replace(said, fixes=(*said.fixes, *others)))
    return one_for_each_name(found, lines or {})


def _unknown_of_stage(
    training: dict[str, Any], offer: Offer, spec: RunSpec, lines: dict[str, int] | None
) -> dict[str, Problem]:  # fmt: skip
    """By its field: what a stage says itself that the library has none of. Which name is meant goes by what the stage
    sets, not by what it takes from the run."""
    known = {f"training.{name}" for name in offer.training or training}
    found = _settings("training", training, offer, spec, lines)
    return {problem.field: problem for problem in found if problem.field not in known}


def _unknown(
    path: str, value: Any, fields: dict[str, dict[str, Any]], values: dict[str, Any], offer: Offer, spec: RunSpec,
    lines: dict[str, int] | None,
) -> Problem:  # fmt: skip
    """Of a setting that the library has none of: it belongs to another part, is TRL's word for one, is misspelt, or
    there is none."""
    given = _given(spec, lines)
    name = path.removeprefix("training.")
    if "." not in name and (word := trl_problem(name, value, given, under="training.")):
        return word
    misplaced = misplaced_problem(path, value, given, training=offer.training or (), lora=offer.lora or ())
    if elsewhere := recipe_problem(path, value, given) or misplaced:
        return elsewhere
    if whole := part_in_a_part(path, value, given):
        return whole
    library = "TRL's GRPOConfig" if path.startswith("training.") else "PEFT's LoraConfig"
    said = f"{library} has no such field."
    typed = path.rpartition(".")[2]
    fitting = [one for one, field in fields.items() if can_mean(typed, one, value, kinds_of_published(field))]
    found = unknown_setting(path, value, fields, values, said, fitting=fitting)
    return adapt_in_training(path, value, given, said) or found


def _given(spec: RunSpec, lines: dict[str, int] | None) -> dict[str, Any]:
    """All that a spec says, as plain values."""
    given: dict[str, Any] = spec.model_dump(exclude_unset=True)
    if lines and "rewards" not in lines:  # what stands in for missing ones has no line
        given |= {"rewards": None}
    return given
