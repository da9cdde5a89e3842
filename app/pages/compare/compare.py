"""Compare: several runs over each other, what differs between them, and the same prompts side by side."""

import functools
import itertools
import math
from typing import Any

import gradio as gr

from groupwise.app.core import format, run_facts, run_query
from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.compare.prompts import prompt_in_runs, shared_prompts
from groupwise.app.pages.compare.runs import MOST, badge_of, line_styles, open_run_record, run_ids, run_spec
from groupwise.app.pages.compare.settings import compare_code, compare_settings, defaults
from groupwise.app.ui import run_colours
from groupwise.app.ui.figures import metric_label
from groupwise.app.ui.live import Payload, answer, live, run_by_id, text, texts
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis import best_possible
from groupwise.storage.analysis.compare import alike, curves, finals
from groupwise.storage.analysis.compare import code as codes
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.library import right
from groupwise.storage.record import lineage, recent
from groupwise.storage.registry import registry

POLL, POLL_ENDED = 2000, 15000  # ms
MOST_CHARTS = 24
FOUND = 8  # runs that the search for another one shows
# The charts of the first look: metric, title, what stands under it (of solved
# the page says by which functions: measure.js), unit (“%” multiplies by 100).
CURATED = (
    ("reward", "reward", "mean over all completions since the point before", ""),
    ("eval_reward", "held-out reward", "on prompts that are not trained on", ""),
    ("groups/solved", "solved", "", "%"),
    ("groups/tied", "tied groups", "no learning signal", "%"),
    ("kl", "KL", "distance from the reference model", ""),
    ("entropy", "entropy", "near 0: always the same answer", ""),
    ("completions/mean_length", "length", "tokens of a completion", ""),
    ("grad_norm", "gradient norm", "how large the gradient is", ""),
)
TEMPLATE = """
<div class="row between top"><h1>Compare</h1><div class="adder"><input class="input" type="search" autocomplete="off"
placeholder="add a run by name, state, model" aria-label="Add a run"><div class="found panel" hidden></div></div></div>
<p class="s problem" role="status" hidden></p>
<p class="s warn no-such" role="status" dir="auto" hidden></p><div class="legend" role="group" aria-label="Runs"></div>
<p class="s mut kept" role="status" hidden><span></span> <button class="link s every" type="button">Show
all</button></p><p class="s mut hint" hidden></p><p class="s mut stale" role="status" hidden><span></span>
<button class="link s" type="button"></button></p>
<section class="choose panel" aria-label="Choose runs" hidden><h2>Choose runs to compare</h2><p class="lead">Overlay
the curves of several runs, compare their settings and final metrics, and read their answers to the same
prompts.</p><div class="row between"><p class="s mut said">Choose two or more of the newest runs,
or search for others above. On the Runs page any can be ticked.</p><a class="btn pri go"
aria-disabled="true">Compare</a></div>
<div class="offers" role="group" aria-label="Runs"></div></section>
<div class="whole" hidden><ul class="short s several" aria-label="In short"></ul>
<section class="results"><h2>Final metrics <span class="mut xs best-of"></span>
<button class="link s csv" type="button" aria-label="Download the final metrics as CSV">CSV</button></h2>
<p class="s mut about">Reward, solved, KL, length and tied groups are means over a run’s last steps: those beside its
name, or beside the figure. Held-out reward is that of its last evaluation.</p>
<div class="panel flush scroll" tabindex="-1"><table class="finals"></table></div></section>
<section><div class="row controls steer"><h2>Curves</h2><span class="s mut">over</span><span class="switch s x"
role="group" aria-label="Curves over"><button data-x="step">step</button><button data-x="tokens">tokens</button>
<button data-x="time">time</button><button data-x="attempt"
title="Each start and each resume from its own first step">steps since start</button>
</span><label class="s mut">grouped by <select class="input s by" aria-label="Group the runs by"></select></label>
<span class="switch s band" role="group" aria-label="What the band is" hidden><button data-band="range">min–max</button>
<button data-band="std">± std</button></span>
<label class="s mut check" title="Charts of values below 0 and of shares stay as they are"><input
type="checkbox" class="log"> log scale</label><span class="s mut smoothing"><label class="check"><input type="checkbox"
class="smooth"> smoothed</label><span class="reach"></span></span>
<button class="link s all-of-it" type="button" hidden>Show all steps</button></div>
<p class="s mut unlaid" hidden></p><div class="grid two charts"></div><details class="all-metrics"><summary>All
metrics <span class="mut s"></span></summary><input class="input" type="search" placeholder="search metrics"
aria-label="Search metrics"><div class="names"></div></details></section>
<section class="differ several"><h2>Settings that differ <span class="mut xs">faint: the default</span>
<button class="link s csv" type="button" aria-label="Download the settings that differ as CSV" hidden>CSV</button></h2>
<p class="s mut settled"></p>
<div class="panel flush scroll" tabindex="-1"><table class="settings"></table></div>
<button class="link s more" type="button" hidden></button></section>
<section class="sweep several"><div class="row controls"><h2>Settings vs. final metrics <span class="mut xs">one line a
run; drag along an axis to choose some</span> <button class="link s every" type="button" hidden>Show all</button></h2>
<details class="axes s"><summary>Settings</summary><div class="panel"><div class="boxes" role="group"
aria-label="Settings that are axes"></div><button class="link s" type="button" hidden>Suggested ones</button></div>
</details></div><p class="s mut why"></p><p class="s mut aside" hidden></p>
<div class="panel scroll" tabindex="-1"><div class="lay"><div class="plot"></div>
<i class="mark" hidden></i></div></div></section>
<section class="code several"><h2>Reward code</h2><div class="row pair s"><label class="mut">from <select
class="input s a" aria-label="Reward code of this run"></select></label><label class="mut">to <select class="input s b"
aria-label="Against the reward code of this run"></select></label></div><div class="functions"></div></section>
<section class="alike several"><div class="row controls"><h2>The same prompts <span class="mut xs">solved at first → at
last</span></h2><input class="input s" type="search"
placeholder="words in the prompt" aria-label="Search prompts"><select class="input s order"
aria-label="Order of the prompts"><option value="">in most runs first</option><option value="differ">largest difference
first</option></select>
<button class="link s csv" type="button" aria-label="Download the shared prompts as CSV" hidden>CSV</button></div>
<p class="s mut told">Loading prompts…</p><div class="panel flush scroll prompts" tabindex="-1"><table></table></div>
<div class="one"></div></section></div>
"""
SHARES = ("completions/clipped_ratio", "frac_reward_zero_std", "groups/")


