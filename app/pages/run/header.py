"""The head of a run's page: name, state and its sentence, progress, what can be done now, and the tabs."""

import sqlite3
import time
from collections.abc import Sequence
from typing import Any

import gradio as gr

from groupwise.app.core import format, run_facts, run_query, worker_process
from groupwise.app.core.answer_cache import share_answers
from groupwise.app.pages.run import ending, labels
from groupwise.app.pages.run.asked import begins_at, meanwhile
from groupwise.app.ui import run_colours, state_badge
from groupwise.app.ui.live import (
    DAMAGED,
    Payload,
    Unanswerable,
    answer,
    has_record,
    is_ongoing,
    is_restarting,
    live,
    run_by_id,
    run_of,
    say_missing_folder,
    text,
    whole_number,
)
from groupwise.app.ui.run_labels import label_run
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis.compare import finals
from groupwise.storage.home import db, disk
from groupwise.storage.record import checkpoint_files, groups, metrics, record_check, states
from groupwise.storage.registry import commands, registry, trash

TABS = ["overview", "groups", "completions", "statistics", "config", "log", "checkpoints"]
POLL, POLL_ENDED = 1000, 5000  # ms; an ended run may be resumed from elsewhere
MORE = 1.1  # times what a step of training takes: from there on what comes between steps is told, too
AHEAD = 40  # characters of the name of the run that it waits for
WAITING = {states.QUEUED, *states.RESUMABLE}  # of which it is told when they will start
ASKS = {"stop": commands.STOP, "kill": commands.KILL, "resume": commands.RESUME}
TAB_BUTTONS = "".join(
    f'<button role="tab" id="tab-{tab}" data-tab="{tab}" aria-controls="part-{tab}">{tab.capitalize()}</button>'
    for tab in TABS
)
TOOK = (
    "The time that all attempts trained, with evaluation between steps and the steps that a resume repeated, without "
    "the pauses between attempts."
)
TEMPLATE = f"""
<div class="missing" hidden><h1></h1><p class="why mut"></p><p class="s problem" role="alert" hidden></p>
<div class="row"><button class="btn pri restore" type="button" hidden>Restore this run</button><a
class="btn all" href="/">See all runs</a><a class="btn" href="/new">New run</a></div></div>
<div class="found" hidden>
<div class="row between"><div class="row title"><span class="dot"></span><h1 dir="auto"></h1>
{labels.PENCIL}<span class="stand"><span class="pill"><i></i><span></span></span> <span
class="mut s line"></span></span></div>
<div class="row actions"></div></div>
{labels.SAID}{labels.TYPED}<section class="ending" aria-label="How it ended" hidden>
<h2 dir="auto"></h2><p class="s rest" dir="auto"></p>
<div class="row helps"></div>
<details class="s"><summary>Traceback</summary><pre tabindex="0" dir="auto"></pre></details>
</section><p class="s mut sentence"></p><p class="s note" role="status" hidden></p>
<p class="s problem" role="alert" hidden></p>
<div class="bar" role="progressbar" aria-label="Steps done" aria-valuemin="0" aria-valuemax="100"><i></i></div>
<div class="tabs" role="tablist" aria-label="Parts of the run">{TAB_BUTTONS}</div>
<p class="s warn no-tab" role="status" dir="auto" hidden></p></div>
<dialog class="confirm" data-of="stop"><form method="dialog"><h2>Stop and save?</h2><p>Training goes on
until you answer. The run then finishes its current step, saves a checkpoint and ends. It can be resumed from
there.</p><div class="row end">
<button value="cancel" class="btn" autofocus>Cancel</button>
<button value="stop" class="btn pri">Stop and save</button></div></form></dialog>
<dialog class="confirm" data-of="kill"><form method="dialog"><h2>Stop without saving?</h2><p>The run goes on until
you answer. It then ends at once, and what it learned since its last checkpoint is lost.</p><div class="row end">
<button value="cancel" class="btn" autofocus>Cancel</button>
<button value="kill" class="btn pri">Stop now</button></div></form></dialog>
{labels.DIALOG}"""


