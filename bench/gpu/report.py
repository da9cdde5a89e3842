"""What was measured, line by line as it is known, and all of it in a JSON file that is whole after each line."""

from __future__ import annotations

import re
import time
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from groupwise.app.core import format
from groupwise.storage.home import files

RESULTS = Path(__file__).parents[1] / "results"


@dataclass(frozen=True)
class Row:
    """`measured` and `against` are in the unit (bytes, s; none: they are plain numbers), `other` says what the second
    one is. `verdict`: "ok", "MISSED", "FAILED", "skipped", or none where nothing is promised."""

    job: str
    what: str
    measured: float | None = None
    against: float | None = None
    unit: str = ""
    other: str = ""
    note: str = ""
    verdict: str = ""

    @property
    def ratio(self) -> float | None:
        """Measured over what it is compared with."""
        return self.measured / self.against if self.measured is not None and self.against else None

    def line(self) -> str:
        """As a line of the table."""
        against = f"{self.other} {in_words(self.against, self.unit)}".strip() if self.against is not None else ""
        ratio = f"{self.ratio:.3f}" if self.ratio is not None else ""
        cells = [self.job, self.what, in_words(self.measured, self.unit), against, ratio, self.note, self.verdict]
        return f"| {' | '.join(cells)} |"


def in_words(value: float | None, unit: str) -> str:
    """A number with its unit; nothing for None."""
    if value is None:
        return ""
    if unit == "bytes":
        return format.size(round(value)) if value >= 0 else f"−{format.size(round(-value))}"
    return f"{value:.3g} {unit}".strip()


class Report:
    """Prints each row as it comes, and keeps all of them in `path`."""

    def __init__(self, machine: dict[str, Any], folder: Path = RESULTS) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"gpu-{time.strftime('%Y%m%d-%H%M%S')}.json"
        self.machine = machine
        self.rows: list[Row] = []
        if machine["dry"]:
            print("Dry: the memory of the runs' processes stands for a device's; the figures say nothing of one.\n")
        print(f"{machine['sentence']}; {', '.join(f'{name} {of}' for name, of in machine['versions'].items())}\n")
        print("| run | what | measured | against | ratio | | |\n|---|---|---|---|---|---|---|", flush=True)

    def add(self, row: Row) -> None:
        self.rows.append(row)
        print(row.line(), flush=True)
        rows = [{**asdict(row), "ratio": row.ratio} for row in self.rows]
        files.write_json(self.path, {"machine": self.machine, "rows": rows})

    def keep_log(self, job: str, error: Exception) -> None:
        """What a run that failed has printed, or else where it failed, beside the results."""
        log = getattr(error, "log", "") or "".join(traceback.format_exception(error))
        name = f"{self.path.stem}-{re.sub(r'[^A-Za-z0-9.]+', '-', job)}.log"
        self.path.with_name(name).write_text(log, encoding="utf-8")

    @property
    def holds(self) -> bool:
        return not any(row.verdict in ("FAILED", "MISSED") for row in self.rows)
