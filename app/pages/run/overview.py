"""The Overview of a run: a board of charts fed with deltas, and beside it the numbers of now."""

import functools
from pathlib import Path
from statistics import median
from typing import Any

import gradio as gr

from groupwise.app.core import format
from groupwise.app.core.answer_cache import share_answers
from groupwise.app.core.errors import Unanswerable
from groupwise.app.core.run_stamp import mark_of_run
from groupwise.app.pages.run.header import run_progress
from groupwise.app.pages.run.solver import solved_criterion
from groupwise.app.ui import figures
from groupwise.app.ui.function_colours import colours_of_functions
from groupwise.app.ui.live import (
    Payload,
    answer,
    is_ongoing,
    is_restarting,
    live,
    record_of,
    run_of,
    texts,
    whole_number,
)
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis import best_possible
from groupwise.storage.home import db
from groupwise.storage.library import right
from groupwise.storage.record import attempts, find, group_metrics, groups, metrics, record_check, run_files, states
from groupwise.storage.record.recent import RECENT
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Catalogue
from groupwise.storage.spec.spec import RunSpec

POLL, POLL_ENDED = 300, 5000  # ms
MOST_EVENTS = 200
# Settings whose defaults matter to what is drawn, or to when it comes.
DRAWN = (
    "beta", "max_steps", "logging_strategy", "logging_steps", "logging_first_step", "eval_strategy", "eval_steps",
    "eval_delay", "eval_on_start",
)  # fmt: skip
WAITS = {
    states.QUEUED: "Waiting for its turn: the worker has not started this run yet.",
    states.STARTING: "Waiting for the first step: the model is loading.",
    states.RUNNING: "Waiting for the first step: the first group is being generated.",
    states.STOPPING: "Stopping before the first step.",
}
UNBEGUN = "This run ended before its first step."
MOST_NAMES = 200  # metrics of one answer
TEMPLATE = """
<div class="board"><p class="s problem" role="status" hidden></p>
<section class="panel ended" hidden><h2></h2></section>
<div class="charted"><div class="controls s">
<div class="switch axes" role="group" aria-label="What the charts run along">
<button type="button" data-x="step">Steps</button><button type="button" data-x="tokens">Tokens</button>
<button type="button" data-x="time">Time</button></div><label class="log"><input type="checkbox"> Log scale</label>
<button type="button" class="btn s whole" hidden>Show all steps</button><span class="mut shown" role="status"></span>
<span class="mut xs how">Click a point to see its step's groups.</span><span
class="mut xs how by-finger">Tap a point to read it, and again to see its step's groups.</span>
<span class="mut xs smoothed"></span>
<span class="wait" role="status" hidden></span>
</div>
<div class="sections"></div>
<details class="all-metrics"><summary>All metrics <span class="mut s"></span></summary>
<input class="input" type="search" placeholder="search metrics" aria-label="Search metrics"><div class="names"></div>
<div class="grid three charts"></div></details></div></div>
<aside>
<section class="panel figures"><h2><span class="when">Now</span> <span class="mut xs window"></span></h2>
<dl class="now s"></dl><p class="mut s wait"></p></section>
<section class="panel latest"><h2>Latest group <span class="mut xs"></span></h2><div class="body s"></div></section>
<section class="panel"><h2>Events</h2><ol class="events s"></ol><p class="mut s none">Nothing has happened yet.</p>
</section>
</aside>
"""


@answer
@share_answers("after", "event", "drawn", "empty", large="reset")
def draw_board(payload: Payload) -> dict[str, Any]:
    """What is new since number `after`: curves, events since `event`, the latest group.

    The first answer (`after` 0) also has the layout. `seq` is what to give as `after` next time, and `seen` what to
    wait for news with (see app.server.news); `head`: how far the run is, for the head of the page, of the same
    moment; `empty` says that the reader has none of the metrics that training logs.
    `ended` says that there will be nothing to draw.
    """
    seen = mark_of_run(payload.get("run"))  # before anything is read
    with db.kept_open():
        run = run_of(payload)
        with record_check.one_look(run.folder.db):
            return _board(run, payload, seen)