@answer
@share_answers()
def run_status(payload: Payload) -> dict[str, object]:
    """Everything the head says now."""
    with db.kept_open():
        try:
            run = run_of(payload)
        except Unanswerable as missing:
            deleted = trash.find_deleted(text(payload, "run")) is not None
            return {"missing": str(missing), "deleted": deleted}
        with record_check.one_look(run.folder.db):
            return _status(run, time.time())


def _status(run: registry.Run, now: float) -> dict[str, object]:
    gone, live_now = not run.folder.path.is_dir(), is_ongoing(run)
    facts, pace, problem = read_standing(run)
    asked = commands.waiting_action(run.id, run.attempt) if live_now or run.state in states.RESUMABLE else None
    if asked != commands.RESUME and run.state in states.RESUMABLE:
        asked = None  # it has just been done
    busy = registry.list_runs(only={states.QUEUED, *states.LIVE}, curves=False) if run.state in WAITING else []
    begins = begins_at(run) if asked == commands.RESUME else None
    if begins is not None:
        facts |= {"step": begins, "at": None, "before": facts.get("step") or run.step}
    told = meanwhile(run, busy, pace["step"], begins)
    offered = [] if gone else actions(run, problem, asked)
    label, sentence = told[asked] if asked in told else (label_with_place(run, busy), run.sentence)
    if any(action.get("do") == commands.RESUME for action in offered):
        sentence = " ".join(filter(None, (ending.without_resume(sentence), ending.say_damaged_point(run))))
    ahead = None if asked else ahead_of(run, busy)
    if ahead:
        sentence = sentence.replace(ahead.name, format.shorten(ahead.name, AHEAD))
    if run.state == states.QUEUED and not asked:
        sentence = " ".join(filter(None, (sentence, run_query.order_words(run, busy))))
    verdict, level = ("", "") if asked else run_facts.verdict_beside(run)
    return {
        "name": visible_text(run.name), "state": run.state, "asked": asked or "",
        "labels": None if gone else labels.labels_of(run),
        "label": visible_text(state_badge.with_verdict(label, verdict)),
        "kind": state_badge.kind(run.state, level), "colour": run_colours.own_colour(run),
        "sentence": visible_text(sentence), "end": None if asked else ending.describe_end(run), "meanwhile": told,
        "ahead": ahead and {"name": visible_text(format.shorten(ahead.name, AHEAD)), "href": f"/run?id={ahead.id}"},
        **_progress(run, facts, pace, now, ends=asked is not None),
        "note": say_missing_folder(run) if gone
        else note_on_files(run, problem) or waits(run)
        or stall_warning(run.state, facts.get("at"), pace["median"], now),
        "unreadable": problem not in ("", record_check.NEWER_SENTENCE),
        "actions": offered, "poll": POLL if live_now else POLL_ENDED,
    }  # fmt: skip


def run_progress(run: registry.Run) -> dict[str, object]:
    """How far the run is, as the head says it: `line`, the share done (`progress`), and the number of what was recorded
    last (`seq`), by which the head and the charts know whether they tell of the same."""
    facts, pace, _ = read_standing(run)
    asked = run.state in states.LIVE and commands.waiting_action(run.id, run.attempt) is not None
    return _progress(run, facts, pace, time.time(), ends=asked)


def _progress(
    run: registry.Run, facts: dict[str, Any], pace: dict[str, float | None], now: float, *, ends: bool
) -> dict[str, object]:
    """`ends`: it was asked to stop, so that how long the steps that are left would take says nothing."""
    before = facts.get("before")
    step = facts.get("step") or (0 if before else run.step)
    total, at = facts.get("total") or run.total, facts.get("at")
    took = _seconds_trained(run) if at and run.state in states.ENDED else None
    left = None if ends else pace["median"]
    line = progress_line(run.state, step, total, pace["step"], left, at, now, took)
    return {
        "seq": facts.get("seq", 0), "progress": min(1.0, step / total) if total else 0.0,
        "line": restart_line(step, total, before) if before else line, "about": TOOK if took else "",
    }  # fmt: skip


def _seconds_trained(run: registry.Run) -> float | None:
    with record_check.read_record(run.folder.db) as record:
        return finals.seconds_trained(record)


