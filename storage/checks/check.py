"""What keeps a spec from running, found without starting anything: names, types, batch arithmetic, files.

Pure over the spec, what the worker published, and a look at the named files. The worker checks again with TRL's own
GRPOConfig, which has the last word.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from storage.checks.batch import BATCH_FIELDS, check_batch
from storage.checks.data import check_data
from storage.checks.length import with_fitting_lengths
from storage.checks.limits import check_limits
from storage.checks.model import check_model
from storage.checks.stages import check_stages
from storage.checks.values import mended, misfit
from storage.offer import Offer
from storage.spec import ADVICE, BLOCKING, Fix, Problem, RunSpec, near, nearest, rename_or_remove

# Settings of GRPOConfig that Groupwise decides itself, and where a person says it instead.
OWNED = {
    "output_dir": "each run has its own folder.",
    "overwrite_output_dir": "each run has its own folder.",
    "logging_dir": "each run has its own folder.",
    "report_to": "every metric is recorded in the run's own file.",
    "reward_weights": "say weight at each of the rewards.",
    "resume_from_checkpoint": "use Resume on the run's page.",
    "model_init_kwargs": "say it under model.",
    "trust_remote_code": "code from a model's repository is never run.",
    "hub_token": "tokens belong in the environment (HF_TOKEN), never in a spec.",
    "push_to_hub_token": "tokens belong in the environment (HF_TOKEN), never in a spec.",
}


def check(spec: RunSpec, offer: Offer, lines: dict[str, int] | None = None) -> list[Problem]:
    """Every problem that would keep this spec from running; an empty list means it can be launched."""
    return [problem for problem in examine(spec, offer, lines) if problem.level == BLOCKING]


def examine(spec: RunSpec, offer: Offer, lines: dict[str, int] | None = None) -> list[Problem]:
    """Those, and what else a person should know."""
    found = check_stages(spec, offer) if spec.stages else _examine_one(spec, offer)
    placed = [replace(p, line=p.line or _line(p.field, lines or {})) for p in found]
    return sorted(placed, key=lambda problem: problem.line or 0)


def _examine_one(spec: RunSpec, offer: Offer) -> list[Problem]:
    """Of a run that trains in one go, or of one stage of a run."""
    found = [
        *_settings("training", spec.training, offer.training),
        *_settings("lora", spec.lora or {}, offer.lora),
        *check_limits(spec),
        *_rewards(spec, offer),
        *check_data(spec, offer),
        *check_model(spec, offer),
    ]
    if not {problem.field for problem in found} & {f"training.{name}" for name in BATCH_FIELDS}:
        found += check_batch(spec, offer)
    return with_fitting_lengths(found, spec, offer)


def _line(path: str, lines: dict[str, int]) -> int | None:
    parts = path.split(".")
    return next((lines[".".join(parts[:n])] for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in lines), None)


def _settings(section: str, values: dict[str, Any], fields: dict[str, dict[str, Any]] | None) -> list[Problem]:
    """Unknown names, wrong types and impossible choices, by the published fields."""
    found = []
    for name, value in values.items():
        path = f"{section}.{name}"
        remove = Fix("Remove it", {}, (path,))
        if section == "training" and name in OWNED:
            found.append(Problem(path, f"cannot be set here: {OWNED[name]}", fixes=(remove,)))
        elif fields is not None and name not in fields:
            library = "TRL's GRPOConfig" if section == "training" else "PEFT's LoraConfig"
            message = f"{library} has no such field.{nearest(name, list(fields))}"
            found.append(Problem(path, message, fixes=rename_or_remove(path, value, list(fields))))
        elif fields is not None:
            message = misfit(value, fields[name])
            if message:
                found.append(Problem(path, message, fixes=mended(path, value, fields[name])))
    return found


def _rewards(spec: RunSpec, offer: Offer) -> list[Problem]:
    found, seen = [], set()
    for index, reward in enumerate(spec.rewards):
        path = f"rewards.{index}.name"
        others = [name for name in offer.rewards if name not in {r.name for r in spec.rewards}]
        close = near(reward.name, others)
        use = [Fix(f"Use {close}", {path: close})] if close else []
        fixes = (*use, *([Fix("Remove it", {}, (f"rewards.{index}",))] if len(spec.rewards) > 1 else []))
        if reward.name in seen:
            found.append(Problem(path, f"“{reward.name}” is listed twice.", fixes=fixes[-1:]))
        elif offer.rewards and reward.name not in offer.rewards:
            known = nearest(reward.name, list(offer.rewards)) or f" There are {', '.join(offer.rewards)}."
            fixes = fixes or (Fix(f"Use {others[0]}", {path: others[0]}),) if others else fixes
            found.append(Problem(path, f"there is no reward function “{reward.name}”.{known}", fixes=fixes))
        else:
            found += _missing(path, reward.name, offer, fixes[-1:])
        seen.add(reward.name)
    if spec.data.source.startswith("gym:") and "gym_score" in offer.rewards and "gym_score" not in seen:
        fix = Fix("Reward with gym_score", {"rewards": [{"name": "gym_score", "weight": 1.0}]})
        message = "gym_score, the task's own scorer, knows best what a right answer is."
        found.append(Problem("rewards", message, level=ADVICE, fixes=(fix,)))
    return found


def _missing(path: str, name: str, offer: Offer, fixes: tuple[Fix, ...]) -> list[Problem]:
    """The optional packages that a reward function needs and that are not installed."""
    needed = (offer.rewards.get(name) or {}).get("needs") or []
    return [
        Problem(path, f"“{name}” needs {package}, which is not installed here: pip install {package}", fixes=fixes)
        for package in (need for need in needed if need not in offer.extras)
    ]
