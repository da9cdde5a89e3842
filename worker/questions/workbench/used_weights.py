"""What each reward function of a run counted at each step: its own weight, its stage's, or where it changed, the one of
that step. Where a run recorded that of its logged steps alone, it is worked out as the training did."""

from collections.abc import Sequence
from itertools import groupby

from groupwise.storage.record import run_files
from groupwise.storage.spec.spec import RewardSpec
from groupwise.worker.questions.workbench.history import Moment, Record, StageBegun, Stored
from groupwise.worker.training.weighting import Weighting


class UsedWeights:
    """The weights that groups of a run were scored with."""

    def __init__(self, record: Record, groups: Sequence[Stored]) -> None:
        """`groups`: all of training that count, in the order they were made."""
        self._usual = {name: weight for name, (_, weight) in record.functions.items()}
        self._stages = record.stages()
        self._changing = record.changing_weights()
        spec = run_files.spec_of(record.folder)
        self._rewards = [stage.rewards for stage in spec.by_stage()] if spec else []
        if missing := self._unrecorded(groups):
            worked_out = self._work_out(record, groups)
            self._changing |= {name: worked_out[name] for name in missing}

    def at(self, group: Stored) -> dict[str, float]:
        """{function: weight} for a group; a function that its stage does not use is not there."""
        stage = self._stage_of(group)
        found = stage.weights if stage else self._usual
        at = (group.attempt, group.step)
        return {name: self._changing.get(name, {}).get(at, weight) for name, weight in found.items()}

    def _stage_of(self, group: Stored) -> StageBegun | None:
        begun = (one for one in reversed(self._stages) if one.attempt == group.attempt and one.step < group.step)
        return next(begun, None)

    def _rewards_of(self, group: Stored) -> tuple[list[RewardSpec], int]:
        """The functions that scored a group, none where the run's spec cannot be read; and the step behind which its
        stage began."""
        stage = self._stage_of(group)
        number = stage.number if stage and stage.number else 1
        began = min((one.step for one in self._stages if one.number == number), default=0)
        return self._rewards[number - 1] if number <= len(self._rewards) else [], began

    def _unrecorded(self, groups: Sequence[Stored]) -> set[str]:
        """The functions with a weight that changes, of which some step's is not on record: what is there may then be a
        mean over the steps between two logs."""
        return {
            reward.name
            for group in groups
            for reward in self._rewards_of(group)[0]
            if (reward.schedule or reward.adapt)
            and (group.attempt, group.step) not in self._changing.get(reward.name, {})
        }

    def _work_out(self, record: Record, groups: Sequence[Stored]) -> dict[str, dict[Moment, float]]:
        """What the weights were, by the training's own rule from what it scored."""
        found: dict[str, dict[Moment, float]] = {}
        scores: dict[str, dict[int, list[float]]] = {}
        by_stage: dict[int, Weighting] = {}  # by the step behind which the stage began
        for at, of_step in groupby(groups, lambda group: (group.attempt, group.step)):
            scored = list(of_step)
            rewards, began = self._rewards_of(scored[0])
            weighting = by_stage.get(began) or by_stage.setdefault(began, Weighting(rewards))
            weights = weighting.at(at[1] - 1 - began)  # a group's step is the first that it trains
            for reward, weight in zip(rewards, weights, strict=True):
                found.setdefault(reward.name, {})[at] = weight
                if reward.adapt:
                    given = scores.get(reward.name) or scores.setdefault(reward.name, record.scores_of(reward.name))
                    weighting.saw(reward.name, [value for group in scored for value in given.get(group.id, [])])
        return found
