"""The head of a run's page: name, state and its sentence, progress, what can be done now, and the tabs."""

import sqlite3
import time
from typing import Any

import gradio as gr

from groupwise.app.core import format, worker_process
from groupwise.app.core.answer_cache import share_answers
from groupwise.app.ui import figures
from groupwise.app.ui.live import DAMAGED, Payload, Unanswerable, answer, has_record, is_ongoing, live, run_of, text
from groupwise.app.ui.safe_text import visible_text
from groupwise.app.ui.state_badge import kind
from groupwise.storage.home import disk
from groupwise.storage.record import metrics, record_check, states
from groupwise.storage.registry import commands, registry

TABS = ["overview", "groups", "completions", "statistics", "config", "log", "checkpoints"]
POLL, POLL_ENDED = 1000, 5000  # ms; an ended run may be resumed from elsewhere
ASKS = {"stop": commands.STOP, "kill": commands.KILL, "resume": commands.RESUME}
TEMPLATE = """
<div class="missing panel" hidden><h1>No such run</h1><p class="why"></p><p><a href="/">See all runs</a></p></div>
<div class="found" hidden>
<div class="row between"><div class="row title"><span class="dot"></span><h1 dir="auto"></h1>
<span class="pill"><i></i><span></span></span><span class="mut s line"></span></div>
<div class="row actions"></div></div>
<p class="s mut sentence"></p><p class="s note" role="status" hidden></p><p class="s problem" role="alert" hidden></p>
<div class="bar" role="progressbar" aria-label="Steps done" aria-valuemin="0" aria-valuemax="100"><i></i></div>
<div class="tabs" role="tablist" aria-label="Parts of the run">%s</div></div>
<dialog class="confirm"><form method="dialog"><h2>Stop and save?</h2><p>The run finishes its current step, saves a
checkpoint and ends. It can be resumed from there.</p><div class="row end"><button value="cancel" class="btn" autofocus>
Cancel</button><button value="stop" class="btn pri">Stop and save</button></div></form></dialog>
"""


@answer
@share_answers()
def run_status(payload: Payload) -> dict[str, object]:
    """Everything the head says now."""
    try:
        run = run_of(payload)
    except Unanswerable as missing:
        return {"missing": str(missing)}
    gone = not run.folder.path.is_dir()
    facts, pace, problem = read_standing(run)
    step, total = facts.get("step") or run.step, facts.get("total") or run.total
    now, live_now = time.time(), is_ongoing(run)
    return {
        "name": visible_text(run.name), "state": run.state, "label": states.LABELS.get(run.state, run.state),
        "kind": kind(run.state), "colour": figures.identity(run.id), "sentence": visible_text(run.sentence),
        "line": progress_line(run.state, step, total, pace["median"], facts.get("at"), now),
        "progress": min(1.0, step / total) if total else 0.0,
        "note": "The folder of this run was deleted. Only this row is left of it." if gone
        else problem or waits(run) or stall_warning(run.state, facts.get("at"), pace["median"], now),
        "actions": [] if gone else actions(run, problem), "poll": POLL if live_now else POLL_ENDED,
    }  # fmt: skip


def read_standing(run: registry.Run) -> tuple[dict[str, Any], dict[str, float | None], str]:
    """Read `metrics.standing` and `metrics.pace`, as far as there is a record, and a sentence where it is damaged,
    or a newer version's: a run whose record is lost can still be resumed. Raises sqlite3.OperationalError where it
    is locked."""
    unknown: dict[str, float | None] = {"median": None, "longest": None}
    try:
        facts = metrics.standing(run.folder.db) if has_record(run) else {}
        pace = metrics.pace(run.folder.db) if facts.get("at") else unknown
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        return {}, unknown, DAMAGED.format(error)
    return facts, pace, record_check.NEWER_SENTENCE if record_check.is_newer(run.folder.db) else ""


