"""The list of a step's groups: one line each, in the order that was picked, with what ties the tied ones. Pure."""

import math
import os.path
import zlib
from collections.abc import Callable, Collection
from typing import Any

from groupwise.app.core import format
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis.tie_words import NO_ANSWER, NONE_RIGHT, TIE_WORDS, say_top
from groupwise.storage.record.group_metrics import Range, Standing, is_one_score, kind
from groupwise.storage.spec.words.number_words import count_part

Rows = list[dict[str, Any]]
MOST = 400  # lines
LONGEST, SHOWN = 600, 70  # characters of a prompt: those that a pointer shows, and those of its line
TWO_LINES = 30  # characters of a prompt that the list has room for where it is narrow
ALIKE = 14  # characters that two prompts begin with alike from which on they would look the same in the list


def _finite(value: float | None, instead: float) -> float:
    return value if value is not None and math.isfinite(value) else instead


ORDERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "worst": lambda group: _finite(group["mean"], math.inf),
    "best": lambda group: -_finite(group["mean"], -math.inf),
    "spread": lambda group: -_finite(group["std"], -1.0),
    "tied": lambda group: (not group["tied"], _finite(group["mean"], math.inf)),
    "random": lambda group: zlib.crc32(b"%d" % group["id"]),  # the same after a reload
}


def order_groups(groups: Rows, pick: str) -> Rows:
    """The groups in the order that was picked; as they were generated where none was."""
    return sorted(groups, key=ORDERS[pick]) if pick in ORDERS else groups


WORDS = {"all_low": TIE_WORDS["all_low"], "none_right": NONE_RIGHT, **TIE_WORDS, "no_answer": NO_ANSWER}
WHY_TIED = {
    "all_low": "all earned nothing, or the least of this run",
    "none_right": "none is right, and all earned the same",
    "all_high": "all earned the highest reward seen in this run", "other": "all earned the same",
    "no_answer": "the function that compares with the answer scored none: nothing can be learned from this row",
}  # fmt: skip


def tie(group: dict[str, Any], seen: Range | None) -> str:
    """all_low, none_right, all_high, other or no_answer of a tied group; nothing of another. `seen`: the run's range of
    rewards. A group may say that it has `none_right`, or `all_right`, or that its row has `no_answer`. Where a
    function says what is right, and none is, it is called so: a mean of 1.00 is not called failed."""
    if not group["tied"]:
        return ""
    if group.get("no_answer"):
        return "no_answer"
    standing = Standing(group.get("none_right", False), group.get("all_right", False))
    found = kind([group["low"], group["high"]], seen, standing) or "other" if seen else "other"
    return "none_right" if found == "all_low" and standing.none_right else found


def group_line(
    group: dict[str, Any],
    seen: Range | None,
    starred: Collection[int] = (),
    right: tuple[int, int] | None = None,
) -> dict[str, Any]:
    """A group as one line of the list. `right`: how many of its completions are, of how many."""
    tied = tie(group, seen)
    is_told = tied != "other" or (seen is not None and not is_one_score(seen))
    spread = (WORDS[tied] if is_told else "tied") if tied else format.number(group["std"])
    whole = visible_text(format.shorten(format.message_text(group["prompt"]), LONGEST))
    return {
        "id": group["id"], "whole": whole, "prompt": [format.shorten(whole, SHOWN)],
        "mean": format.number(group["mean"]), "spread": spread,
        "tied": group["tied"], "why": WHY_TIED[tied] if tied and is_told else "",
        "starred": group["id"] in starred, "right": f"{right[0]}/{right[1]}" if right else "–",
    }  # fmt: skip


def tell_apart(lines: Rows) -> None:
    """A prompt that begins as another one does is in two parts, the second from where they differ, so that each is cut
    at its end, and only where there is no room: [Natalia sold clips to , 48 of her friends in April]."""
    ordered = sorted({line["whole"] for line in lines})
    alike = dict.fromkeys(ordered, 0)
    for one, other in zip(ordered, ordered[1:], strict=False):
        common = len(os.path.commonprefix([one, other]))
        alike[one], alike[other] = max(alike[one], common), max(alike[other], common)
    for line in lines:
        whole = line["whole"]
        begin = whole.rfind(" ", 0, alike[whole]) + 1 or alike[whole]
        if begin >= ALIKE and len(whole) > TWO_LINES:
            alike_part = whole[:begin] if begin <= SHOWN else f"{format.shorten(whole[:begin], SHOWN)} "
            line["prompt"] = [alike_part, format.shorten(whole[begin:], SHOWN)]


def verdict(groups: Rows, mode: str = "train", seen: Range | None = None, most: float | None = None) -> str:
    """5 of 8 groups are tied (3 all at lowest score, 2 all at top score): no learning signal from them. Held-out groups
    give none anyway. `most`: what the best completion earns, where that is known."""
    ties = [tie(group, seen) for group in groups if group["tied"]]
    if not ties:
        return ""
    be, them = ("is", "it") if len(ties) == 1 else ("are", "them")
    whose = "This group is" if len(groups) == 1 else f"{count_part(len(ties), len(groups), 'group').capitalize()} {be}"
    words = WORDS | ({"all_high": say_top(seen[1], most)} if seen else {})
    told = [words[one] if len(groups) == 1 else f"{ties.count(one)} {words[one]}" for one in words if one in ties]
    kinds = f" ({', '.join(told)})" if {*ties} != {"other"} else ""  # of one kind that is no other, nothing is told
    if mode == "eval":
        return f"{whose} tied{kinds}: every completion scored the same."
    return f"{whose} tied{kinds}: every completion scored the same, so there is no learning signal from {them}."
