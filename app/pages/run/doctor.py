"""The doctor on a run's Overview: how it stands in one sentence, and what looks wrong, with the evidence and a new run
that has it changed."""

import sqlite3
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import gradio as gr

from groupwise.app.core import run_facts
from groupwise.app.core.end_reason import TOLD
from groupwise.app.pages.run.solver import solved_criterion
from groupwise.app.pages.run.trained_model import start_from
from groupwise.app.ui import state_badge
from groupwise.app.ui.live import (
    Payload,
    Unanswerable,
    answer,
    is_ongoing,
    is_restarting,
    live,
    record_of,
    run_of,
    whole_number,
)
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis.compare.curves import keys_of
from groupwise.storage.analysis.doctor import evidence_reader
from groupwise.storage.analysis.doctor.evidence import Evidence, Unsolved
from groupwise.storage.analysis.doctor.evidence_reader import Surroundings
from groupwise.storage.analysis.doctor.examine import Report, examine
from groupwise.storage.analysis.doctor.next_step import Next
from groupwise.storage.analysis.doctor.verdict import Change, Link, Verdict
from groupwise.storage.analysis.doctor.words import setting_text
from groupwise.storage.analysis.outcome import published_surroundings, verdict_meanwhile
from groupwise.storage.analysis.statistics import pass_at_k, reading
from groupwise.storage.home import files
from groupwise.storage.record import checkpoint_files, groups, record_check, run_files, states
from groupwise.storage.record.recent import NEEDED
from groupwise.storage.registry import registry
from groupwise.storage.spec.words.number_words import count_words

POLL, POLL_ENDED = 2000, 10_000  # ms
# Between two looks at the same run, however many watch it: so many times as long as one took, and no more seconds.
REST, LONGEST_REST = 10, 2.0
YOUNG = 10 * NEEDED  # steps of a stage: a look at no more of them takes little
PASTS = 3  # in how many ways one evidence is said: of a run that trains, waits to go on, or is over
KEPT = 64  # runs whose last report is kept
WAITS = {
    states.QUEUED: "Diagnostics start with the first step.",
    states.STARTING: "Diagnostics start with the first step.",
}
# What a person chooses who follows advice, by the last part of the field of a new run that it leads to.
CHOOSE = {
    "source": "choose the data", "rewards": "choose the rewards", "id": "choose the model",
    "max_steps": "choose how many", "system_prompt": "write it", "prompt_template": "write it",
    "answer_column": "choose it",
}  # fmt: skip
INSTEAD = {"groups/tied": "frac_reward_zero_std"}  # what the chart of one metric shows where only the other is there
SEEN = 4  # groups of a prompt, at least, before it is called never solved
LEVELS = {"problem": "Problem", "warning": "Warning", "suspicion": "Suspicion", "calm": "Good to know"}
TEMPLATE = """
<section class="panel" aria-label="Diagnostics"><div class="row stands"><i class="sign" aria-hidden="true"></i>
<p class="headline" role="status">Loading the diagnostics…</p><span class="mut xs at"></span></div>
<p class="s next" hidden></p>
<div class="verdicts"></div><details class="more" hidden><summary class="s"></summary>
<div class="verdicts"></div></details>
<details class="calm" hidden><summary class="s mut"></summary><ul class="s"></ul></details></section>
"""
_reports: dict[str, tuple[int, float, dict[str, Any]]] = {}  # run → (seq, when it may be looked at again, report)
_around: tuple[float, Surroundings] | None = None
_lock = threading.Lock()