def _board(run: registry.Run, payload: Payload, seen: str) -> dict[str, Any]:
    after, event = whole_number(payload, "after"), whole_number(payload, "event")
    live = is_ongoing(run)
    out: dict[str, Any] = {"poll": POLL, "live": live, "seen": seen} if live else {"poll": POLL_ENDED, "live": live}
    out["restarts"] = is_restarting(run)
    out["wait"] = WAITS.get(run.state, f"{UNBEGUN} Its log says why.")
    out["end"] = end_event(run)
    if not after and not payload.get("drawn"):
        out |= board_layout(run)
    try:
        record = record_of(run)
    except Unanswerable as reason:
        out["wait"] = out["wait"] if run.folder.path.is_dir() else str(reason)
        return out | {"seq": after, "curves": {}, "ended": ended_notice(run, out["wait"])}
    if out["end"] and attempts.is_end_noted(record, run.state, run.state_at):
        out["end"] = None  # it was to be started again, with which its end became one of the events
    standing = metrics.standing(record)
    if run.state == states.STARTING and standing["begun"]:  # the state follows in a moment
        out["wait"] = WAITS[states.RUNNING]
    if payload.get("empty"):
        out["wait"] = why_no_metrics(run, standing) or out["wait"]
    new = metrics.read_metrics(record, after)
    out["head"] = run_progress(run)
    if new["seq"] != after:
        out["latest"] = latest_group(record)
        out["colours"] = colours_of_functions(find.function_names(record))
        out["events"] = events(record, event)
        begins = any(row["kind"] in ("begin", "stage") for row in out["events"])
        if begins and not new["reset"]:
            out["marks"] = metrics.marks(record)
        # The run has its code from when it begins, and scores from its first step.
        if (begins or payload.get("empty")) and (not new["reset"] or payload.get("drawn")):
            out |= told_by_code(run, run_files.spec_of(run.folder))
    if not new["curves"]:
        out["ended"] = ended_notice(run, out["wait"])
    return out | new


def board_layout(run: registry.Run) -> dict[str, Any]:
    """What is to be drawn, before anything is known of it: the charts, of how many values “now” is the mean (`window`),
    and the most that the reward can come to."""
    spec = run_files.spec_of(run.folder)
    told = told_by_code(run, spec)
    over = run.state in states.ENDED
    return {
        "window": RECENT,
        "most": told["most"],
        "known": told["known"],
        "graded": told["graded"],
        "sections": figures.sections(
            grpo_settings(spec),
            steps=run.step if over else run.total,
            teller=told["teller"],
            tells_right=tells_right(run, spec),
            **drawn_by_spec(spec),
        ),
    }


def end_event(run: registry.Run) -> dict[str, Any] | None:
    """How a run ended, as the last of its events: its process, which records the others, is gone by then."""
    if run.state not in states.ENDED:
        return None
    words = visible_text(format.shorten(run.sentence, 400))
    return {"at": format.clock(run.state_at), "step": run.step, "kind": run.state, "message": words}


def ended_notice(run: registry.Run, wait: str) -> str:
    """What to say once, in place of charts, of a run that is over and logged nothing: the head says why. Else empty."""
    if run.state not in states.ENDED:
        return ""
    return UNBEGUN if wait.startswith(UNBEGUN) else wait


@answer
def metrics_window(payload: Payload) -> dict[str, Any]:
    """The curves of the metrics `names` from step `first` to step `last`, as finely as they can be drawn."""
    record = record_of(run_of(payload))
    names = texts(payload, "names")[:MOST_NAMES]
    return metrics.window(record, names, whole_number(payload, "first"), whole_number(payload, "last"))


def why_no_metrics(run: registry.Run, standing: dict[str, Any]) -> str:
    """Why there is no metric though steps are done; empty where none is done, or the settings cannot be read."""
    waits_for_step = run.state in (states.QUEUED, states.STARTING) or not standing["step"]
    if run.state == states.STOPPING and not waits_for_step:
        return "The first metrics come as it stops."  # with its last step, whatever logging_steps says
    training = None if waits_for_step else grpo_settings(run_files.spec_of(run.folder))
    return figures.first_metrics(training, standing["total"], run.state == states.RUNNING) if training else ""


def grpo_settings(spec: RunSpec | None) -> dict[str, Any] | None:
    """A run's GRPOConfig settings, with the published defaults for those that decide what is drawn; None where its
    spec cannot be read."""
    catalogue = registry.read_fact(Catalogue)
    known = catalogue.defaults() if catalogue else {}
    defaults = {name: known[name] for name in DRAWN if name in known}
    return defaults | spec.training if spec else None