@answer
def compare_runs(payload: Payload) -> dict[str, Any]:
    """The runs that `ids` name: how each is drawn, its lines over `x` and its finals.

    `metrics`: names to draw; none: the curated ones. `zoom`: only from here to there on the axis. `seen`: run
    id → the `seq` of its last answer, with which a run that recorded nothing since comes without lines and finals.
    """
    ids, seen = run_ids(payload), payload.get("seen")
    seen = seen if isinstance(seen, dict) else {}
    axis = text(payload, "x") if text(payload, "x") in curves.AXES else "step"
    wanted = metric_names(payload) or [name for name, *_ in CURATED]
    runs = [(run_id, run_by_id(run_id)) for run_id in ids]
    names: set[str] = set()
    drawn = [
        look | lines_of_run(run, wanted, axis, zoom(payload), seen.get(look["id"]), names)
        for look, (_, run) in zip(line_styles(runs), runs, strict=True)
    ]
    given = payload.get("ids")
    return {
        "runs": drawn, "names": sorted(names),
        "labels": {name: label for name in names if (label := metric_label(name))},
        "left_out": max(0, len(given) - MOST) if isinstance(given, list) else 0,
        "charts": [chart(name) for name in wanted if name in names or metric_names(payload)],
        "dashes": run_colours.DASHES,
        "poll": POLL if any(run.get("live") for run in drawn) else POLL_ENDED,
    }  # fmt: skip


def metric_names(payload: Payload) -> list[str]:
    """The metrics that a payload names, each once."""
    return list(dict.fromkeys(texts(payload, "metrics")))[:MOST_CHARTS]


def zoom(payload: Payload) -> curves.Span | None:
    """The stretch of the axis that is in sight; None: all of it."""
    ends = payload.get("zoom")
    if not isinstance(ends, list) or len(ends) != 2:
        return None
    low, high = (float(end) if type(end) in (int, float) and 0 <= end < 2**62 else math.nan for end in ends)
    return (low, high) if low < high else None


