"""Whether two runs' figures are the same measure: a total reward says which run is better only where the same functions
made it, and a share solved only where the same one says what is right; both only on the same data, sampled alike."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from groupwise.storage.record import group_metrics
from groupwise.storage.spec.spec import RewardSpec, RunSpec


def reward_marks(spec: RunSpec, code: Mapping[str, str], stage: int) -> dict[str, Any]:
    """Marks that are equal in runs where it means the same: of the total `reward` in the stage of this number (0 in a
    run without stages), and of what is `solved` there, where anything says so, with the parts that this is made of
    (`solved_of`). `code`: of each function of the run."""
    rewards = group_metrics.rewards_of_stage(spec, stage)
    marks: dict[str, Any] = {"reward": _mark([reward for reward in rewards if reward.weight != 0], code)}
    target = group_metrics.target(rewards)
    if target is not None:
        parts = _solved_of(target, next(reward for reward in rewards if reward.name == target[0]), code)
        marks |= {"solved": _hash(json.dumps(parts, sort_keys=True)), "solved_of": parts}
    return marks


def _solved_of(target: group_metrics.Target, teller: RewardSpec, code: Mapping[str, str]) -> dict[str, Any]:
    """By what a completion counts as solved: the function's name, marks of its code and of its parameters, and the
    score from which on it does. How the function's weight moves (schedule, adapt) is no part of it."""
    name, score = target
    return {
        "function": name, "code": _hash(code.get(name) or teller.version or ""), "score": score,
        "parameters": _hash(json.dumps(teller.parameters, sort_keys=True, default=str)),
    }  # fmt: skip


# Settings of the data that change in which order its rows come, or how they are read, but not what is asked.
_NOT_ASKED = {"shuffle", "holdout", "streaming", "columns"}
# The settings of GRPOConfig, besides the temperature and the length limit, by which completions are drawn.
_SAMPLING = ("top_p", "top_k", "min_p", "repetition_penalty", "generation_kwargs", "chat_template_kwargs")


def measure_marks(spec: RunSpec, defaults: Mapping[str, Any], stage: int) -> dict[str, Any]:
    """What the figures of a run are measured on, in the stage of this number, equal in runs where it is the same: marks
    of its `data`, of which rows are `held_out` and of how else completions are drawn (`sampling`); its `temperature`
    and its `limit` in tokens, None where they are not known. `defaults`: those of GRPOConfig, as published."""
    stages = spec.by_stage()
    settings = {**defaults, **stages[min(max(stage, 1), len(stages)) - 1].training}
    data = spec.data.model_dump()
    return {
        "data": _hash(json.dumps({name: data[name] for name in data if name not in _NOT_ASKED}, sort_keys=True)),
        "held_out": _hash(json.dumps([data["shuffle"], data["holdout"]])),
        "sampling": _hash(json.dumps([settings.get(name) for name in _SAMPLING], sort_keys=True, default=str)),
        "temperature": _number(settings.get("temperature")),
        "limit": _number(settings.get("max_completion_length")),
    }


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _mark(rewards: Sequence[RewardSpec], code: Mapping[str, str]) -> str:
    said = sorted(json.dumps([reward.model_dump(), code.get(reward.name)], sort_keys=True) for reward in rewards)
    return _hash("\n".join(said))


def _hash(words: str) -> str:
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16]