def label_with_place(run: registry.Run, busy: Sequence[registry.Run]) -> str:
    """The state's label; of a run that waits, with its place. `busy`: the runs that train or wait."""
    return state_badge.label(run.state, more=run_query.queue_words(run_query.queue_places(busy).get(run.id)))


def ahead_of(run: registry.Run, busy: Sequence[registry.Run]) -> registry.Run | None:
    """The run that a queued one waits for first; None where it waits for none. `busy`: the runs that train or wait."""
    places = run_query.queue_places(busy)
    first = min(busy, key=lambda one: places.get(one.id, 0), default=run)
    return None if run.state != states.QUEUED or first.id == run.id else first


def read_standing(run: registry.Run) -> tuple[dict[str, Any], dict[str, float | None], str]:
    """Read `metrics.standing`, and `metrics.pace` with the seconds of a `step` of training, as far as there is a
    record, and a sentence where it is damaged, or a newer version's: a run whose record is lost can still be resumed.
    Raises sqlite3.OperationalError where it is locked."""
    unknown: dict[str, float | None] = {"median": None, "longest": None, "step": None}
    try:
        record_check.refuse_lost(run.folder, run.state, run.step)
        facts = metrics.standing(run.folder.db) if has_record(run) else {}
        pace = unknown
        if facts.get("at"):
            pace = metrics.pace(run.folder.db) | {"step": metrics.step_seconds(run.folder.db)}
    except sqlite3.OperationalError:
        raise
    except record_check.LostRecord as lost:
        return {}, unknown, str(lost) + _ways_on(run, " A resume begins another.")
    except sqlite3.DatabaseError as error:
        return {}, unknown, DAMAGED.format(error) + _ways_on(run, " A resume sets it aside and begins another.")
    newer = record_check.NEWER_SENTENCE if record_check.is_newer(run.folder.db) else ""
    return _of_this_attempt(run, facts), pace, newer


def _ways_on(run: registry.Run, resumed: str) -> str:
    """What can be done with a run whose record is lost. `resumed`: what a resume does then, where it may be resumed."""
    if run.state in states.RESUMABLE:
        return resumed
    copied = "“Use these settings” opens a new run like it; u" if ending.can_be_copied(run) else "U"
    return f" {copied}nder Runs it can be deleted." if run.state in states.ENDED else ""


def _of_this_attempt(run: registry.Run, facts: dict[str, Any]) -> dict[str, Any]:
    """Where the run is; until an attempt has begun, at the checkpoint that it goes on from, and no step is so many
    minutes ago as the last one of the attempt `before`."""
    if run.state in states.ENDED or run.attempt == 1 or facts.get("attempt", 0) >= run.attempt:
        return facts
    points = checkpoint_files.points(run.folder.checkpoints)
    whole = (checkpoint_files.step_of(point) for point in points if not checkpoint_files.problem(point, deep=False))
    before = {"before": facts.get("step") or run.step} if is_restarting(run) else {}
    return facts | {"at": None, "step": max(0, next(whole, 0)), **before}


def restart_line(step: int, total: int, before: int) -> str:
    """goes on from step 10 of 40 · before, it reached step 11: of a run that is to be started again."""
    begins = f"goes on from {format.progress(step, total)}" if step else "starts from the beginning"
    if step == before > 0:
        return begins
    reached = f"step {format.count(before)}" if step else format.progress(before, total)
    return f"{begins} · before, it reached {reached}"


def progress_line(
    state: str,
    step: int,
    total: int,
    each: float | None,
    pace: float | None,
    at: float | None,
    now: float,
    took: float | None = None,
) -> str:
    """step 12 of 60 · 0.5 s a step · 20 s left · updated 1 s ago; of a run that is over: step 60 of 60 · took 5 min,
    and what a step takes stands below. `each`: seconds that a step of training takes; `pace`: those between two steps,
    more where it evaluates, saves or waits. What is left is told by the more of both, which stands before it: 0.26 s a
    step, 1.0 s overall · 4 min left."""
    if not step and not at:
        return ""
    parts = [format.progress(step, total)]
    known = pace and state in states.LIVE - {states.STOPPING} and total > step and not silent(at, pace, now)
    slower = pace if pace and (not each or pace > MORE * each) else None
    counted = f", {format.duration(slower)} overall" if known and slower else ""
    parts += [f"{format.duration(each)} a step{counted}"] if each and took is None else []
    parts += [f"took {format.duration(took)}"] if took else []
    if state in states.LIVE:
        left = (total - step) * (slower or each or 0.0)
        parts += [f"{format.duration(left, roughly=True)} left"] if known else []
        parts += [f"updated {format.age(at, now)}"] if at else []
    return " · ".join(parts)


