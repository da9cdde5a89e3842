"""The table of runs as its page gets it from the server."""

from __future__ import annotations

import re
from typing import Any

from groupwise.app.pages.run_list import runs_table
from tests.support.homes import wait_for

Draw = dict[str, Any]


def drawn(**payload: Any) -> Draw:
    """What the page gets once all is known of what it shows."""
    return wait_for("what the runs came to", lambda: (now := runs_table.draw_runs(payload)).get("settled") and now)


def cells(now: Draw, run_id: str) -> list[str]:
    """What stands in a run's cells."""
    row = re.search(rf'<tr data-run="{run_id}".*?</tr>', now["rows"], re.DOTALL)
    assert row
    return [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td.*?</td>", row[0])]
