"""Spread within groups, tied groups and their kinds, and each group's best, over time. Pure functions on rows."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from groupwise.storage.analysis.statistics.buckets import Stretches
from groupwise.storage.record.group_metrics import KINDS, UNKNOWN, Standing, kind


class GroupRow(NamedTuple):
    """One group as it is stored. `std` is None where fewer than two of its completions have a reward."""

    step: int
    mode: str
    mean: float
    std: float | None
    low: float
    high: float
    standing: Standing = UNKNOWN


class Told(NamedTuple):
    """A group, and why it teaches nothing, as `group_metrics.kind` has it; “” where it has a learning signal."""

    row: GroupRow
    kind: str

    @property
    def step(self) -> int:
        """The step that it was generated in."""
        return self.row.step


def explain_ties(rows: Iterable[GroupRow], mode: str) -> list[Told]:
    """The groups of one mode that at least two completions of have a reward, in the order of their steps. As
    `group_metrics.metrics_of_groups` has it, a tie is low or high by what the run, both modes, had seen until then."""
    ordered = sorted(rows, key=lambda row: row.step)
    found: list[Told] = []
    low, high, at = float("inf"), float("-inf"), 0
    for row in ordered:
        while at < len(ordered) and ordered[at].step <= row.step:
            low, high, at = min(low, ordered[at].low), max(high, ordered[at].high), at + 1
        if row.mode == mode and row.std is not None:
            found.append(Told(row, kind((row.low, row.high), (low, high), row.standing) or ""))
    return found


def counts(groups: Sequence[Told]) -> dict[str, int]:
    """{groups, tied, all_low, all_high, other, no_answer, bearing}."""
    kinds = Counter(group.kind for group in groups)
    by_kind = {name: kinds[name] for name in KINDS}
    tied = sum(by_kind.values())
    return {"groups": len(groups), "tied": tied, **by_kind, "bearing": len(groups) - tied}


def ties_over_steps(groups: Sequence[Told], buckets: Stretches) -> dict[str, list[Any]]:
    """Per stretch that has groups: `steps` (first, last), `groups` (how many), shares `all_low`, `all_high`, `other`,
    `no_answer` and `bearing` (0 to 1), and the means of `spread` (standard deviation within), `best`, `mean` and
    `worst`."""
    parts: dict[int, list[Told]] = {}
    for group in groups:
        parts.setdefault(buckets.of(group.row.step), []).append(group)
    found: dict[str, list[Any]] = {"steps": [], "groups": []}
    for number, part in sorted(parts.items()):
        found["steps"].append(buckets.steps(number))
        found["groups"].append(len(part))
        for name, value in _summarise_stretch(part).items():
            found.setdefault(name, []).append(value)
    return found


def _summarise_stretch(part: Sequence[Told]) -> dict[str, float]:
    size, counted = len(part), counts(part)
    shares = {name: counted[name] / size for name in (*KINDS, "bearing")}
    return shares | {
        "spread": sum(group.row.std or 0.0 for group in part) / size,
        "best": sum(group.row.high for group in part) / size,
        "mean": sum(group.row.mean for group in part) / size,
        "worst": sum(group.row.low for group in part) / size,
    }