@answer
def diagnose_run(payload: Payload) -> dict[str, Any]:
    """How the run stands and its verdicts, where anything was recorded since number `after`; `seq` is what to give as
    `after` next time, and `tells_of` the number of the last batch that they tell of. No `headline`: it ended before
    anything was logged, as the Overview says."""
    run = run_of(payload)
    live_now = is_ongoing(run)
    out: dict[str, Any] = {"poll": POLL if live_now else POLL_ENDED}
    try:
        record = record_of(run)
    except Unanswerable as reason:
        gone = not run.folder.path.is_dir()
        said = str(reason) if gone else WAITS.get(run.state, WAITS[states.STARTING] if live_now else "")
        waiting = {"kind": "waiting", "level": "waiting", "headline": said, "at": ""}
        return out | waiting | {"seq": 0, "tells_of": 0, "verdicts": [], "calm": []}
    with record_check.one_look(record):
        # Another number where the run is over, or waits to go on: the same evidence is then said of the past.
        past = 1 if is_restarting(run) else 0 if live_now else 2
        newest = evidence_reader.newest_batch(record)
        seq = PASTS * newest + past
        if seq == whole_number(payload, "after", -1):
            return out | {"seq": seq}
        return out | _report(run, seq, newest)


def _report(run: registry.Run, seq: int, newest: int) -> dict[str, Any]:
    """The report at this point of the record, or the last one where that is only a moment old and the run goes on, or
    does not, as it did then: what stands on the page is not to tell of a run that trains where it is over."""
    with _lock:  # twenty who watch one run have it looked at once
        known = _reports.get(run.id)
        alike = known is not None and known[0] % PASTS == seq % PASTS
        if known and (known[0] == seq or (alike and time.monotonic() < known[1] and known[0] < seq)):
            return known[2]
        begun = time.monotonic()
        failed = how_it_failed(run)
        evidence = evidence_of(run, failed)
        report = without_fix_of(_examined(evidence), failed.get("function"))
        follows = None if is_ongoing(run) else report.follows
        report = without_empty_charts(report, metrics_logged(run))
        found = draw_report(run.id, report, evidence.step) | {"seq": seq, "tells_of": newest}
        if found["at"] and is_restarting(run):
            found["at"] = f"before the resume, {found['at']}"
        found["next"] = next_of(run, follows)
        found["pills"] = _tell_head(run, report)
        if evidence.ended and not (evidence.curves or report.verdicts or evidence.held_out_before is not None):
            found["headline"] = ""
        _reports.pop(run.id, None)
        now = time.monotonic()
        rest = 0.0 if _window_grows(evidence) else min(LONGEST_REST, REST * (now - begun))
        _reports[run.id] = (seq, now + rest, found)
        while len(_reports) > KEPT:
            _reports.pop(next(iter(_reports)))
    return found


def _window_grows(e: Evidence) -> bool:
    """Whether “now” is soon the mean of more logged steps, so that what was said a moment ago is of others than the
    figures beside it are."""
    return e.logs < NEEDED and e.step - e.since <= YOUNG


def _tell_head(run: registry.Run, report: Report) -> dict[str, dict[str, str]]:
    """The pill in the head by the states of a run that trains, in the words of this report, which all pages then have
    beside its state; empty of others, of which what they came to is kept."""
    if run.state not in states.TRAINS:
        return {}
    words, level = verdict_meanwhile(report)
    run_facts.take_verdict(run, words, level)
    return {
        state: {"label": visible_text(state_badge.label(state, words)), "kind": state_badge.kind(state, level)}
        for state in states.TRAINS
    }


def _examined(evidence: Evidence) -> Report:
    """What there is to say: of a run that is to go on nothing of how long it was, where that is all there is."""
    report = examine(evidence)
    if report.kind != "waiting" or not evidence.goes_on:
        return report
    return examine(replace(evidence, ended=False, goes_on=False, broke_off=False))


def evidence_of(run: registry.Run, failed: dict[str, Any]) -> Evidence:
    """What there is to go by: the record, and how the run ended. `failed`: how_it_failed."""
    found = evidence_reader.gather(run.folder.db, run_files.spec_of(run.folder), _surroundings())
    goes_on, lost = is_restarting(run), failed.get("cause") == run_files.WEIGHTS
    ended = goes_on or not is_ongoing(run)
    unsolved = unsolved_prompts(run) if ended else None
    how = run.state if run.state in states.ENDED else run.ended_state
    broke_off = ended and how in TOLD
    return replace(
        found, ended=ended, goes_on=goes_on, broke_off=broke_off, weights_lost=lost, unsolved=unsolved
    )  # fmt: skip


