"""What the doctor says of each run of the corpus, after each so many steps, and how often that is the cause."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.doctor_corpus import kinds, records
from groupwise.storage.analysis.doctor.evidence_reader import gather
from groupwise.storage.analysis.doctor.examine import examine

SOON = 20  # steps after which the cause is to be named
LOOKS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, SOON, 25, kinds.STEPS)  # steps after which it is looked at


@dataclass(frozen=True)
class Judged:
    """A run and what was said of it: `said` has the keys of the verdicts after each of LOOKS, the first first."""

    kind: str
    number: int
    said: dict[int, list[str]]

    @property
    def cause(self) -> str | None:
        """The verdict that names what is wrong; None: nothing is."""
        return kinds.KINDS[self.kind][1]

    @property
    def is_held_out(self) -> bool:
        """Whether no rule was tuned by it."""
        return kinds.is_held_out(self.kind, self.number)

    @property
    def first(self) -> str | None:
        """The first verdict after SOON steps."""
        return next(iter(self.said[SOON]), None)

    @property
    def soonest(self) -> tuple[int, str] | None:
        """The step at which anything was said for the first time, and the first verdict then."""
        return next(((step, keys[0]) for step, keys in self.said.items() if keys), None)

    @property
    def is_right(self) -> bool:
        """Whether the first verdict is the cause; of a healthy run: whether nothing was ever said."""
        return self.first == self.cause if self.cause else not any(self.said.values())


def judge(paths: Iterable[Path]) -> list[Judged]:
    """What is said of these runs, each read from a run.db made of its record."""
    with tempfile.TemporaryDirectory(prefix="groupwise-corpus-") as place:
        return [_judge_one(path, Path(place)) for path in paths]


def _judge_one(path: Path, place: Path) -> Judged:
    kind, number = records.name_of(path)
    record, db = records.read(path), place / f"{kind}-{number}.db"
    records.rebuild(record, db)
    run_spec = records.spec_of(record)
    reports = {step: examine(gather(db, run_spec, until=step)) for step in LOOKS}
    return Judged(kind, number, {step: [one.key for one in report.verdicts] for step, report in reports.items()})


def share_right(judged: Iterable[Judged]) -> float:
    """The share of sick runs whose cause is the first verdict."""
    sick = [one.is_right for one in judged if one.cause]
    return sum(sick) / len(sick) if sick else 0.0


def table(judged: list[Judged]) -> str:
    """The confusion table, as it stands in docs/understand.md."""
    lines = [
        "| what is wrong | what is to be said | right, of those tuned by | right, of those held out | said instead |",
        "|---|---|---|---|---|",
    ]
    for kind, (draw, cause) in kinds.KINDS.items():
        lines.append(
            _row(_what(draw), f"`{cause}`" if cause else "nothing", [one for one in judged if one.kind == kind])
        )
    lines.append(_row("**all that are sick**", "the cause", [one for one in judged if one.cause]))
    return "\n".join(lines) + "\n"


def _row(what: str, named: str, judged: list[Judged]) -> str:
    parts = [[one.is_right for one in judged if one.is_held_out == held_out] for held_out in (False, True)]
    counts = " | ".join(f"{sum(part)} of {len(part)}" for part in parts)
    return f"| {what} | {named} | {counts} | {_instead(judged)} |"


def _what(draw: kinds.Draw) -> str:
    words = (draw.__doc__ or "").removesuffix(".")
    return words[:1].lower() + words[1:]


def _instead(judged: list[Judged]) -> str:
    wrong = Counter(
        one.first or (one.soonest[1] if one.soonest and not one.cause else "nothing")
        for one in judged
        if not one.is_right
    )
    return ", ".join(f"{key if key == 'nothing' else f'`{key}`'} {count}×" for key, count in sorted(wrong.items()))
