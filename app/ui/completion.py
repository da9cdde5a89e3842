"""One completion as a card: what it earned, what it says, how each reward function saw it, and what people said of it.
Its text is escaped in highlight.py, and all else here."""

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from groupwise.app.core import format
from groupwise.app.ui.highlight import NOTHING, mark_text, tags
from groupwise.app.ui.safe_text import escape, escape_name
from groupwise.app.ui.word_diff import Difference, Span
from groupwise.storage.registry.notes import Note

LONGEST = 300  # characters of a logged value that are shown
FOLDED, HEAD, TAIL = 3600, 2400, 600  # a text of more characters shows its first and last ones
ALIKE = 0.3  # of texts that have less in common, marks would be all there is to see
STATUS = {"ok": "no score", "none": "no score", "error": "error", "timeout": "timed out"}


@dataclass(frozen=True)
class Shown:
    """What a card shows beside the completion itself. `group` lets it be starred; `same_as`: the index of an earlier
    completion with the very same text; `alike`: the indexes of those that are the very same in all that a card shows,
    and have none of their own; `remark`: what there is to say of the differences; `role`: “then”, “now” or
    “reference”."""

    group: int | None = None
    note: Note | None = None
    same_as: int | None = None
    alike: Sequence[int] = ()
    differences: Sequence[Span] = ()
    remark: str = ""
    role: str = ""


def card(
    completion: dict[str, Any], mark: str, span: float, scales: dict[str, float], shown: Shown | None = None
) -> str:
    """`mark` is “best”, “worst” or nothing; `span` the group's largest advantage; `scales` each function's largest
    score, all in size."""
    shown, idx = shown or Shown(), completion["idx"]
    badge = f'<span class="badge {mark}">{"▲" if mark == "best" else "▼"} {mark}</span>' if mark else ""
    badge += f'<span class="badge">{shown.role}</span>' if shown.role else ""
    badge += times(idx, shown.alike)
    scores = "".join(score_bar(row, scales.get(row["name"], 1.0)) for row in completion["scores"])
    scores += advantage(completion["advantage"], span)
    places = f' data-idx="{idx}"' + (f' data-alike="{" ".join(map(str, shown.alike))}"' if shown.alike else "")
    places += "" if shown.group is None else f' data-group="{shown.group}"'
    return (
        f'<article class="comp {mark} {shown.role}" tabindex="-1" aria-label="completion {idx + 1}"{places}>'
        f'<header><span class="row tight"><span class="mut xs">{idx + 1}</span>'
        f'<b title="total reward">{format.number(completion["reward"])}</b>{badge}</span>'
        f'<span class="row tight">{star(shown)}</span></header>'
        f'<pre dir="auto" tabindex="0">{text_html(completion["text"], shown.differences)}</pre>'
        f"<footer>{scores}{logged_values(completion.get('extra', {}))}{foot(completion, shown)}</footer>"
        "</article>"
    )


def times(idx: int, alike: Sequence[int]) -> str:
    """“7 ×” of a card that stands for so many completions, with their numbers."""
    if not alike:
        return ""
    numbers = ", ".join(str(one + 1) for one in sorted([idx, *alike]))
    return (
        f'<span class="badge times" title="completions {numbers}: the same text and scores">{len(alike) + 1} ×</span>'
    )


def text_html(text: str, differences: Sequence[Span] = (), *, whole: bool = False) -> str:
    """The text; the middle of a long one is left out, with a button to have it, unless the `whole` is asked for."""
    if not text:
        return NOTHING
    if whole or len(text) <= FOLDED:
        return mark_text(text, differences)
    found, end = tags(text), len(text) - TAIL
    return (
        f"{mark_text(text, differences, (0, HEAD), found)}"
        f'<button class="fold">… {format.plural(end - HEAD, "character")} more: show all …</button>'
        f"{mark_text(text, differences, (end, len(text)), found)}"
    )


def foot(completion: dict[str, Any], shown: Shown) -> str:
    """How long it is, which one says the same, what differs in words, and what people said of it."""
    parts = [format.plural(completion["tokens"], "token")]
    if completion["truncated"]:
        parts.append('<span class="warn">truncated</span>')
    if shown.same_as is not None:
        parts.append(f'same text as <button class="link" data-to="{shown.same_as}">{shown.same_as + 1}</button>')
    remark = f'<div class="xs mut">{escape(shown.remark)}</div>' if shown.remark else ""
    size = f'<div class="row between s mut size"><span>{" · ".join(parts)}</span>{edit(shown)}</div>'
    return f"{remark}{size}{note_html(shown)}"


def remark(difference: Difference | None) -> str:
    """What there is to say of the differences, where they are not all marked."""
    if difference is None:
        return ""
    if difference.alike < ALIKE:
        return "Nearly all of it differs."
    return f"Compared in the first {format.count(difference.cut)} words." if difference.cut else ""


def star(shown: Shown) -> str:
    """The star's button, pressed where the completion is starred; empty where no group is known."""
    if shown.group is None:
        return ""
    on = shown.note is not None and shown.note.starred
    return (
        f'<button class="star" aria-pressed="{"true" if on else "false"}" aria-label="Star" title="Star (s)">'
        f"{'★' if on else '☆'}</button>"
    )


def note_html(shown: Shown) -> str:
    """What a person noted on the completion, as HTML."""
    if shown.group is None:
        return ""
    words = shown.note.words if shown.note else ""
    return f'<div class="said s"><p class="words" dir="auto"{"" if words else " hidden"}>{escape(words)}</p></div>'


