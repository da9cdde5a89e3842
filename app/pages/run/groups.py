"""The Groups of a run: pick a step, see its groups, read one group's completions side by side."""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from groupwise.app.pages.run import group_list, same_prompt, stars
from groupwise.app.pages.run.empty_state import why_empty
from groupwise.app.pages.run.group import draw_group, reference_of
from groupwise.app.pages.run.solver import solver
from groupwise.app.ui.completion import spans, text_html
from groupwise.app.ui.live import Payload, Unanswerable, answer, is_ongoing, live, record_of, run_of, text, whole_number
from groupwise.app.ui.word_diff import word_differences
from groupwise.storage.analysis import best_possible
from groupwise.storage.library.right import code_of_reward
from groupwise.storage.record import group_metrics, run_files
from groupwise.storage.record import groups as record
from groupwise.storage.record.group_metrics import Range
from groupwise.storage.registry import notes, registry

MODES = {"train": "training", "eval": "held-out"}
PICKS = {
    "worst": "the lowest mean reward first", "best": "the highest mean reward first",
    "spread": "the most spread within the group first", "tied": "those with no learning signal first",
    "random": "any, in no order",
}  # fmt: skip
KEYS = (
    ("j", "k", "next or previous group"), ("[", "]", "earlier or later step"),
    ("n", "p", "next or previous completion"), ("s", "", "star the completion"),
    ("a", "", "note on the completion"), ("d", "", "mark differences from the best"),
    ("o", "", "this prompt over time, and back"), ("?", "", "these keys"),
)  # fmt: skip
TEMPLATE = """
<div class="row picker"><label class="s mut" for="gw-step">Step</label>
<input id="gw-step" type="range" min="0" max="1" value="0">
<input class="input step" inputmode="numeric" autocomplete="off" aria-label="Step number">
<button class="btn s earlier" title="Earlier step ([)">← earlier</button>
<button class="btn s later" title="Later step (])">later →</button>
<label class="s row tight"><input type="checkbox" class="follow" checked> follow the latest</label>
<span class="switch s modes" role="group" aria-label="Which prompts">
<button data-mode="train" aria-pressed="true">training</button>
<button data-mode="eval" aria-pressed="false">held-out</button></span></div>
<div class="row picker second"><span class="s mut">Groups</span>
<span class="switch s picks" role="group" aria-label="Which groups first">PICKS</span>
<span class="grow"></span>
<label class="s row tight"><input type="checkbox" class="sorted" checked> best first</label>
<label class="s row tight">differences from
<select class="input s diff"><option value="">nothing</option></select></label>
<button class="btn quiet s keys" title="Keys (?)">Keys</button></div>
<p class="s mut wait"></p><p class="s warn astray" role="status" hidden></p>
<div class="grid sides" hidden><div class="panel flush list">
<div class="head"><span class="where"></span>
<span class="n" title="completions scored correct, of all in the group">right</span>
<span class="n">mean</span><span class="n">spread</span></div>
<div class="options" role="listbox" tabindex="0" aria-label="Groups of this step"></div><p class="s mut told"></p></div>
<div class="one" aria-live="off"></div></div>
<div class="same" hidden></div>
<p class="s problem saving" role="status" hidden></p>
<dialog class="help" aria-label="Keys"><h2>Keys</h2><dl class="s">KEYS</dl>
<form method="dialog" class="row end"><button class="btn" autofocus>Close</button></form></dialog>
"""


@answer
def groups_at_step(payload: Payload) -> dict[str, Any]:
    """The groups of a step (`step`, or the latest where it is not given), its neighbours and the range of steps."""
    run, mode, pick = run_of(payload), text(payload, "mode"), text(payload, "pick")
    mode = mode if mode in MODES else "train"
    out: dict[str, Any] = {"live": is_ongoing(run)}
    try:
        path = record_of(run)
        span = record.span(path, mode)
    except Unanswerable:
        span = None
    if span is None:
        stored = "No group is stored in this run's record: its curves are in the Overview."
        ended = "This run ended before its first group was scored. Its log says why."
        return out | {"wait": why_empty(run, mode, stored, ended)}
    near = record.nearest_step(path, whole_number(payload, "step", span[1]), mode)
    mark = f"{mode} {near['step']} {run.attempt} {pick if pick in group_list.ORDERS else ''}"
    out |= near | {"first": span[0], "last": span[1], "mark": mark}
    if payload.get("mark") == mark:
        return out
    at_step = record.at_step(path, near["step"] or 0, mode)
    seen = record.reward_range(path)
    starred = {group for group, _ in notes.starred_completions(run.id)}
    right = mark_right(run, path, near["step"] or 0, at_step)
    lacking = record.without_answer(path, [group["id"] for group in at_step if group["tied"]])
    at_step = [{**group, "no_answer": group["id"] in lacking} for group in at_step]
    most = most_at_step(run, path, near["step"] or 0) if any(group["tied"] for group in at_step) else None
    listed = group_list.order_groups(at_step, pick)[: group_list.MOST]
    lines = [group_list.group_line(group, seen, starred, right.get(group["id"])) for group in listed]
    group_list.tell_apart(lines)
    return out | {"groups": lines, "verdict": groups_caption(at_step, mode, pick, seen, most)}


