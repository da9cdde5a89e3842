"""The Runs page: the table of runs, drawn on the server, asked for again every second and redrawn where it changed."""

import time
import zlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import gradio as gr

from groupwise.app.core import format, run_facts, run_query, strays
from groupwise.app.pages.new import launch
from groupwise.app.pages.run_list import changes, choices, columns, rows, search
from groupwise.app.pages.run_list.columns import Row
from groupwise.app.ui import run_colours, run_labels
from groupwise.app.ui.live import Payload, answer, live, text, texts, whole_number
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis import outcome
from groupwise.storage.home import paths
from groupwise.storage.record import states
from groupwise.storage.record.run_files import LONGEST_NOTE
from groupwise.storage.registry import registry, trash
from groupwise.storage.registry.messages.facts import Hardware
from groupwise.storage.registry.registry import Run
from groupwise.storage.spec.spec import MOST_NAME

PAGE, MOST = 100, 400  # rows drawn at first, and as many more at a time; at most: the search finds the others
NEWEST = "-created"
DELETED = "deleted"
UNDER_WAY = (states.RUNNING, states.STARTING, states.STOPPING, states.QUEUED)  # as they are counted below
FEW = 2  # runs, of who may be new here, deleted ones too
NAMED = 10  # of the chosen runs that are in no row
TEMPLATE = f"""
<div class="row between"><h1>Runs</h1><div class="row tools">
<input class="input search" type="search" placeholder="search names, tags, notes…" aria-label="Search runs"
title="Searches names, tags, notes, states with verdicts, models, data, and run ids from the day on
(20261126-…). {search.HINT} / jumps here">
<a class="btn pri" href="/new">New run</a></div></div>
<div class="row between filters"><div class="row chips" role="group" aria-label="Show runs in these states"></div>
<div class="row tight view"><label class="s mut sorter">sort <select class="input s"
aria-label="Sort by"></select></label><button class="btn s columns" type="button" aria-haspopup="dialog"
aria-expanded="false">Columns</button></div></div>
<p class="s warn no-such" role="status" dir="auto" hidden></p>
<p class="s problem of-search" role="status" dir="auto" hidden></p>
<div class="panel chooser" role="dialog" aria-label="Columns" hidden><div class="row between"><input
class="input s" type="search" placeholder="search settings and metrics" aria-label="Search columns"><span
class="row tight"><button class="link s usual" type="button">Usual columns</button><button class="btn s done"
type="button">Done</button></span></div><div class="offered"></div></div>
<p class="s mut kept-for" hidden>A deleted run stays here for 24 hours. Restored, it is as it was, with its record,
checkpoints, note and tags. After that its folder is removed and its disk space is free.</p>
<div class="panel flush scroll" tabindex="-1"><table data-name="{MOST_NAME}"
data-note="{LONGEST_NOTE}"><thead></thead><tbody></tbody></table></div>
<p class="s mut none" hidden></p>
<p class="more" hidden><button class="btn s" type="button"></button></p><p class="s mut limits" hidden></p>
<p class="s mut strays" dir="auto" hidden></p>
<details class="s mut every-stray" hidden><summary>Show all of them</summary><ul dir="auto"></ul></details>
<div class="panel choosing layer row" role="group" aria-label="Chosen runs" hidden><b class="many"></b><a
class="btn pri go" href="/compare"></a><button class="btn tag" type="button"></button>
<button class="btn stop" type="button"></button>
<button class="btn restore" type="button"></button><button class="btn delete" type="button"></button>
<button class="btn erase" type="button"></button>
<button class="link s every" type="button"></button><button class="btn quiet clear" type="button">Clear</button>
<span class="s mut words" role="status"></span><p class="s problem of-bar" role="alert" hidden></p></div>
<p class="s mut foot"><span class="counts"></span> <span class="new">New here?
<button class="link quickstart" type="button">Run the quickstart</button>:
a real GRPO run with a tiny model, about a minute on an idle laptop, no GPU.</span></p>
<section class="empty panel" hidden><h1>Groupwise</h1>
<p class="lead">Configure, launch and watch GRPO runs, and read what every group of completions earned.</p>
<p>In GRPO a language model answers each prompt several times, reward functions score the answers, and training makes
what scored better than the rest more likely.</p>
<p class="s mut hardware"></p>
<div class="row"><button class="btn pri quickstart" type="button">Run the quickstart</button><a class="btn quiet"
href="/new">Set up a run</a></div><p class="s mut">The quickstart trains a tiny model on this machine: about a minute on
an idle laptop, no GPU. All runs train with TRL, Hugging Face's library for it.</p></section>
<p class="s problem of-page" role="alert" hidden></p>
<div class="undo layer" role="status" hidden><span></span><button class="back" type="button"
title="Ctrl+Z or ⌘Z">Undo</button><button
class="where" type="button" title="Deleted runs can be restored there for 24 hours">See Deleted</button><button
class="shut" type="button" aria-label="Close" title="Close">×</button></div>
<dialog class="ask"><form method="dialog"><h2></h2><p></p><label class="s" hidden><span></span><input class="input"
autocomplete="off"></label><div class="row end"><button value="cancel" class="btn">Cancel</button><button value="yes"
class="btn pri yes"></button></div></form></dialog>
"""


