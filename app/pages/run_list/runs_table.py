"""The table of runs: drawn on the server, asked for again every second, redrawn only when it changed."""

import time
import zlib

import gradio as gr

from groupwise.app.core import format
from groupwise.app.pages.new import launch
from groupwise.app.ui import figures
from groupwise.app.ui.live import Payload, answer, live, text
from groupwise.app.ui.safe_text import escape
from groupwise.app.ui.state_badge import pill
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Hardware

MOST = 200  # rows drawn; the search looks at all
HEAD = (
    '<tr><th></th><th></th><th scope="col">run</th><th scope="col">state</th><th scope="col">reward</th>'
    '<th scope="col" class="n">now</th><th scope="col" class="n">step</th><th scope="col">model · data</th>'
    '<th scope="col" class="n">changed</th></tr>'
)
TEMPLATE = f"""
<div class="row between"><h1>Runs</h1><div class="row tools">
<input class="input search" type="search" placeholder="search name, state, model" aria-label="Search runs">
<a class="btn pri" href="/new">Start a run</a></div></div>
<div class="panel flush scroll" tabindex="-1"><table><thead>{HEAD}</thead><tbody></tbody></table></div>
<p class="s mut none" hidden></p>
<div class="panel choosing row" role="group" aria-label="Chosen runs" hidden><a class="btn pri go"></a><button
class="btn quiet clear">Clear</button><span class="s mut words" role="status"></span></div>
<p class="s mut foot"><span class="counts"></span> New here?
<button class="link quickstart">Run the quickstart</button>:
a real GRPO run with a tiny model, under a minute, no GPU.</p>
<section class="empty panel" hidden><h1>Groupwise</h1>
<p class="lead">Configure, launch and watch GRPO runs, and read what every group of completions earned.</p>
<p class="s mut hardware"></p>
<div class="row"><button class="btn pri quickstart">Run the quickstart</button><a class="btn quiet" href="/new">Set up a
run</a></div><p class="s mut">The quickstart trains a tiny model with TRL on this machine: under a minute, no GPU.</p>
</section><p class="s problem" role="alert" hidden></p>
"""


@answer
def draw_runs(payload: Payload) -> dict[str, object]:
    """The rows as HTML, the words under them, and a mark: with the same `mark` given, only {same: true}."""
    asked = text(payload, "search").lower().split()
    everything = registry.list_runs()
    found = [run for run in everything if matches(run, asked)]
    rows = "".join(run_row(run, time.time()) for run in found[:MOST])
    words = counts_line(everything, found)
    mark = zlib.crc32(f"{rows}{words}".encode("utf-8", "replace"))
    if payload.get("mark") == mark:
        return {"same": True}
    hardware = registry.read_fact(Hardware)
    return {
        "mark": mark, "rows": rows, "counts": words, "empty": not everything,
        "nothing": "" if found or not everything else f"No run matches “{text(payload, 'search')}”.",
        "hardware": f"This machine: {hardware.sentence}." if hardware else "Looking at this machine…",
    }  # fmt: skip


@answer
def start_quickstart(payload: Payload) -> dict[str, object]:
    """Create the quickstart run; where to go."""
    return {"go": f"/run?id={launch.queue_quickstart()}"}


def matches(run: registry.Run, words: list[str]) -> bool:
    """Whether every word is somewhere in the run's name, id, state, model or data."""
    about = f"{run.name} {run.id} {states.LABELS.get(run.state, run.state)} {run.model} {run.data}".lower()
    return all(word in about for word in words)


def counts_line(everything: list[registry.Run], found: list[registry.Run]) -> str:
    """5 runs · 1 running · 1 queued, how many of them are shown, and what can be done with several."""
    live_now = sum(run.state in states.LIVE for run in everything)
    queued = sum(run.state == states.QUEUED for run in everything)
    parts = [format.plural(len(everything), "run")]
    parts += [f"{live_now} running"] if live_now else []
    parts += [f"{queued} queued"] if queued else []
    if len(found) > MOST:
        parts.append(f"showing {MOST} of {format.count(len(found))}")
    elif len(found) < len(everything):
        parts.append(f"showing {format.count(len(found))}")
    return " · ".join(parts) + (". Tick some to compare them." if len(everything) > 1 else ".")


def run_row(run: registry.Run, now: float) -> str:
    """One run as a table row."""
    colour = figures.identity(run.id)
    steps = format.count(run.step) + (f" / {format.count(run.total)}" if run.total and run.step != run.total else "")
    changed = run.seen_at if run.state in states.LIVE and run.seen_at else run.state_at
    data = run.data.partition(":")[2] or run.data
    model = run.model.rstrip("/").rpartition("/")[2] or run.model
    return (
        f'<tr data-run="{escape(run.id)}"><td class="pick"><input type="checkbox" '
        f'aria-label="Choose {escape(format.shorten(run.name, 60))}"></td>'
        f'<td><span class="dot" style="background:var({colour})"></span></td>'
        f'<td class="name"><a href="/run?id={escape(run.id)}" title="{escape(run.name)}">'
        f"<bdi>{escape(format.shorten(run.name, 60))}</bdi></a></td>"
        f"<td>{pill(run.state)}</td><td>{figures.sparkline(run.spark, colour)}</td>"
        f'<td class="n"><b>{format.number(run.reward)}</b></td><td class="n">{steps}</td>'
        f'<td class="mut"><bdi>{escape(format.shorten(f"{model} · {data}", 60))}</bdi></td>'
        f'<td class="n mut">{format.age(changed, now)}</td></tr>'
    )


def runs_table() -> gr.HTML:
    """The whole of the Runs page: table, search, and what an empty home says."""
    return live("pages/run_list/runs_table", draw_runs, start_quickstart, template=TEMPLATE)