def edit(shown: Shown) -> str:
    """The button that opens the note; empty where no group is known."""
    if shown.group is None:
        return ""
    words = "Change the note" if shown.note and shown.note.words else "Add a note"
    return f'<button class="link edit xs" title="Note (a)">{words}</button>'


def advantage(value: float, span: float) -> str:
    """A bar either side of zero, with its number, as the scores have theirs."""
    share = min(1.0, abs(value) / span) * 50 if span else 0.0
    side = f"left:50%;width:{share:.1f}%;background:var(--high)" if value >= 0 else (
        f"right:50%;width:{share:.1f}%;background:var(--low)"
    )  # fmt: skip
    return (
        f'<div class="score" title="how much better than its group"><span>advantage</span><div class="adv">'
        f'<i style="{side}"></i></div><span>{format.signed_number(value)}</span></div>'
    )


def score_bar(row: dict[str, Any], scale: float) -> str:
    """One function's score as a bar, or why there is none."""
    name, value = escape_name(row["name"]), row["value"]
    weight = f"weight {format.number(row['weight'])}"
    if row["status"] != "ok" or value is None:
        words = escape(STATUS.get(row["status"], row["status"]))
        return f'<div class="score" title="{weight}"><span>{name}</span><span class="warn">{words}</span></div>'
    share = min(1.0, abs(value) / (scale or 1.0)) * 100
    low = ' class="low"' if value < 0 else ""
    return (
        f'<div class="score" title="{weight}"><span>{name}</span><div class="b"><i{low} style="width:{share:.0f}%"></i>'
        f"</div><span>{exact(value)}</span></div>"
    )


def logged_values(extra: dict[str, Any]) -> str:
    """What the reward functions logged of it (TRL's log_extra)."""
    rows = (
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in extra.items()
    )
    return "".join(
        f'<div class="s mut logged" title="logged by a reward function"><b>{escape_name(name)}</b> '
        f"{escape(words[:LONGEST])}{'…' if len(words) > LONGEST else ''}</div>"
        for name, words in rows
    )


def exact(value: float) -> str:
    """A score: whole numbers as they are, others in three digits."""
    return str(int(value)) if abs(value) < 1e6 and value == int(value) else format.number(value)


def cards(
    completions: list[dict[str, Any]], *, by_reward: bool, tied: bool, group: int | None = None,
    notes: dict[int, Note] | None = None, reference: int | None = None,
    differences: dict[int, Difference] | None = None,
) -> str:  # fmt: skip
    """All of a group, best first or as generated. In a tied group none is best. `differences`: from the completion
    that is the `reference`, by index."""
    rewards = [c["reward"] for c in completions if c["reward"] is not None]
    best, worst = (max(rewards), min(rewards)) if rewards and not tied else (None, None)
    span = max((abs(c["advantage"]) for c in completions), default=0.0)
    scales, same, notes, apart = scales_of(completions), twins(completions), notes or {}, differences or {}
    alike = identical(completions, {*notes} if reference is None else {*notes, reference})
    folded = {idx for others in alike.values() for idx in others}

    def drawn(c: dict[str, Any]) -> str:
        difference = apart.get(c["idx"])
        shown = Shown(
            group, notes.get(c["idx"]), same.get(c["idx"]),
            alike.get(c["idx"], ()), spans(difference)[1], remark(difference),
            role="reference" if c["idx"] == reference else "",
        )  # fmt: skip
        return card(c, _mark(c["reward"], best, worst), span, scales, shown)

    ordered = best_first(completions) if by_reward else completions
    return "".join(drawn(c) for c in ordered if c["idx"] not in folded)


def best_first(completions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Best first, of equals what was written most often; those without a reward last."""
    often = Counter((c["reward"], c["text"]) for c in completions)
    return sorted(
        completions,
        key=lambda c: (-(c["reward"] if c["reward"] is not None else -1e30), -often[c["reward"], c["text"]]),
    )


def spans(difference: Difference | None) -> tuple[Sequence[Span], Sequence[Span]]:
    """What is marked in the two texts."""
    worthwhile = difference is not None and difference.alike >= ALIKE
    return (difference.left, difference.right) if difference and worthwhile else ((), ())


def scales_of(completions: list[dict[str, Any]]) -> dict[str, float]:
    """Each function's largest score, in size; at least 1."""
    scales: dict[str, float] = {}
    for row in (row for c in completions for row in c["scores"]):
        scales[row["name"]] = max(scales.get(row["name"], 1.0), abs(row["value"] or 0.0))
    return scales


def identical(completions: list[dict[str, Any]], own: Collection[int]) -> dict[int, list[int]]:
    """By the index of the first: the others that a card of their own would show nothing new of. `own`: those that have
    one all the same, as somebody said something of them."""
    found: dict[str, list[int]] = {}
    for c in completions:
        if c["idx"] not in own:
            shown = (c["text"], c["reward"], c["advantage"], c["tokens"], c["truncated"], c["scores"], c.get("extra"))
            found.setdefault(json.dumps(shown, default=str, sort_keys=True), []).append(c["idx"])
    return {first: others for first, *others in found.values() if others}


def twins(completions: list[dict[str, Any]]) -> dict[int, int]:
    """By index: the first completion with the very same text, of those that are not the first."""
    first: dict[str, int] = {}
    found = {}
    for c in completions:
        idx = first.setdefault(c["text"], c["idx"])
        if idx != c["idx"]:
            found[c["idx"]] = idx
    return found


def _mark(reward: float | None, best: float | None, worst: float | None) -> str:
    if reward is None or best is None:
        return ""
    return "best" if reward == best else "worst" if reward == worst else ""
