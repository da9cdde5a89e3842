"""A run's state as a pill: text, shape and colour together, so that none of them carries it alone."""

from groupwise.app.ui.safe_text import escape
from groupwise.storage.record import states

# The shape and colour of style.css: a dot (pulsing while it trains), a square for done, a diamond for trouble, a ring.
KINDS = {
    states.QUEUED: "idle",
    states.STARTING: "run",
    states.RUNNING: "run",
    states.STOPPING: "run",
    states.FINISHED: "ok",
    states.STOPPED: "idle",
    states.FAILED: "bad",
    states.KILLED: "bad",
    states.INTERRUPTED: "warn",
}


def kind(state: str) -> str:
    """The kind of a state, by which it is coloured; idle for an unknown one."""
    return KINDS.get(state, "idle")


def pill(state: str) -> str:
    """The pill as HTML."""
    return f'<span class="pill {kind(state)}"><i></i>{escape(states.LABELS.get(state, state))}</span>'
