"""What a run's page is served with: its head, and the charts that will be drawn, so that it need not ask for either."""

from typing import Any

from groupwise.app.pages.run.header import run_status
from groupwise.app.pages.run.overview import board_layout
from groupwise.app.ui.live import Payload, answer, run_of
from groupwise.storage.record import states


def first_look(run_id: str) -> dict[str, Any]:
    """{head: as `run_status` says it, board: as `board_layout` does, if there will be charts}."""
    head = run_status({"run": run_id})
    drawn = head.get("name") and not head.get("unreadable")
    return {"head": head, "board": _board_of({"run": run_id}) if drawn else {}}


@answer
def _board_of(payload: Payload) -> dict[str, Any]:
    run = run_of(payload)
    return board_layout(run) if run.step or run.state not in states.ENDED else {}
