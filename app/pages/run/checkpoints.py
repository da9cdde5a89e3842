"""The Checkpoints of a run: what was saved and what it scored, to be downloaded, loaded, or resumed from; and the final
model."""

import contextlib
import itertools
import sqlite3
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr

from groupwise.app.core import format
from groupwise.app.pages.run import checkpoint_figures, equal_weights, trained_model
from groupwise.app.ui.live import (
    Payload,
    Unanswerable,
    answer,
    has_record,
    live,
    run_of,
    say_missing_folder,
    whole_number,
)
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.home import db, files
from groupwise.storage.record import checkpoint_files, metrics, run_files, span_means, states
from groupwise.storage.record.span_means import Told
from groupwise.storage.registry import commands, registry
from groupwise.storage.registry.messages.facts import Catalogue

# The checkpoints as rows, the steps of those that were removed, and the functions whose weights changed.
Recorded = tuple[list[dict[str, Any]], list[int], Sequence[str]]
METRICS = list(checkpoint_figures.MEASURED.values())
MOST = 500  # rows
MOST_NAMED = 12  # removed checkpoints
UNPACK = "Download gives a .tar file: unpack it, and load the folder as “Copy code” does."
TEMPLATE = """
<p class="s mut wait">Reading…</p>
<section class="panel final" hidden>
<h2>The trained model</h2><p class="learned" hidden></p>
<ul class="ways"><li><h3>See what it answers</h3><p class="s mut answered"></p><div class="row tight"></div></li>
<li class="on"><h3>Train it further</h3><p class="s mut"></p><div class="row tight"></div></li>
<li><h3>Use it elsewhere</h3><p class="s mut use"></p><div class="row tight wrap"></div></li></ul>
<p class="s mut place">It is in <code class="mono folder"></code>. In Python:</p>
<pre class="mono snippet" tabindex="0" aria-label="Python that loads it"></pre></section>
<p class="s mut no-final" dir="auto" hidden></p>
<p class="s mut lead" hidden>A checkpoint is the model as it was after a step, with all that is needed to train on from
there. Reward and KL (the distance from the reference model) are means of the steps that are named at each; a held-out
reward is the last one measured since the checkpoint before it. A mean of less than
half as many steps as the longest here is not called best. <span class="how"></span></p>
<div class="panel flush scroll list" tabindex="-1" hidden><table><thead></thead><tbody></tbody></table></div>
<p class="s mut removed" hidden></p>
<ul class="aside" aria-label="Set aside" hidden></ul><p class="s problem" role="alert" hidden></p>
<dialog class="confirm"><form method="dialog"><h2></h2><p></p><div class="row end">
<button value="cancel" class="btn" autofocus>Cancel</button><button value="yes" class="btn pri"></button></div>
</form></dialog>
"""


@answer
def list_checkpoints(payload: Payload) -> dict[str, Any]:
    """The checkpoints, newest first, and the final model; `columns` names what was measured at each."""
    run = run_of(payload)
    folder = run.folder
    if not folder.path.is_dir():
        raise Unanswerable(say_missing_folder(run))
    aside = checkpoint_files.set_aside_points(folder.checkpoints)
    recorded, removed, moved = _recorded(run, aside)
    values = _values_set_aside(run, aside)
    rows = [*recorded, *(_set_aside_row(run, point, values.get(point, {})) for point in aside)][:MOST]
    return {
        "rows": rows, "removed": removed_words(removed), "columns": checkpoint_figures.columns_of(rows),
        "aside": _by_attempt(run, aside),
        "wait": "" if rows or removed else say_none(run),
        "final": trained_model.describe_final(run, rows, moved) if files.is_folder(folder.final) else None,
        "no_final": trained_model.why_no_final(run),
        "how": f"{checkpoint_figures.say_unlogged(rows)}{_say_judged(rows, moved)}{how_to_go_on(run, rows)}",
        "resumable": can_be_resumed(run),
        "removable": is_at_rest(run),
    }  # fmt: skip


def _say_judged(rows: Sequence[dict[str, Any]], moved: Sequence[str]) -> str:
    """By which weights one of several is the best, where what functions count changed."""
    return checkpoint_figures.say_moved_weights(moved) if any(row["best"] for row in rows) else ""


def can_be_resumed(run: registry.Run) -> bool:
    """Whether the run can go on from one of its checkpoints, and was not asked to."""
    asked = run.state in states.RESUMABLE and commands.waiting_action(run.id, run.attempt)
    return run.state in states.RESUMABLE and not asked and not run_files.spec_fault(run.folder)