def counts_right(run: registry.Run, path: Path, step: int, ids: list[int]) -> dict[int, tuple[int, int]]:
    """By group: how many completions are right, as the reward function that says so in that step's stage
    does, and how many it scored; nothing where none says so, or the run's spec cannot be read."""
    target = solver(run, record.stage_number(path, step))
    return record.count_right(path, ids, *target) if target else {}


def mark_right(
    run: registry.Run, path: Path, step: int, of_step: Sequence[dict[str, Any]]
) -> dict[int, tuple[int, int]]:
    """Say of each of these groups of a step whether `none_right` of it is, or `all_right`; returns `counts_right` of
    them."""
    right = counts_right(run, path, step, [group["id"] for group in of_step])
    for group in of_step:
        good, scored = right.get(group["id"], (0, 0))
        group["none_right"], group["all_right"] = scored > 0 and not good, scored > 0 and good == scored
    return right


def most_at_step(run: registry.Run, path: Path, step: int) -> float | None:
    """What the best completion earns in that step's stage; None where it is not known."""
    spec = run_files.spec_of(run.folder)
    if spec is None:
        return None
    rewards = group_metrics.rewards_of_stage(spec, record.stage_number(path, step))
    return best_possible.most_possible(rewards, functools.partial(code_of_reward, run.folder.rewards))


def groups_caption(
    at_step: group_list.Rows, mode: str, pick: str, seen: Range | None, most: float | None = None
) -> str:
    """What is said under the list."""
    more = len(at_step) - group_list.MOST
    left_out = f" The list leaves out {more} more." if more > 0 else ""
    none = "No group of this step is tied." if pick == "tied" and not any(group["tied"] for group in at_step) else ""
    return (none or group_list.verdict(at_step, mode, seen, most)) + left_out


@answer
def show_group(payload: Payload) -> dict[str, Any]:
    """One group as HTML. `diff`: “best” or the index of the completion that the others are compared with."""
    run = run_of(payload)
    path = record_of(run)
    found = record.read_group(path, whole_number(payload, "group", 0))
    if found is None:
        raise Unanswerable("There is no such group in this run.")
    reference = reference_of(found["completions"], text(payload, "diff"))
    seen = record.reward_range(path) if found["tied"] else None
    mark_right(run, path, found["step"], [found] if found["tied"] else [])
    most = most_at_step(run, path, found["step"]) if found["tied"] else None
    html = draw_group(
        found, by_reward=payload.get("sorted") is not False, notes=notes.of_group(run.id, found["id"]),
        reference=reference, seen=seen, most=most,
    )  # fmt: skip
    return {
        "html": html, "step": found["step"], "mode": found["mode"], "prompt": found["prompt_id"],
        "counts": found["counts"], "size": len(found["completions"]),
    }  # fmt: skip


@answer
def full_text(payload: Payload) -> dict[str, Any]:
    """The whole text of one completion (`group`, `idx`) as HTML, its differences marked as in the group."""
    found = record.read_group(record_of(run_of(payload)), whole_number(payload, "group", 0))
    completions = {c["idx"]: c for c in (found or {}).get("completions", [])}
    completion = completions.get(whole_number(payload, "idx", -1))
    if completion is None:
        raise Unanswerable("There is no such completion in this run.")
    reference = completions.get(reference_of(list(completions.values()), text(payload, "diff")))
    apart = word_differences(reference["text"], completion["text"]) if reference else None
    return {"html": text_html(completion["text"], spans(apart)[1], whole=True)}


def groups() -> gr.HTML:
    """The Groups part of a run's page."""
    picks = "".join(
        f'<button data-pick="{name}" aria-pressed="false" title="{about}">{name}</button>'
        for name, about in PICKS.items()
    )
    keys = "".join(
        f"<dt><kbd>{one}</kbd>{f' <kbd>{other}</kbd>' if other else ''}</dt><dd>{what}</dd>"
        for one, other, what in KEYS
    )
    return live(
        "pages/run/groups", groups_at_step, show_group, full_text, same_prompt.prompt_history,
        stars.annotate_completion,
        template=TEMPLATE.replace("PICKS", picks).replace("KEYS", keys),
        elem_id="part-groups", elem_classes=["gw-part", "gw-part-groups"],
    )  # fmt: skip