def silent(at: float | None, pace: float | None, now: float) -> bool:
    """Whether no step came for longer than ten usual ones and a minute."""
    return at is not None and now - at > max(60.0, 10 * (pace or 0.0))


def note_on_files(run: registry.Run, problem: str) -> str:
    """What is wrong with the files of a run: its record (`problem`), and its spec.yaml."""
    return " ".join(filter(None, (problem, ending.note_on_spec(run))))


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
    usual = f", and one usually takes {format.duration(pace, roughly=True)}" if pace else ""
    return f"Stalled? No step for {format.duration(now - at, roughly=True)}{usual}. The log may say why."


def actions(run: registry.Run, problem: str = "", asked: str | None = None) -> list[dict[str, str]]:
    """The buttons that this state allows. `problem`: what is wrong with the record, which then is left alone. `asked`:
    what was asked and not yet taken up: nothing more is to be done than to wait, but for a stop that takes long."""
    found = []
    if asked and not (asked == commands.STOP and run.state in states.LIVE):
        return []
    if run.state == states.QUEUED:
        found.append({"do": "stop", "label": "Remove from queue"})
    elif run.state in (states.STARTING, states.RUNNING):
        stops = commands.asked_at(run.id, run.attempt, commands.STOP) is not None
        found.append({"do": "kill", "label": "Stop now without saving", "confirm": "kill"} if stops else
                     {"do": "stop", "label": "Stop and save", "confirm": "stop"})  # fmt: skip
    elif run.state == states.STOPPING:
        found.append({"do": "kill", "label": "Stop now without saving", "confirm": "kill"})
    elif run.state in states.RESUMABLE and problem != record_check.NEWER_SENTENCE and ending.can_resume(run):
        main = {"look": "pri"} if run.state == states.STOPPED else {}
        found.append({"do": "resume", "label": ending.resume_label(run), **main})
    copied = run.state not in states.ENDED or ending.can_be_copied(run)
    if copied:
        found.insert(0, {"go": f"/new?from={run.id}", "label": "Use these settings"})
    if run.state in states.ENDED and problem in ("", record_check.NEWER_SENTENCE) and _has_written(run):
        found.insert(int(copied), {"go": f"/rewards?view=rescore&run={run.id}", "label": "Re-score"})
    return found


def _has_written(run: registry.Run) -> bool:
    """Whether there are completions of its training to score again."""
    return has_record(run) and groups.span(run.folder.db) is not None


@answer
def command_run(payload: Payload) -> dict[str, object]:
    """Record a person's wish (stop, kill or resume; with `step`, resume from the checkpoint of that step). Refused in
    a sentence where the state does not allow it."""
    run = run_of(payload)
    wish = ASKS.get(text(payload, "do"))
    if wish is None:
        raise Unanswerable("A run can be asked to stop, to stop at once, or to resume.")
    commands.ask_of_run(run.id, wish, whole_number(payload, "step") if "step" in payload else None)
    worker_process.wake_worker()
    return {"done": True}


@answer
def put_back(payload: Payload) -> dict[str, object]:
    """Restore the deleted run of this page. One that was restored meanwhile needs nothing more."""
    run_id = text(payload, "run")
    if run_by_id(run_id) is None:
        trash.restore_run(run_id)
    if run_of(payload).state == states.QUEUED:
        worker_process.wake_worker()
    return {"done": True}


def header() -> gr.HTML:
    """The head of the run's page."""
    return live("pages/run/header", run_status, command_run, put_back, label_run, template=TEMPLATE)