def drawn_verdict(run: registry.Run, key: str) -> dict[str, Any] | None:
    """The run's verdict of this key, as its Overview has it; None where it has none by now. Raises Unanswerable where
    there is no record that can be read."""
    record_of(run)
    evidence = evidence_of(run, how_it_failed(run))
    drawn = draw_report(run.id, examine(evidence), evidence.step)["verdicts"]
    return next((one for one in drawn if one["key"] == key), None)


def how_it_failed(run: registry.Run) -> dict[str, Any]:
    """Its exit record, where it failed; empty of others."""
    return (run_files.exit_record(run.folder, run.attempt) if run.state == states.FAILED else None) or {}


def unsolved_prompts(run: registry.Run) -> Unsolved | None:
    """How many prompts of the run were never solved, as its Statistics count it; None where that cannot be said."""
    try:
        with reading.open_statistics(run.folder.db, "train") as statistics:
            functions = {name: number for number, name, _ in statistics.functions()}
            name, threshold = solved_criterion(run, list(functions))
            scored = statistics.solved_by_group(functions[name], threshold) if name in functions else []
    except sqlite3.OperationalError:  # an older record, without what is counted here
        return None
    never, prompts = pass_at_k.count_never_solved(pass_at_k.by_prompt(scored), SEEN)
    return Unsolved(never, prompts, SEEN, name)


def next_of(run: registry.Run, follows: Next | None) -> dict[str, Any] | None:
    """What to do next, as the page draws it: a `label` that leads to a new run (`go`; `trained`: from what this one has
    trained) or to a tab, and `why`."""
    if follows is None:
        return None
    if isinstance(follows.to, Link):
        return {"label": follows.to.label, "why": follows.why, "tab": follows.to.tab, "params": follows.to.params}
    folder = run.folder
    whole = folder.final if files.is_folder(folder.final) else checkpoint_files.latest_sealed(folder.checkpoints)
    stage = groups.newest_stage(folder.db)
    trained = start_from(run, whole, stage) if follows.trained and whole else ""
    label = _say_more_steps(run, stage, whole) if trained and whole else follows.to.label
    told = {"label": label, "why": follows.why, "trained": bool(trained)}
    return told | {"go": trained or _change(run.id, follows.to)["go"]}


def _say_more_steps(run: registry.Run, stage: int, whole: Path) -> str:
    """How many steps a new run makes that goes on from this model with these settings; without a number where it has
    several stages to train, or its epochs say how many."""
    spec = run_files.spec_of(run.folder)
    left = spec.by_stage()[max(stage, 1) - 1 :] if spec else []
    steps = left[0].training.get("max_steps") if len(left) == 1 else None
    more = count_words(steps, "more step") if isinstance(steps, int) and steps > 0 else "more steps"
    of_stage = f" of stage {stage}" if stage > 1 else ""
    return f"{more}{of_stage} from {'the trained model' if whole == run.folder.final else 'its last checkpoint'}"


def metrics_logged(run: registry.Run) -> set[str]:
    """The names of all metrics that the run has logged."""
    with record_check.read_record(run.folder.db) as record:
        return set(keys_of(record))


def without_empty_charts(report: Report, logged: set[str]) -> Report:
    """The report without links to charts that have nothing to show: of a run with beta 0, that of KL."""

    def rest(verdict: Verdict) -> Verdict:
        shown = [link for link in verdict.evidence if not link.chart or {link.chart, INSTEAD.get(link.chart)} & logged]
        return replace(verdict, evidence=tuple(shown))

    return replace(report, verdicts=tuple(map(rest, report.verdicts)), calm=tuple(map(rest, report.calm)))