def lines_of_run(
    run: registry.Run | None, wanted: list[str], axis: str, span: curves.Span | None, seen: Any, names: set[str]
) -> dict[str, Any]:
    """One run's lines and finals, if there is anything new; its metrics' names are added to `names`."""
    if run is None:
        return {}
    try:
        with open_run_record(run) as record:
            names.update(curves.keys_of(record))
            found = new_lines(record, wanted, axis, span, seen)
            if "final" in found:
                found |= with_marks(found, alike_marks(run, record)) | {"most": most_of_reward(run)}
            return found
    except Unanswerable as reason:
        return {"problem": visible_text(str(reason)), "seq": -1, "curves": {}, "final": {"step": run.step}}


def alike_marks(run: registry.Run, record: Database) -> dict[str, Any]:
    """By what the run's figures can be compared with another's (storage.analysis.compare.alike); nothing where its
    settings cannot be read: then they cannot."""
    try:
        spec, stage = run_spec(run), recent.stage_began(record)[1]
    except Unanswerable:
        return {}
    marks = alike.reward_marks(spec, codes.code_by_function(run.folder), stage)
    if "solved" in marks:
        teller = right.target_borne_out(record, spec, stage, run.folder.rewards)
        if teller is None:
            del marks["solved"], marks["solved_of"]
        else:
            marks["solved_by"] = visible_text(teller[0])
    return marks | alike.measure_marks(spec, defaults(), stage)


def most_of_reward(run: registry.Run) -> float | None:
    """The most that the run's total reward can come to; None where that is not known."""
    try:
        spec = run_spec(run)
    except Unanswerable:
        return None
    return best_possible.most_of_run(spec, functools.partial(right.code_of_reward, run.folder.rewards))


def with_marks(found: dict[str, Any], marks: dict[str, Any]) -> dict[str, Any]:
    """The marks beside a run's lines and finals. Where nothing says what is right, nothing is called solved, though an
    older version may have recorded it."""
    if not marks or "solved" in marks:
        return {"alike": marks}
    lines = {name: line for name, line in found["curves"].items() if "groups/solved" not in name}
    return {"alike": marks, "curves": lines, "final": found["final"] | {"solved": None}}


def new_lines(record: Database, wanted: list[str], axis: str, span: curves.Span | None, seen: Any) -> dict[str, Any]:
    """A run's lines and finals, or its `seq` alone where nothing was recorded since `seen`."""
    seq = curves.newest_seq(record)
    if seq == seen:
        return {"seq": seq}
    counting = lineage.stretches(record)
    lines = curves.read_curves(record, wanted, axis, counting, span)
    return {"seq": seq, "curves": lines, "final": finals.final_values(record, counting)}


def chart(name: str) -> dict[str, str]:
    """How a metric's chart is headed."""
    for metric, title, note, unit in CURATED:
        if metric == name:
            return {"name": name, "title": title, "note": note, "unit": unit}
    share = name.removeprefix("eval_").startswith(SHARES) and not name.endswith(("/spread", "/best", "/worst"))
    return {"name": name, "title": visible_text(name), "note": "", "unit": "%" if share else ""}


@answer
def search_runs(payload: Payload) -> dict[str, Any]:
    """Runs to add: the newest ones with these words in what is searched of a run, without those in `ids`; `many`: as
    many as can be compared."""
    ids, words = run_ids(payload), run_query.words_of(text(payload, "words"))
    every = registry.list_runs(curves=False)
    there = [run for run in every if run.id in ids]
    matching = (run for run in every if run.id not in ids and run_query.matches(run, words))
    found = list(itertools.islice(matching, MOST if payload.get("many") is True else FOUND))
    colours, facts = run_colours.colours_of(there, found), run_facts.outcomes_of(found)
    return {
        "runs": [
            {"id": run.id, "name": visible_text(format.shorten(run.name, 60)), "colour": colours[run.id],
             "about": run_query.state_and_age(run),
             "reward": format.number(run.reward), "age": run_query.age_words(run), "there": True,
             **badge_of(run, facts)}
            for run in found
        ],
        "empty": not every,
    }  # fmt: skip


def compare() -> gr.HTML:
    """The whole of the Compare page."""
    return live(
        "pages/compare/compare",
        compare_runs,
        search_runs,
        compare_settings,
        compare_code,
        shared_prompts,
        prompt_in_runs,
        template=TEMPLATE,
    )
