"""One line of the table: what was measured, ours, the other side, and the bound it must keep."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """`ours` and `other` are already in words; `value` is what the bound is about."""

    what: str
    ours: str
    other: str
    value: float
    bound: float
    unit: str

    @property
    def holds(self) -> bool:
        return self.value <= self.bound

    def line(self) -> str:
        """As a line of the table."""
        measured, bound = (f"{v:.3f}{' ' + self.unit if self.unit else ''}" for v in (self.value, self.bound))
        verdict = "ok" if self.holds else "MISSED"
        return f"| {self.what} | {self.ours} | {self.other} | {measured} | {bound} | {verdict} |"


def percentile(values: Sequence[float], share: float) -> float:
    """The value under which `share` (0 to 1) of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(values: Sequence[float]) -> float:
    return percentile(values, 0.5)


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def print_table(rows: list[Row], machine: str) -> None:
    print(f"\n{len(os.sched_getaffinity(0))} cores, {machine}\n")
    print("| what | Groupwise | against | measured | at most | |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print(row.line())