@dataclass(frozen=True)
class Asked:
    """What a page asks to see: words, states, columns, an order, how many rows, which runs are chosen, and which are
    being edited, whose rows stay."""

    terms: list[search.Term]
    states: list[str]
    keys: list[str]
    sort: str
    shown: int
    chosen: list[str]
    editing: list[str]

    @classmethod
    def of(cls, payload: Payload) -> "Asked":
        """From what a page sent, of which anything may be wrong."""
        sort = text(payload, "sort")
        known = columns.column_of(sort.removeprefix("-")) is not None
        return cls(
            search.terms_of(text(payload, "search")),
            [state for state in texts(payload, "states") if state in run_query.STATES],
            columns.columns_asked(texts(payload, "columns", columns.LONGEST)),
            sort if known else NEWEST,
            max(PAGE, min(MOST, whole_number(payload, "shown", PAGE))),
            texts(payload, "chosen")[: run_labels.MOST],
            texts(payload, "editing")[: run_labels.MOST],
        )


@answer
def draw_runs(payload: Payload) -> dict[str, object]:
    """The table as HTML, the chips of states with their counts, and the words under it; and a mark: with the same
    `mark` given, only {same: true}."""
    asked, now = Asked.of(payload), time.time()
    if payload.get("deleted") is True:
        return _unless_same(payload, draw_deleted(asked, now, text(payload, "search")))
    everything = registry.list_runs(curves=False)
    searched = search.find_runs(everything, asked.terms)
    there = searched.runs
    found = in_states(there, asked.states)
    shown, all_known = sort_rows(found, everything, asked, now)
    all_known = all_known and searched.is_settled
    colours = row_colours([row.run for row in shown], everything, asked.chosen[: run_colours.PALETTE])
    ids = {run.id for run in everything}
    stay = ids.intersection(asked.editing)
    seen = stay | {row.run.id for row in shown}
    odd = [] if asked.terms or asked.states else strays.found_strays(ids)
    return _unless_same(payload, {
        "head": rows.table_head(asked.keys, asked.sort),
        "rows": "".join(rows.run_row(row, asked.keys, colours[row.run.id]) for row in shown),
        "chips": chips(everything, there, asked.states, trash.count_deleted(), count_gone(asked)),
        "counts": counts_line(everything, there, stay | {run.id for run in found}, seen),
        "limits": limits_words(len(found), len(shown), list(colours.values()).count(run_colours.NONE)),
        "more": more_words(len(found), len(shown)), "found": len(found), "sort": asked.sort,
        "sorts": sorts(asked.keys), "columns": asked.keys, "settled": all_known, "empty": not everything,
        "newcomer": is_newcomer(everything),
        "faults": visible_text(" ".join(searched.faults)),
        "nothing": "" if found else nothing_words(payload, asked), "strays": visible_text(strays.stray_words(odd)),
        "every_stray": [visible_text(one) for one in odd[: strays.MOST]] if len(odd) > strays.NAMED else [],
        "stoppable": stoppable(everything, {*(row.run.id for row in shown), *asked.chosen}),
        "training": training(everything, {*(row.run.id for row in shown), *asked.chosen}),
        "gone": [run_id for run_id in asked.chosen if run_id not in ids], "hardware": hardware_words(),
        "elsewhere": names_elsewhere(asked.chosen, [row.run for row in shown], everything),
    })  # fmt: skip


def is_newcomer(everything: Sequence[Run]) -> bool:
    """Whether who is here may not know the quickstart yet: few runs were launched, and none has finished."""
    finished = any(run.state == states.FINISHED for run in everything)
    return not finished and len(everything) + trash.count_deleted() <= FEW


def stoppable(everything: Sequence[Run], of: Collection[str]) -> list[str]:
    """The ids of those of these runs that train or wait."""
    return [run.id for run in everything if run.id in of and run.state in {states.QUEUED, *states.LIVE}]


def training(everything: Sequence[Run], of: Collection[str]) -> list[str]:
    """The ids of those of these runs that have to be stopped before they can be deleted."""
    return [run.id for run in everything if run.id in of and run.state not in trash.IDLE]


def _unless_same(payload: Payload, drawn: dict[str, object]) -> dict[str, object]:
    mark = zlib.crc32(repr(drawn).encode("utf-8", "replace"))
    return {"same": True} if payload.get("mark") == mark else {"mark": mark, **drawn}


