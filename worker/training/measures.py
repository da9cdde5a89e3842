"""What the recorder measures beside TRL's own metrics: of a step's groups, its time, and the memory it took."""

import time
from collections import defaultdict
from pathlib import Path

import torch

from groupwise.storage.library import right
from groupwise.storage.record import group_metrics, totals
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Group
from groupwise.worker.training import weighting

ELAPSED = "time/elapsed"
MEMORY = "/proc/meminfo"
Metrics = dict[str, float | None]


class Measures:
    """Gathers metrics until they are taken with a commit. `functions`: the names that completions' scores are in the
    order of; `rewards`: the folder of the run's reward code."""

    def __init__(self, writer: RunWriter, functions: list[str], rewards: Path) -> None:
        self._writer = writer
        self._rewards = rewards
        self._functions = functions
        self._seen = writer.reward_range()
        self._waiting: Metrics = {}
        self._groups: dict[str, list[Group]] = {}  # by mode: what was scored since the last commit, however often
        self._target: tuple[str, float] | None = None
        self._called_right: set[tuple[str, float]] = set()  # targets that are seen to give what they should
        self._seconds: dict[str, float] = defaultdict(float)  # of this step: generation, rewards
        self._tokens = 0
        self._before: float | None = None  # seconds trained until now, pauses left out
        self.tokens_before = 0.0  # those of the stages before, which TRL counts anew from
        self._begun = time.perf_counter()
        self._step_begun: float | None = None

    def begin(self, step: int, stage_began: int) -> None:
        """Training begins, or goes on, after this step, in a stage that began after that one."""
        self.tokens_before = self._writer.last_total("num_tokens", stage_began) or 0.0
        if self._before is None:
            self._before = self._writer.last_value(ELAPSED, step) or 0.0
            self._begun = time.perf_counter()

    def count_on(self, logged: Metrics) -> Metrics:
        """What TRL logged, with its tokens counted on from the stages before."""
        return {
            name: value + self.tokens_before if value is not None and totals.OF_TOKENS.match(name) else value
            for name, value in logged.items()
        }

    def step_begins(self) -> None:
        """Note when a step begins."""
        self._step_begun = time.perf_counter()

    def step_ends(self) -> None:
        """Note what the step took, by what it was spent on. Whoever evaluates in between spends it in no step."""
        if self._step_begun is None:
            return
        took, self._step_begun = time.perf_counter() - self._step_begun, None
        generation, rewards = self._seconds["generation"], self._seconds["rewards"]
        self._waiting |= {
            "time/generation": generation,
            "time/rewards": rewards,
            "time/update": max(0.0, took - generation - rewards),
        }
        if generation and self._tokens:
            self._waiting["time/tokens_per_second"] = self._tokens / generation
        self._seconds.clear()
        self._tokens = 0

    def saw(
        self,
        groups: list[Group],
        seconds: dict[str, float],
        target: tuple[str, float] | None,
        weights: dict[str, float],
    ) -> None:
        """Groups of one mode that were just scored, what generating and scoring them took, and the weights that change,
        as they counted: known of each step, as the groups' rewards are made of them. An evaluation is scored in
        batches, of which the last may be smaller: its metrics are of all its groups."""
        if not groups:
            return
        self._seen, self._target = group_metrics.widen_range(self._seen, groups), target
        self._groups.setdefault(groups[0].mode, []).extend(groups)
        if groups[0].mode == "eval":
            return
        self._waiting |= {weighting.metric(name): weight for name, weight in weights.items()}
        for what, took in seconds.items():
            self._seconds[what] += took
        self._tokens += sum(c.tokens for group in groups for c in group.completions)

    def _of_groups(self) -> Metrics:
        """The metrics of all groups since the last commit, those of an evaluation with `eval_` before their names."""
        waiting, self._groups = self._groups, {}
        name, threshold = self._target or ("", group_metrics.SOLVED)
        solver = self._functions.index(name) if name in self._functions else None
        target = (name, threshold)
        known = right.tells_right(target, self._rewards) or (
            target in self._called_right and right.compares(target, self._rewards)
        )
        found: Metrics = {}
        for mode, groups in waiting.items():
            prefix = "eval_" if mode == "eval" else ""
            told = group_metrics.metrics_of_groups(
                groups, self._seen, solver, threshold, tells_right=known, by_answer=name in group_metrics.OF_ANSWERS
            )
            if told.get("groups/solved"):
                self._called_right.add(target)
            found |= {f"{prefix}{name}": value for name, value in told.items()}
        return found

    def take(self, *, logged: bool) -> Metrics:
        """The metrics to be written now; `logged`: with TRL's own, so how long and how full belongs to them."""
        found, self._waiting = {**self._waiting, **self._of_groups()}, {}
        if logged and self._before is not None:
            found[ELAPSED] = self._before + time.perf_counter() - self._begun
            share = memory_share()
            if share is not None:
                found["system/memory_share"] = share
        return found


def memory_share() -> float | None:
    """The share of the GPU's memory that was reserved at most since this was last asked; without a GPU, of the
    machine's memory that is in use. None where it cannot be known."""
    if torch.cuda.is_available():
        device = torch.cuda.current_device()
        peak = torch.cuda.max_memory_reserved(device)
        torch.cuda.reset_peak_memory_stats(device)
        return float(peak / torch.cuda.get_device_properties(device).total_memory)
    try:
        with open(MEMORY, encoding="ascii") as file:
            facts = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in file)}
        return 1.0 - facts["MemAvailable"] / facts["MemTotal"]
    except (OSError, KeyError, ValueError, IndexError):
        return None