def without_fix_of(report: Report, function: str | None) -> Report:
    """The report without the button to fix this reward function, which ended the run: the head of the page offers that
    already."""
    if not function:
        return report

    def rest(verdict: Verdict) -> Verdict:
        return replace(verdict, changes=tuple(one for one in verdict.changes if one.edit_reward != function))

    return replace(report, verdicts=tuple(rest(verdict) for verdict in report.verdicts))


def _surroundings() -> Surroundings:
    """What the worker published, read again each minute."""
    global _around
    if _around is None or time.monotonic() - _around[0] > 60:
        _around = (time.monotonic(), published_surroundings())
    return _around[1]


def _say_means(report: Report) -> str:
    """What the figures of a report are means of: so many logged steps, or the steps that several of them are of."""
    if report.spans:
        start, now = (f"{first:,}–{last:,}" for first, last in report.spans)
        return f"means of steps {start} and {now}" if report.begin else f"mean of steps {now}"
    if report.begin == 1:
        return f"means of the first logged step and the last {report.steps}"
    last = f"the last {report.steps} logged steps"
    return f"means of the first {report.begin} and {last}" if report.begin else f"mean of {last}"


def draw_report(run_id: str, report: Report, step: int) -> dict[str, Any]:
    """A report as the page draws it. Names and messages in it are whatever a person or a model made them."""
    until = f", up to step {report.until:,}" if report.until < step and not report.spans else ""  # nothing since
    means = f" · {_say_means(report)}{until}" if report.steps > 1 or report.spans else ""
    return {
        "kind": report.kind,
        "level": report.level,
        "headline": visible_text(report.headline),
        "opening": visible_text(report.opening),
        "at": f"at step {step:,}{means}" if step else "",
        "verdicts": [_verdict(run_id, verdict) for verdict in report.verdicts],
        "calm": [_verdict(run_id, verdict) for verdict in report.calm],
    }


def _verdict(run_id: str, verdict: Verdict) -> dict[str, Any]:
    return {
        "key": verdict.key,
        "level": verdict.level,
        "label": LEVELS[verdict.level],
        "title": visible_text(verdict.title),
        "sentence": visible_text(verdict.sentence),
        "threshold": visible_text(verdict.threshold),
        "source": visible_text(verdict.source),
        "links": [
            {"label": visible_text(link.label), "tab": link.tab, "params": link.params, "chart": link.chart}
            for link in verdict.evidence
        ],
        "changes": [_change(run_id, change, verdict.key) for change in verdict.changes],
    }


def _change(run_id: str, change: Change, verdict: str = "") -> dict[str, str]:
    """A button: to a new run with that changed, or to the workbench with what this run wrote and the `verdict`. With
    `choose`, the words of a link: advice, which changes nothing by itself."""
    label = visible_text(change.label)
    if change.edit_reward is not None:
        named = [("name", change.edit_reward)] if change.edit_reward else []
        told = [("verdict", verdict)] if verdict else []
        asked = urlencode([*named, ("run", run_id), ("view", "rescore"), *told])
        return {"label": label, "to": "Rewards", "go": f"/rewards?{asked}"}
    sets = [("set", f"{field}={setting_text(value)}") for field, value in change.settings.items()]
    advice = {} if sets else {"choose": CHOOSE[change.field.rpartition(".")[2]], "at": change.field}
    at = [("at", change.field or next(iter(change.settings)))]
    why = [("verdict", verdict)] if advice and verdict else []  # which New run names: nothing is changed there
    return {"label": label, "to": "New run", "go": f"/new?{urlencode([('from', run_id), *sets, *at, *why])}", **advice}


def doctor() -> gr.HTML:
    """The doctor's part of the Overview."""
    return live(
        "pages/run/doctor",
        diagnose_run,
        template=TEMPLATE,
        elem_id="part-doctor",
        elem_classes=["gw-part", "gw-part-overview"],
    )
