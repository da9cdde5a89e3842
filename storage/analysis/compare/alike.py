"""Whether two runs' rewards mean the same: a total reward says which run is better only where the same functions made
it, and a share solved only where the same one says what is right."""

import hashlib
import json
from collections.abc import Mapping, Sequence

from groupwise.storage.record import group_metrics
from groupwise.storage.spec.spec import RewardSpec, RunSpec


def reward_marks(spec: RunSpec, code: Mapping[str, str], stage: int) -> dict[str, str]:
    """Marks that are equal in runs where it means the same: of the total `reward` in the stage of this number (0 in a
    run without stages), and of what is `solved` there, where anything says so. `code`: of each function of the run."""
    rewards = group_metrics.rewards_of_stage(spec, stage)
    marks = {"reward": _mark([reward for reward in rewards if reward.weight != 0], code)}
    target = group_metrics.target(rewards)
    if target is not None:
        teller = [reward.model_copy(update={"weight": 1.0}) for reward in rewards if reward.name == target[0]]
        marks["solved"] = _mark(teller, code)
    return marks


def _mark(rewards: Sequence[RewardSpec], code: Mapping[str, str]) -> str:
    said = sorted(json.dumps([reward.model_dump(), code.get(reward.name)], sort_keys=True) for reward in rewards)
    return hashlib.sha256("\n".join(said).encode("utf-8", "replace")).hexdigest()[:16]