def how_to_go_on(run: registry.Run, rows: Sequence[dict[str, Any]]) -> str:
    """What can be done with these checkpoints: a downloaded one unpacked, a stopped run resumed, a new one begun."""
    begins = any(row["start"] for row in rows)
    if run.state == states.FINISHED:
        done = "This run is finished, so it cannot be resumed"
        going_on = f"{done}: “New run from it” trains on from a checkpoint." if begins else f"{done}."
    elif can_be_resumed(run):
        other = "; “New run from it” begins another" if begins else ""
        going_on = f"“Resume from here” goes on with this run{other}."
    else:
        going_on = "Where this run is stopped before its end, it can be resumed from one."
    return f"{UNPACK} {going_on}"


def is_at_rest(run: registry.Run) -> bool:
    """Whether nothing trains in the run's folder, nor was asked to."""
    return run.state in states.ENDED and not commands.waiting_action(run.id, run.attempt)


def _recorded(run: registry.Run, aside: Sequence[Path]) -> Recorded:
    """What was set aside is not among them. Without a record that can be read to its end: what lies in the folder."""
    try:
        return _named_by_record(run, aside) if has_record(run) else (_found_in_folder(run), [], ())
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and not db.is_damage(error):
            raise  # it is locked, which passes
        return _found_in_folder(run), [], ()


def _named_by_record(run: registry.Run, aside: Sequence[Path]) -> Recorded:
    """The checkpoints that the record names and that are there, and the steps of those that are not."""
    newest = {row["path"]: row for row in reversed(metrics.checkpoints(run.folder.db))}  # of a step trained again
    saved = sorted(newest.values(), key=lambda row: int(row["step"]), reverse=True)
    there = {point.relative_to(run.folder.path).as_posix() for point in checkpoint_files.points(run.folder.checkpoints)}
    spans = span_means.spans_before([row["step"] for row in saved])
    moved = equal_weights.read_moved(run.folder.db, [row["step"] for row in saved if row["path"] in there])
    names = [*METRICS, *(equal_weights.means_needed(moved) if moved else [])]
    values = span_means.means_of_spans(run.folder.db, names, spans)
    set_aside = {checkpoint_files.step_of(point) for point in aside}
    gone = {row["step"] for row in saved if row["path"] not in there} - set_aside
    evaluated = {step for step, _ in trained_model.held_out_rewards(run)}
    rows = [
        _row(run, row, values.get(row["step"], {})) | trained_model.describe_answers(run, row["step"], evaluated)
        for row in saved
        if row["path"] in there
    ]
    equal = {step: equal_weights.rewards_at(moved, told) for step, told in values.items()} if moved else None
    judged = checkpoint_figures.with_best(rows, equal, partial(equal_weights.may_be_chance, run.folder.db, moved))
    return judged, sorted(gone), moved.names if moved else ()


def _found_in_folder(run: registry.Run) -> list[dict[str, Any]]:
    """The checkpoints in a run's folder, as rows: all but what was measured, which only a record has."""
    found = [point for point in checkpoint_files.points(run.folder.checkpoints) if point.name != checkpoint_files.MODEL]
    rows = [_row(run, _as_recorded(run, point), {}) for point in found]
    return checkpoint_figures.with_best(sorted(rows, key=lambda row: int(row["step"]), reverse=True))


def _as_recorded(run: registry.Run, point: Path) -> dict[str, Any]:
    """What a record would say of it."""
    return {
        "step": checkpoint_files.step_of(point), "path": point.relative_to(run.folder.path).as_posix(),
        "at": point.stat().st_mtime, "bytes": checkpoint_files.size_of(point),
    }  # fmt: skip


def _row(run: registry.Run, saved: dict[str, Any], values: Mapping[str, Told]) -> dict[str, Any]:
    place = run.folder.path / saved["path"]
    wrong = checkpoint_files.problem(place, deep=False)
    told = checkpoint_figures.by_column(values)
    return {
        "step": saved["step"], "title": f"step {format.count(saved['step'])}", "best": "",
        "saved": format.age(saved["at"]), "size": format.size(saved["bytes"]),
        "state": "incomplete" if wrong else "complete", "why": f"it {visible_text(wrong)}" if wrong else "",
        "whole": wrong is None, "removable": True, "measured": told, **checkpoint_figures.figures_of(told),
        **trained_model.describe_model(run, place),
    }  # fmt: skip


def removed_words(steps: Sequence[int]) -> str:
    """Which checkpoints were saved and are no more there."""
    if not steps:
        return ""
    shown = [format.count(step) for step in steps[-MOST_NAMED:]]
    more = f"{format.count(len(steps) - MOST_NAMED)} earlier ones and " if len(steps) > MOST_NAMED else ""
    return f"Removed since, to make room for newer ones (save_total_limit) or by hand: {more}step {', '.join(shown)}."