def in_states(runs: Sequence[Run], wanted: Sequence[str]) -> list[Run]:
    """The runs in one of these states; all, where none is named."""
    return [run for run in runs if run.state in wanted] if wanted else list(runs)


def sort_rows(found: Sequence[Run], everything: Sequence[Run], asked: Asked, now: float) -> tuple[list[Row], bool]:
    """The rows to draw, of the runs in their order; and whether what they came to is all known by now. Only what is
    drawn, or sorted by, is looked for."""
    ordered, sorted_by = list(found), []
    if asked.sort != NEWEST:  # as they are listed
        key = asked.sort.removeprefix("-")
        by = columns.column_of(key)
        assert by is not None
        sorted_by = list(found) if columns.needs_facts((), key) else []
        values = [by.value(row) for row in make_rows(found, everything, now, with_facts=bool(sorted_by))]
        ordered = run_query.in_order(found, values, asked.sort.startswith("-"))
    shown = ordered[: asked.shown]
    curves = registry.curves_of([run.id for run in shown])
    shown = [replace(run, spark=curves.get(run.id, [])) for run in shown]
    made = make_rows(shown, everything, now, with_facts=True)
    # What came to be known since the rows were made is not in them.
    return made, run_facts.are_all_known(sorted_by or shown) and all(row.facts is not None for row in made)


def make_rows(runs: Sequence[Run], everything: Sequence[Run], now: float, *, with_facts: bool) -> list[Row]:
    """Runs as rows."""
    facts = run_facts.outcomes_of(runs) if with_facts else {}
    places = run_query.queue_places(everything)
    defaults = choices.setting_defaults() if with_facts else {}
    return [Row(run, facts.get(run.id), now, places.get(run.id), defaults) for run in runs]


def row_colours(shown: Sequence[Run], everything: Sequence[Run], chosen: Sequence[str]) -> dict[str, str]:
    """The colours of the rows: those of the chosen runs are what they have in Compare."""
    by_id = {run.id: run for run in everything} if chosen else {}
    return run_colours.colours_of([by_id[run_id] for run_id in chosen if run_id in by_id], shown)


def draw_deleted(asked: Asked, now: float, words: str) -> dict[str, object]:
    """The deleted runs, the last deleted first: what can be restored. `words`: the search as it was typed."""
    every = trash.deleted_runs()
    gone, faults = deleted_found(every, asked)
    ids = {one.run.id for one in every}
    keys = ["reward", "step", "data", "created"]
    drawn = gone[: asked.shown]
    kept = kept_of_deleted([one.run for one in drawn])
    made = [rows.deleted_row(Row(one.run, kept.get(one.run.id), now), keys, one.at) for one in drawn]
    everything = registry.list_runs(curves=False)
    there = search.find_runs(everything, asked.terms).runs
    return {
        "head": rows.deleted_head(keys), "rows": "".join(made), "sort": "", "sorts": [], "columns": asked.keys,
        "chips": chips(everything, there, [], len(every), len(gone), deleted=True),
        "limits": limits_words(len(gone), len(drawn), 0),
        "counts": f"{format.plural(len(gone), 'deleted run')}.",
        "more": more_words(len(gone), len(drawn)), "found": len(gone), "settled": True, "empty": False,
        "newcomer": False, "faults": visible_text(" ".join(faults)), "strays": "",
        "nothing": "" if gone else nothing_of_deleted(words if every else ""),
        "every_stray": [], "stoppable": [], "training": [], "hardware": "",
        "gone": [run_id for run_id in asked.chosen if run_id not in ids],
        "elsewhere": names_elsewhere(asked.chosen, [one.run for one in drawn], [one.run for one in every]),
    }  # fmt: skip


def names_elsewhere(chosen: Sequence[str], shown: Sequence[Run], everything: Sequence[Run]) -> list[dict[str, str]]:
    """The first chosen runs that are in no row, by id and name."""
    there, by_id = {run.id for run in shown}, {run.id: run.name for run in everything}
    hidden = [run_id for run_id in chosen if run_id in by_id and run_id not in there]
    return [{"id": one, "name": visible_text(format.shorten(by_id[one], 40))} for one in hidden[:NAMED]]


def count_gone(asked: Asked) -> int:
    """How many deleted runs a page's words leave."""
    return len(deleted_found(trash.deleted_runs(), asked)[0]) if asked.terms else trash.count_deleted()


def deleted_found(deleted: Sequence[trash.Deleted], asked: Asked) -> tuple[list[trash.Deleted], list[str]]:
    """Those of the deleted runs that are searched for, and what was left out of that, and why."""
    found = search.find_runs([one.run for one in deleted], asked.terms, kept_of_deleted)
    ids = {run.id for run in found.runs}
    return [one for one in deleted if one.run.id in ids], found.faults


