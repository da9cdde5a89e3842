"""One completion as a card: what it earned, what it says, how each reward function saw it. All text is escaped here."""

from __future__ import annotations

import json
import re
from typing import Any

from app import format
from app.components.live import escape

# A tag as it looks once escaped: <think>, </answer>, <|user|>.
TAG = re.compile(r"&lt;(?:/?[A-Za-z][\w-]{0,30}/?|\|[\w-]{1,30}\|)&gt;")
LONGEST = 300  # characters of a logged value that are shown
STATUS = {"ok": "no score", "none": "no score", "error": "error", "timeout": "timed out"}


def card(completion: dict[str, Any], mark: str, span: float, scales: dict[str, float]) -> str:
    """`mark` is “best”, “worst” or nothing; `span` the group's largest advantage; `scales` each function's largest
    score, all in size."""
    badge = f'<span class="badge {mark}">{"▲" if mark == "best" else "▼"} {mark}</span>' if mark else ""
    truncated = ' · <span class="warn">truncated</span>' if completion["truncated"] else ""
    scores = "".join(score(row, scales.get(row["name"], 1.0)) for row in completion["scores"])
    tokens = format.plural(completion["tokens"], "token")
    return (
        f'<article class="comp {mark}" aria-label="completion {completion["idx"] + 1}"><header><span class="row tight">'
        f'<b title="total reward">{format.number(completion["reward"])}</b>{badge}</span>'
        f"{advantage(completion['advantage'], span)}</header>"
        f'<pre dir="auto" tabindex="0">{coloured(completion["text"])}</pre>'
        f'<footer>{scores}{logged(completion.get("extra", {}))}<div class="s mut">{tokens}{truncated}</div></footer>'
        "</article>"
    )


def coloured(text: str) -> str:
    """The text as HTML, its tags in colour; a sentence where it is empty."""
    if not text:
        return '<span class="mut">(nothing: the model ended at once)</span>'
    return TAG.sub(lambda found: f'<span class="tag">{found[0]}</span>', escape(text))


def advantage(value: float, span: float) -> str:
    """A bar either side of zero, with its number."""
    share = min(1.0, abs(value) / span) * 50 if span else 0.0
    side = f"left:50%;width:{share:.1f}%;background:var(--high)" if value >= 0 else (
        f"right:50%;width:{share:.1f}%;background:var(--low)"
    )  # fmt: skip
    return (
        f'<span class="row tight" title="advantage: how much better than its group"><span class="adv">'
        f'<i style="{side}"></i></span><span class="s mut num">{format.signed(value)}</span></span>'
    )


def score(row: dict[str, Any], scale: float) -> str:
    """One function's score as a bar, or why there is none."""
    name, value = escape(row["name"]), row["value"]
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


def logged(extra: dict[str, Any]) -> str:
    """What the reward functions logged of it (TRL's log_extra)."""
    rows = (
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in extra.items()
    )
    return "".join(
        f'<div class="s mut logged" title="logged by a reward function"><b>{escape(name)}</b> {escape(words[:LONGEST])}'
        f"{'…' if len(words) > LONGEST else ''}</div>"
        for name, words in rows
    )


def exact(value: float) -> str:
    """A score: whole numbers as they are, others in three digits."""
    return str(int(value)) if value == int(value) and abs(value) < 1e6 else format.number(value)


def cards(completions: list[dict[str, Any]], *, by_reward: bool, tied: bool) -> str:
    """All of a group, best first or as generated. In a tied group none is best."""
    rewards = [c["reward"] for c in completions if c["reward"] is not None]
    best, worst = (max(rewards), min(rewards)) if rewards and not tied else (None, None)
    span = max((abs(c["advantage"]) for c in completions), default=0.0)
    ordered = (
        sorted(completions, key=lambda c: -(c["reward"] if c["reward"] is not None else -1e30))
        if by_reward
        else completions
    )
    scales: dict[str, float] = {}
    for row in (row for c in completions for row in c["scores"]):
        scales[row["name"]] = max(scales.get(row["name"], 1.0), abs(row["value"] or 0.0))
    return "".join(card(c, _mark(c["reward"], best, worst), span, scales) for c in ordered)


def _mark(reward: float | None, best: float | None, worst: float | None) -> str:
    if reward is None or best is None:
        return ""
    return "best" if reward == best else "worst" if reward == worst else ""