def progress_line(state: str, step: int, total: int, pace: float | None, at: float | None, now: float) -> str:
    """step 12 of 60 · 0.5 s a step · 20 s left · updated 1 s ago"""
    if not step and not at:
        return ""
    parts = [format.progress(step, total)]
    parts += [f"{format.duration(pace)} a step"] if pace else []
    if state in states.LIVE:
        known = pace and total > step and not silent(at, pace, now)
        parts += [f"{format.duration((total - step) * (pace or 0.0))} left"] if known else []
        parts += [f"updated {format.age(at, now)}"] if at else []
    return " · ".join(parts)


def silent(at: float | None, pace: float | None, now: float) -> bool:
    """Whether no step came for longer than ten usual ones and a minute."""
    return at is not None and now - at > max(60.0, 10 * (pace or 0.0))


def waits(run: registry.Run) -> str:
    """What a run that trains waits for: room on the disk, which the record, being on it, may not be able to say."""
    if run.state not in states.LIVE:
        return ""
    if disk.lacks(run.folder.path, disk.FLOOR):
        return "The disk is full. Training waits, and goes on by itself when there is room."
    return (metrics.waits_for(run.folder.db) if has_record(run) else None) or ""


def stall_warning(state: str, at: float | None, pace: float | None, now: float) -> str:
    """A sentence when a running run has been silent for longer than ten of its steps and a minute."""
    if state != states.RUNNING or at is None or not silent(at, pace, now):
        return ""
    usual = f", and one usually takes {format.duration(pace)}" if pace else ""
    return f"Stalled? No step for {format.duration(now - at)}{usual}. The log may say why."


def actions(run: registry.Run, problem: str = "") -> list[dict[str, str]]:
    """The buttons that this state allows. `problem`: what is wrong with the record, which then is left alone."""
    found = []
    if run.state == states.QUEUED:
        found.append({"do": "stop", "label": "Take off the queue"})
    elif run.state in (states.STARTING, states.RUNNING):
        asked = commands.asked_at(run.id, run.attempt, commands.STOP)
        found.append({"do": "kill", "label": "Stop now without saving"} if asked else
                     {"do": "stop", "label": "Stop and save", "confirm": "yes"})  # fmt: skip
    elif run.state == states.STOPPING:
        found.append({"do": "kill", "label": "Stop now without saving"})
    elif run.state in states.RESUMABLE and problem != record_check.NEWER_SENTENCE:
        found.append({"do": "resume", "label": "Resume" if problem else resume_label(run), "look": "pri"})
    if run.state in states.ENDED:
        found.insert(0, {"go": f"/new?from={run.id}", "label": "Use these settings"})
        if problem in ("", record_check.NEWER_SENTENCE) and has_record(run):
            found.insert(1, {"go": f"/rewards?view=rescore&run={run.id}", "label": "Re-score"})
    return found


def resume_label(run: registry.Run) -> str:
    """What the button says: from which step a resume goes on, or that it starts again."""
    saved = metrics.checkpoints(run.folder.db) if has_record(run) else []
    there = [row["step"] for row in saved if (run.folder.path / row["path"]).is_dir()]
    return f"Resume from step {format.count(there[0])}" if there else "Start again"


@answer
def command_run(payload: Payload) -> dict[str, object]:
    """Record a person's wish (stop, kill or resume). Refused in a sentence where the state does not allow it."""
    run = run_of(payload)
    wish = ASKS.get(text(payload, "do"))
    if wish is None:
        raise Unanswerable("A run can be asked to stop, to stop at once, or to resume.")
    commands.ask_of_run(run.id, wish)
    worker_process.wake_worker()
    return {"done": True}


def header() -> gr.HTML:
    """The head of the run's page."""
    tabs = "".join(
        f'<button role="tab" id="tab-{tab}" data-tab="{tab}" aria-controls="part-{tab}">{tab.capitalize()}</button>'
        for tab in TABS
    )
    return live("pages/run/header", run_status, command_run, template=TEMPLATE % tabs)