def kept_of_deleted(runs: Sequence[Run]) -> Mapping[str, outcome.Outcome]:
    """What is kept of what deleted runs came to: a deleted run is no better."""
    return outcome.outcomes_kept(runs, paths.trash_folder())


def chips(
    everything: Sequence[Run], found: Sequence[Run], wanted: Sequence[str], ever_gone: int, gone: int, *,
    deleted: bool = False,
) -> list[dict[str, object]]:  # fmt: skip
    """The states that there are, with how many of the runs that were searched for (`found`) are in each, and what was
    deleted: `ever_gone`, of which `gone` were searched for. None goes while one types."""
    there, counts = {run.state for run in everything}, Counter(run.state for run in found)
    states_now = [state for state in run_query.STATES if state in there or state in wanted]
    shown: list[dict[str, object]] = [
        {"state": state, "label": states.LABELS[state], "n": format.count(counts[state]), "on": state in wanted}
        for state in states_now
    ]
    if ever_gone or deleted:
        shown.append({"state": DELETED, "label": "Deleted", "n": format.count(gone), "on": deleted})
    return shown


def sorts(keys: Sequence[str]) -> list[list[str]]:
    """What the runs can be sorted by, where there is no head to click on: [key, words]."""
    found = []
    for key in dict.fromkeys((*columns.FIXED, "created", *keys)):
        column = columns.column_of(key)
        if column is not None and key != "spark":
            found.append([key, {"reward": "reward"}.get(key, column.title)])
    return found


def counts_line(
    everything: Sequence[Run], searched: Sequence[Run], found: Collection[str], seen: Collection[str]
) -> str:
    """3 of 5 runs · 1 running · 1 queued, as the chips count those that were searched for (`searched`), and how many
    are in sight, where these are others: `seen`, of those in the states that are asked for or being edited (`found`),
    by id."""
    counted = Counter(run.state for run in searched)
    some = f"{format.count(len(searched))} of " if len(searched) < len(everything) else ""
    parts = [some + format.plural(len(everything), "run")]
    parts += [f"{counted[state]} {state}" for state in UNDER_WAY if counted[state]]
    if len(seen) < len(found):
        parts.append(f"showing {format.count(len(seen))} of {format.count(len(found))}")
    elif len(seen) != len(searched):
        parts.append(f"showing {format.count(len(seen))}")
    return " · ".join(parts) + "."


def more_words(found: int, shown: int) -> str:
    """What the button under the table says; nothing where all are shown, or no more can be."""
    left = found - shown if shown < MOST else 0
    return f"Show {format.count(min(PAGE, left))} more of {format.count(left)}" if left > 0 else ""


def limits_words(found: int, shown: int, colourless: int) -> str:
    """What this page cannot do with so many runs, where it shows: `found` of them, `shown`, `colourless` in grey."""
    said = [f"{run_colours.PALETTE} runs have a colour at a time; the others are grey."] if colourless else []
    if found > shown >= MOST:
        said.append(f"{MOST} rows are shown at most: search, filter or sort to see others.")
    return " ".join(said)


def nothing_words(payload: Payload, asked: Asked) -> str:
    """Why the table is empty."""
    words, named = text(payload, "search"), " or ".join(states.LABELS[state].lower() for state in asked.states)
    if words and named:
        return f"No {named} run matches “{words}”. {search.HINT}"
    return f"No run matches “{words}”. {search.HINT}" if words else f"No run is {named}." if named else ""


def nothing_of_deleted(words: str) -> str:
    """Why no deleted run is shown."""
    return f"No deleted run matches “{words}”. {search.HINT}" if words else trash.NONE_DELETED


def hardware_words() -> str:
    """What an empty home says of this machine."""
    hardware = registry.read_fact(Hardware)
    return f"This machine: {hardware.sentence}." if hardware else "Checking this machine…"


@answer
def matching_runs(payload: Payload) -> dict[str, object]:
    """The ids of all runs that a page's words and states leave, in their order: to choose them all."""
    asked = Asked.of(payload)
    if payload.get("deleted") is True:
        return {"runs": [one.run.id for one in deleted_found(trash.deleted_runs(), asked)[0]]}
    found = search.find_runs(registry.list_runs(curves=False), asked.terms).runs
    return {"runs": [run.id for run in in_states(found, asked.states)]}


@answer
def start_quickstart(payload: Payload) -> dict[str, object]:
    """Create the quickstart run; where to go."""
    return {"go": f"/run?id={launch.queue_quickstart()}"}


def runs_table() -> gr.HTML:
    """The whole of the Runs page: table, search, and what an empty home says."""
    return live(
        "pages/run_list/runs_table", draw_runs, matching_runs, choices.offered_columns, *changes.FUNCTIONS,
        start_quickstart, template=TEMPLATE,
    )  # fmt: skip