def drawn_by_spec(spec: RunSpec | None) -> dict[str, Any]:
    """What else of a run's spec decides what is drawn: whether beta follows the KL towards a target, whether weights
    change while it trains, and which reward functions say what is right, of all stages."""
    if spec is None:
        return {}
    return {
        "kl_target": spec.kl.target is not None,
        "weights_move": any(one.schedule or one.adapt for stage in spec.by_stage() for one in stage.rewards),
        "scored_by": tuple(sorted({name for name, _ in targets(spec)})),
    }


def told_by_code(run: registry.Run, spec: RunSpec | None) -> dict[str, Any]:
    """What the code of a run's reward functions decides of the charts: `most`, the most that the reward can come to
    (None where it is not known), `teller`, the only function that says what is right, where that need not be borne out
    (else empty), `known`: whether it is known which score it gives what is right, and `graded`: in words
    what it has been seen to go by that says nothing of that, else empty."""
    if spec is None:
        return {"most": None, "teller": "", "known": False, "graded": ""}
    told = targets(spec)
    only = next(iter(told)) if len(told) == 1 else None
    teller = only[0] if only and only[0] not in group_metrics.OF_ANSWERS else ""
    known = only is not None and not right.may_score_otherwise(only, run.folder.rewards)
    code_of = functools.partial(right.code_of_reward, run.folder.rewards)
    most, graded = best_possible.most_of_run(spec, code_of), _say_goes_by(run, only) if only else ""
    return {"most": most, "teller": teller, "known": known, "graded": graded}


def tells_right(run: registry.Run, spec: RunSpec | None) -> bool:
    """Whether a function says what is right, as Statistics has it; before anything is recorded, as it was asked for."""
    try:
        functions = find.function_names(record_of(run))
    except Unanswerable:
        return spec is None or bool(targets(spec))
    return bool(solved_criterion(run, functions)[0])


def _say_goes_by(run: registry.Run, target: group_metrics.Target) -> str:
    """What a function goes by instead of what is right, in words; “” where that is not seen."""
    if _scores_at_random(run, target):
        return "gives the same completion different scores"
    return "reads no column of the data" if right.reads_no_column(target[0], run.folder.rewards) else ""


def _scores_at_random(run: registry.Run, target: group_metrics.Target) -> bool:
    try:
        with record_check.read_record(record_of(run)) as record:
            return right.draws_scores(record, target)
    except Unanswerable:  # there is no record yet
        return False


def targets(spec: RunSpec) -> set[group_metrics.Target]:
    """What says what is right, in each stage."""
    return {target for stage in spec.by_stage() if (target := group_metrics.target(stage.rewards))}


def latest_group(record: Path) -> dict[str, Any] | None:
    """The newest training group with a reward that is not tied (else the newest): `bars`, each with its words and its
    reward."""
    step = groups.last_scored_step(record)
    if step is None:
        return None
    at_step = [group for group in groups.at_step(record, step) if group["mean"] is not None]
    chosen = next((group for group in at_step if not group["tied"]), at_step[0])
    whole_group = groups.read_group(record, chosen["id"])
    rewards = sorted(c["reward"] for c in (whole_group or {}).get("completions", []) if c["reward"] is not None)
    named = {"best": rewards[-1], "median": median(rewards), "worst": rewards[0]}
    return {
        "step": step, "id": chosen["id"], "tied": chosen["tied"],
        "prompt": visible_text(format.shorten(format.message_text(chosen["prompt"]), 80)),
        "bars": [[f"{name} {format.number(value)}", value] for name, value in named.items()],
    }  # fmt: skip


def events(record: Path, after: int) -> list[dict[str, Any]]:
    """The events after one, oldest first, at most the newest 200."""
    return [
        {"id": row["id"], "at": format.clock(row["at"]), "step": row["step"], "kind": row["kind"],
         "message": visible_text(format.shorten(row["message"], 400)), "trace": visible_text(row["trace"] or "")}
        for row in metrics.events(record, after)[-MOST_EVENTS:]
    ]  # fmt: skip


def overview() -> gr.HTML:
    """The Overview part of a run's page."""
    return live(
        "pages/run/overview", draw_board, metrics_window, template=TEMPLATE, elem_id="part-overview",
        elem_classes=["gw-part", "gw-part-overview"],
    )  # fmt: skip