def _values_set_aside(run: registry.Run, aside: Sequence[Path]) -> dict[Path, dict[str, Told]]:
    """What was measured before each checkpoint that was set aside, by the attempt that saved it; nothing without a
    record that can be read."""
    found: dict[Path, dict[str, Told]] = {}
    with contextlib.suppress(sqlite3.DatabaseError):
        if not aside or not has_record(run):
            return {}
        there = {row["step"] for row in metrics.checkpoints(run.folder.db)}
        steps = sorted(there | {checkpoint_files.step_of(point) for point in aside})
        spans = {last: (first, last) for first, last in span_means.spans_before(steps)}
        for point in aside[:MOST]:
            step, after = checkpoint_files.step_of(point), _attempt_after(run, point)
            told = span_means.means_of_spans(run.folder.db, METRICS, [spans[step]], attempt=after - 1)
            found[point] = told[step]
    return found


def _set_aside_row(run: registry.Run, point: Path, values: Mapping[str, Told]) -> dict[str, Any]:
    """A checkpoint that was set aside as the run went on from an earlier one."""
    step = checkpoint_files.step_of(point)
    return {
        "step": step, "title": f"step {format.count(step)}", "saved": format.age(point.stat().st_mtime),
        "size": format.size(checkpoint_files.size_of(point)), "whole": False, "best": "",
        "state": "set aside", "why": f"attempt {_attempt_after(run, point)} went on from an earlier step",
        **checkpoint_figures.figures_of(checkpoint_figures.by_column(values)),
        **trained_model.describe_model(run, point),
    }  # fmt: skip


def _attempt_after(run: registry.Run, point: Path) -> int:
    """The attempt that began as this was set aside."""
    return checkpoint_files.number_of(point.relative_to(run.folder.checkpoints).parts[0])


def _by_attempt(run: registry.Run, points: Sequence[Path]) -> list[dict[str, Any]]:
    """What was set aside together, and can be removed together: the `attempt` that began then, and what it is."""
    found = []
    for attempt, some in itertools.groupby(points, lambda point: _attempt_after(run, point)):
        together = list(some)
        size = format.size(sum(map(checkpoint_files.size_of, together)))
        words = f"{format.plural(len(together), 'checkpoint')} set aside before attempt {attempt}, {size}"
        found.append({"attempt": attempt, "words": words, "size": size})
    return found


@answer
def remove_set_aside(payload: Payload) -> dict[str, Any]:
    """Remove the checkpoints that were set aside before `attempt`, for good: the run needs none of them."""
    run, attempt = run_of(payload), whole_number(payload, "attempt")
    try:
        freed = checkpoint_files.remove_set_aside(run.folder.checkpoints, attempt)
    except FileNotFoundError as error:
        raise Unanswerable(f"Nothing is set aside from before attempt {attempt}.") from error
    except OSError as error:
        raise Unanswerable(f"They could not be removed ({error.strerror or error}).") from error
    return {"freed": format.size(freed)}


@answer
def remove_checkpoint(payload: Payload) -> dict[str, Any]:
    """Remove the checkpoint of `step`, for good, of a run in which nothing trains."""
    run, step = run_of(payload), whole_number(payload, "step", -1)
    if not is_at_rest(run):
        raise Unanswerable("This run trains, or is about to: its checkpoints can be deleted when it has ended.")
    try:
        freed = checkpoint_files.remove_point(run.folder.checkpoints, step)
    except FileNotFoundError as error:
        raise Unanswerable("There is no checkpoint of this step any more.") from error
    except OSError as error:
        raise Unanswerable(f"It could not be deleted ({error.strerror or error}).") from error
    return {"freed": format.size(freed)}


def say_none(run: registry.Run) -> str:
    """What to say of a run that has no checkpoint."""
    if run.state in states.ENDED:
        return "There is no checkpoint in the folder of this run."
    spec, catalogue = run_files.spec_of(run.folder), registry.read_fact(Catalogue)
    defaults = catalogue.defaults() if catalogue else {}
    return f"No checkpoint has been saved yet: {when_saved(defaults | (spec.training if spec else {}))}."


def when_saved(training: dict[str, Any]) -> str:
    """When a run with these settings saves checkpoints, mid-sentence."""
    every, strategy = training.get("save_steps"), training.get("save_strategy")
    stopped = "when the run is stopped"
    if strategy == "no":
        return f"one comes only {stopped} (save_strategy: no)"
    if strategy == "epoch":
        return f"one comes after each epoch, and {stopped}"
    if isinstance(every, int) and every > 1:
        return f"one comes every {format.count(every)} steps, and {stopped}"
    return f"they come as save_steps says, and {stopped}" if every != 1 else "one comes after every step"


def checkpoints() -> gr.HTML:
    """The Checkpoints part of a run's page."""
    return live(
        "pages/run/checkpoints",
        list_checkpoints,
        remove_set_aside,
        remove_checkpoint,
        template=TEMPLATE,
        elem_id="part-checkpoints",
        elem_classes=["gw-part", "gw-part-checkpoints"],
    )
