"""What the model wrote to one prompt at two times, side by side, with what differs marked. Pure."""

from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from groupwise.app.core import format
from groupwise.app.ui.completion import Shown, best_first, card, remark, scales_of, spans
from groupwise.app.ui.word_diff import MOST, Difference, word_differences
from groupwise.storage.registry.notes import Note

PAIRS = 12  # completions of each time that are set beside each other
Row = dict[str, Any]


@dataclass(frozen=True)
class Side:
    """One of the two times: a group as storage.record.groups has it, and the notes on its completions."""

    group: Row
    notes: dict[int, Note]

    @property
    def completions(self) -> list[Row]:
        """The completions of the group."""
        return self.group.get("completions") or []


def then_and_now(then: Side, now: Side, *, each: bool) -> str:
    """The best completion of both times, or `each`: the best beside the best, the second beside the second, …; of a
    prompt that came once its completions alone."""
    if then.group["id"] == now.group["id"]:
        return once(now, each=each)
    pairs = zip_longest(*(best_first(side.completions)[: PAIRS if each else 1] for side in (then, now)))
    every = then.completions + now.completions
    scales, span = scales_of(every), max((abs(c["advantage"]) for c in every), default=0.0)

    def side_of(side: Side, role: str, completion: Row | None, apart: Difference | None, said: str) -> str:
        if completion is None:
            return '<p class="s mut">There is none to compare with.</p>'
        marks = spans(apart)[0 if role == "then" else 1]
        shown = Shown(
            side.group["id"], side.notes.get(completion["idx"]), differences=marks, remark=said, role=role
        )  # fmt: skip
        return card(completion, "", span, scales, shown)

    cells = [heading(then.group, "then"), heading(now.group, "now")]
    for one, other in pairs:
        apart = word_differences(one["text"], other["text"], MOST // 3 if each else MOST) if one and other else None
        said = "The same text both times." if apart and one["text"] == other["text"] else remark(apart)
        cells += [side_of(then, "then", one, apart, said), side_of(now, "now", other, apart, said)]
    return f'<div class="grid two comps pairs">{"".join(cells)}</div>{left_out(then, now) if each else ""}'


def once(side: Side, *, each: bool) -> str:
    """The best completion of the one time that a prompt came, or `each`, with nothing to set beside it."""
    scales = scales_of(side.completions)
    span = max((abs(c["advantage"]) for c in side.completions), default=0.0)
    cards = [
        card(one, "", span, scales, Shown(side.group["id"], side.notes.get(one["idx"])))
        for one in best_first(side.completions)[: PAIRS if each else 1]
    ]
    shown = f'{heading(side.group, "")}<div class="grid two comps">{"".join(cards)}</div>'
    return f"{shown}{left_out(side, side) if each else ''}"


def heading(group: Row, role: str) -> str:
    """Then: step 12 (attempt 1), 8 completions; and the way to its group. `role`: then, now, or “” of the only time."""
    attempt = "" if group.get("counts", True) else f" of attempt {group['attempt']}, trained again later"
    attempt += " held-out" if group["mode"] == "eval" else ""
    count = format.plural(group["size"], "completion")
    when = f"{role.capitalize()}: step" if role else "Step"
    return (
        f'<div class="row between"><h3>{when} {format.count(group["step"])}{attempt} '
        f'<span class="mut">· {count}</span></h3><button class="link s open" data-open="{group["id"]}">Open the group'
        "</button></div>"
    )


def left_out(then: Side, now: Side) -> str:
    """Say how many completions are not shown; empty where all are."""
    more = max(len(then.completions), len(now.completions)) - PAIRS
    return f'<p class="s mut">{format.count(more)} more are in the groups.</p>' if more > 0 else ""
