"""The Groups of a run: pick a step, see its groups, read one group's completions side by side."""

from __future__ import annotations

from typing import Any

import gradio as gr

from app import format
from app.components.completion import cards
from app.components.live import Payload, Unanswerable, answer, escape, live, plain, record_of, run_of, text, whole
from app.components.overview import WAITS, words
from storage import groups as record
from storage import registry, states

CHIPS = 12  # of a prompt's history
MODES = {"train": "training", "eval": "held-out"}
TEMPLATE = """
<div class="row picker"><label class="s mut" for="gw-step">Step</label>
<input id="gw-step" type="range" min="0" max="1" value="0">
<input class="input step" type="number" aria-label="Step number">
<button class="btn s earlier">← earlier</button><button class="btn s later">later →</button>
<label class="s row tight"><input type="checkbox" class="follow" checked> follow the latest</label>
<span class="switch s" role="group" aria-label="Which prompts">
<button data-mode="train" aria-pressed="true">training</button>
<button data-mode="eval" aria-pressed="false">held-out</button></span>
<label class="s row tight"><input type="checkbox" class="sorted" checked> best first</label></div>
<p class="s mut wait"></p>
<div class="grid sides" hidden><div class="panel flush list">
<div class="head"><span class="where"></span><span class="n">mean</span><span class="n">spread</span></div>
<div class="options" role="listbox" tabindex="0" aria-label="Groups of this step"></div><p class="s mut told"></p></div>
<div class="one"></div></div>
"""


@answer
def step(payload: Payload) -> dict[str, Any]:
    """The groups of a step (`step`, or the latest where it is not given), its neighbours and the range of steps."""
    run, mode = run_of(payload), text(payload, "mode")
    mode = mode if mode in MODES else "train"
    out: dict[str, Any] = {"live": run.state in states.LIVE or run.state == states.QUEUED}
    try:
        path = record_of(run)
        span = record.span(path, mode)
    except Unanswerable as reason:
        return out | {"wait": waiting(run, mode) if run.folder.path.is_dir() else str(reason)}
    if span is None:
        return out | {"wait": waiting(run, mode)}
    near = record.nearest(path, whole(payload, "step", span[1]), mode)
    mark = f"{mode} {near['step']} {run.attempt}"
    out |= near | {"first": span[0], "last": span[1], "mark": mark}
    if payload.get("mark") == mark:
        return out
    at_step = record.at_step(path, near["step"] or 0, mode)
    return out | {"groups": [outline(group) for group in at_step], "verdict": verdict(at_step, mode)}


def waiting(run: registry.Run, mode: str) -> str:
    if mode == "eval" and run.state in states.ENDED:
        return "No held-out group was scored: this run had no evaluation (eval_strategy, data.holdout)."
    if mode == "eval":
        return "No held-out group has been scored yet: they come with each evaluation (eval_strategy, eval_steps)."
    if run.state in WAITS:
        return "No group has been scored yet. " + WAITS[run.state]
    return "This run ended before its first group was scored. Its log says why."


def outline(group: dict[str, Any]) -> dict[str, Any]:
    """One line of the list."""
    spread = "tied" if group["tied"] else format.number(group["std"])
    return {
        "id": group["id"], "prompt": plain(format.shorten(words(group["prompt"]), 70)),
        "mean": format.number(group["mean"]),
        "spread": spread, "tied": group["tied"],
    }  # fmt: skip


def verdict(at_step: list[dict[str, Any]], mode: str = "train") -> str:
    """5 of 8 groups are tied: no gradient from them. Held-out groups give none anyway."""
    tied = sum(group["tied"] for group in at_step)
    if not tied:
        return ""
    whose = "This group is" if len(at_step) == 1 else f"{tied} of {len(at_step)} groups {'is' if tied == 1 else 'are'}"
    if mode == "eval":
        return f"{whose} tied: every completion scored the same."
    return (
        f"{whose} tied: every completion scored the same, so there is no gradient from {'it' if tied == 1 else 'them'}."
    )


@answer
def group(payload: Payload) -> dict[str, Any]:
    """One group as HTML."""
    run = run_of(payload)
    found = record.one(record_of(run), whole(payload, "group", 0))
    if found is None:
        raise Unanswerable("There is no such group in this run.")
    return {
        "html": draw(found, by_reward=payload.get("sorted") is not False),
        "step": found["step"],
        "mode": found["mode"],
    }


def draw(found: dict[str, Any], *, by_reward: bool) -> str:
    """Prompt, answer and other columns, the same prompt over time, and the completions."""
    tied = (
        '<p class="s warn">Tied: every completion scored the same, so this group teaches nothing.</p>'
        if found["tied"] and found["mode"] == "train"
        else ""
    )
    return (
        f'<section class="panel prompt">{prompt(found["prompt"])}{columns(found["columns"], words(found["prompt"]))}'
        f"{history(found)}{tied}</section>"
        f'<div class="grid three comps">{cards(found["completions"], by_reward=by_reward, tied=found["tied"])}</div>'
    )


def prompt(value: Any) -> str:
    """What the model was asked; earlier messages of a chat are folded away."""
    asked = f'<pre class="asked" dir="auto" tabindex="0">{escape(words(value))}</pre>'
    earlier = value[:-1] if isinstance(value, list) else []
    if not earlier:
        return asked
    rows = "".join(
        f'<p class="s"><b>{escape(message.get("role", ""))}</b> <bdi>{escape(message.get("content", ""))}</bdi></p>'
        for message in earlier
        if isinstance(message, dict)
    )
    return (
        f"{asked}<details class=s><summary>{format.plural(len(earlier), 'earlier message')}</summary>{rows}</details>"
    )


def columns(values: dict[str, Any], asked: str) -> str:
    """The dataset row's other columns, the answer first; not the one that is the prompt itself."""
    ordered = sorted(values.items(), key=lambda item: item[0] != "answer")
    cells = "".join(
        f'<span><span class="mut">{escape(name)}</span> '
        f'<b dir="auto">{escape(format.shorten(str(value), 200))}</b></span>'
        for name, value in ordered
        if value is not None and str(value) != asked
    )
    return f'<div class="row s columns">{cells}</div>' if cells else ""


def history(found: dict[str, Any]) -> str:
    """This prompt's mean reward each time it came, the newest of them, as links."""
    rows = found["history"]
    if len(rows) < 2:
        return '<p class="s mut over">this prompt has come once so far</p>'
    left_out = f"{len(rows) - CHIPS} earlier, " if len(rows) > CHIPS else ""
    chips = "".join(
        f'<button class="chip" data-group="{row["id"]}" data-step="{row["step"]}" data-mode="{escape(row["mode"])}"'
        f"{' aria-current=true' if row['id'] == found['id'] else ''}>step {row['step']} "
        f"<b>{format.number(row['mean'])}</b></button>"
        for row in rows[-CHIPS:]
    )
    return f'<div class="row s over"><span class="mut">this prompt over time</span> {left_out}{chips}</div>'


def groups() -> gr.HTML:
    """The Groups part of a run's page."""
    return live("groups", step, group, template=TEMPLATE, elem_id="part-groups", elem_classes=["part", "part-groups"])
