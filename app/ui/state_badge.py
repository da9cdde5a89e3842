"""A run's state as a pill: text, shape and colour together, so that none of them carries it alone."""

from groupwise.app.core import format
from groupwise.app.ui.safe_text import escape
from groupwise.storage.analysis import outcome
from groupwise.storage.analysis.doctor.verdict import NEUTRAL, PROBLEM, WARNING
from groupwise.storage.record import states

# The shape and colour in state_badge.css: a dot (pulsing while it trains), a square for done, a diamond for
# trouble, a ring.
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
OF_LEVEL = {PROBLEM: "bad", WARNING: "warn"}


def kind(state: str, level: str = "") -> str:
    """The kind of a state, by which it is coloured; idle for an unknown one. `level`: how grave what the doctor says
    against the run is, which then has the colour that it has on the run's page, and still looks alive where it trains;
    one that learned nothing is done, and not green."""
    if level == NEUTRAL and state == states.FINISHED:
        return "done"
    alive = "run " if state in states.LIVE else ""
    return f"{alive}{OF_LEVEL[level]}" if level in OF_LEVEL else KINDS.get(state, "idle")


def label(state: str, verdict: str = "", more: str = "") -> str:
    """The words for a state: Finished, or Finished · verdict: the reward fell, or Queued · 1st in queue."""
    words = with_verdict(states.LABELS.get(state, state), verdict)
    return f"{words} · {more}" if more and not verdict else words


def with_verdict(words: str, verdict: str) -> str:
    """A state's words, and what is said against the run: called a verdict, so that it is not read as why it stopped or
    ended, and alike beside each state. What is wrong with its files is none."""
    return f"{words} · {against(verdict)}" if verdict else words


def against(verdict: str) -> str:
    """What is said against a run, in the words that stand behind its state: verdict: the reward fell; "" for
    nothing."""
    said = verdict_words(verdict)
    return f"verdict: {said}" if said else format.mid_sentence(verdict) if verdict else ""


def verdict_words(verdict: str) -> str:
    """The verdict on a run's end as it stands in a sentence; "" where there is none, or what is said is of its
    files."""
    return "" if not verdict or outcome.is_of_files(verdict) else format.mid_sentence(verdict)


def pill(state: str, verdict: str = "", level: str = "", more: str = "") -> str:
    """The pill as HTML. `verdict`, of this `level`: what the doctor says against the run's end; `more`: what else
    stands beside the state, which changes nothing of its kind."""
    words = escape(label(state, verdict, more))
    return f'<span class="pill {kind(state, level)}" title="{words}"><i></i><span>{words}</span></span>'
