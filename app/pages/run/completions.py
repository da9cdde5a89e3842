"""The Completions of a run: search, filter, read and export everything it wrote."""

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import gradio as gr

from groupwise.app.core import format
from groupwise.app.pages.run import completion_query, stars
from groupwise.app.pages.run.empty_state import why_empty
from groupwise.app.pages.run.excerpt import excerpt, excerpt_of
from groupwise.app.ui.completion import STATUS, exact, times
from groupwise.app.ui.live import Payload, Unanswerable, answer, is_ongoing, live, record_of, run_of, text
from groupwise.app.ui.safe_text import escape
from groupwise.storage.record import find, find_text
from groupwise.storage.record.find import OPEN, Found, Range, Wanted
from groupwise.storage.record.hits import Bin
from groupwise.storage.registry import notes, registry

SIZE = 50  # completions of a page
MARKING = 0.3  # seconds in which matches are marked: a slow pattern is slow once more for each row
TEMPLATE = Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
Row = dict[str, Any]


@answer
def find_completions(payload: Payload) -> dict[str, Any]:
    """The completions that an address (`query`) asks for: a page of rows as HTML, what they come to, and how their
    rewards are spread."""
    run = run_of(payload)
    out: dict[str, Any] = {"live": is_ongoing(run)}
    try:
        path = record_of(run)
        newest = find.newest_completion(path)
    except Unanswerable:
        return out | {"wait": why_no_completions(run)}
    if not newest:
        return out | {"newest": newest, "wait": why_no_completions(run)}
    out |= {"newest": newest, "functions": find.function_names(path)}
    try:
        given = completion_query.query_parameters(text(payload, "query", completion_query.LONGEST))
        asked = completion_query.read_query(run.id, given)
        matching = find.search_completions(path, asked)
    except (Unanswerable, find_text.BadPattern) as problem:
        return out | {"problem": str(problem), "as_text": isinstance(problem, find_text.BadPattern)}
    others = matches_of_other_filters(path, asked, matching)
    pages = max(1, math.ceil(len(matching.hits) / SIZE))
    page = min(completion_query.page(given), pages)
    return out | {
        "told": match_summary(matching, asked),
        "none": none(asked, others) if not matching.hits and matching.is_whole else "",
        "pattern": not asked.regex and not matching.hits and find_text.looks_like_pattern(asked.words),
        "page": page, "pages": pages,
        "rows": draw_rows(run, path, asked, matching.ids(completion_query.sort(given), page, SIZE)),
        "bins": bins(others, asked.reward),
    }  # fmt: skip


def matches_of_other_filters(path: Path, asked: Wanted, matching: Found) -> Found:
    """What matches all but the range of rewards, by which another range can be chosen; just what matches where no range
    is asked for, or where reading the texts of it took too long already."""
    if asked.reward == OPEN or not matching.is_whole:
        return matching
    return find.search_completions(path, replace(asked, reward=OPEN), seconds=find.SECONDS / 2)


def why_no_completions(run: registry.Run) -> str:
    """Why there is no completion to show."""
    stored = "No completion is stored in this run's record, so there is nothing to search."
    ended = "This run ended before its first completion was scored. Its log says why."
    return why_empty(run, "train", stored, ended, what="completion")


def match_summary(matching: Found, asked: Wanted) -> str:
    """How many match, and of how much, where not everything was looked at."""
    n = len(matching.hits)
    if matching.late:
        return (
            f"{format.plural(n, 'match', 'matches')} in the newest {format.count(matching.looked)} of "
            f"{format.plural(matching.of, 'completion')}: then the {find.SECONDS:g} s for reading were over. "
            "A narrower range of steps lets it finish."
        )
    if not matching.is_whole:
        return f"More than {format.count(find.MOST)} match. These are the newest of them."
    if not filters_in_words(asked):
        return format.plural(n, "completion")
    return f"{format.plural(n, 'completion')} {'matches' if n == 1 else 'match'}" if n else ""


def filters_in_words(asked: Wanted) -> list[str]:
    """What lets more completions in, of each filter that keeps some out."""
    words = "fewer search words" if len(asked.words.split()) > 1 else "another search word"
    sides = [
        ("another pattern" if asked.regex else words, asked.words),
        ("a wider range of rewards", asked.reward != OPEN),
        (f"other scores of {asked.function[:40]}", asked.function),
        ("a wider range of steps", asked.steps != OPEN),
        ("a wider range of tokens", asked.length != OPEN),
        ("truncated: any", asked.truncated is not None),
        ("those without a star, too", asked.starred is not None),
        ("training prompts", asked.mode == "eval"),
    ]
    return [name for name, is_set in sides if is_set]


def none(asked: Wanted, others: Found) -> str:
    """No completion matches, and which filters to widen; where it is the range of rewards alone, which rewards there
    are among what matches the others."""
    sides = filters_in_words(asked)
    if asked.starred is not None and not asked.starred:
        return "Nothing is starred in this run yet. The ☆ beside a completion stars it."
    if not sides:
        return "No training completion is recorded. Held-out ones may be: choose “both”."
    if not asked.regex and find_text.looks_like_pattern(asked.words):
        return "No completion has these very characters. This looks like a regular expression."
    if not asked.regex and (fault := find_text.unfinished_pattern(asked.words)):
        return f"No completion has these very characters. As a regular expression they cannot be read: {fault}."
    if some := others.hits.bins:
        what = "The rewards here" if len(sides) == 1 else "The rewards of what matches the other filters"
        low, high = format.number(some[0].low), format.number(some[-1].high)
        lie = f"are all {low}" if low == high else f"lie between {low} and {high}"
        return f"No completion has a reward in this range. {what} {lie}."
    return f"No completion matches. Try {' or '.join(sides)}."


def bins(others: Found, chosen: Range) -> dict[str, Any]:
    """The rewards' histogram of what matches the other filters: each bin with its place, count, the least and greatest
    reward that are in it, and whether they lie in the range that is chosen."""
    some = others.hits.bins
    if len(some) < 2:
        return {"of": [], "low": "", "high": ""}
    most = max(one.count for one in some)
    return {
        "of": [
            {"at": one.at, "share": one.count / most, "range": f"{one.low!r}..{one.high!r}",
             "words": f"reward {between(one.low, one.high)}: {format.plural(one.count, 'completion')}",
             "chosen": chosen != OPEN and is_within(one, chosen)}
            for one in some
        ],
        "low": format.number(some[0].low), "high": format.number(some[-1].high),
    }  # fmt: skip


def is_within(one: Bin, chosen: Range) -> bool:
    """Whether all rewards of a bin lie in this range."""
    low, high = chosen
    return (low is None or low <= one.low) and (high is None or one.high <= high)


def between(low: float, high: float) -> str:
    """A range in words: 0.5, or 0.5 to 2."""
    return format.number(low) if low == high else f"{format.number(low)} to {format.number(high)}"


def draw_rows(run: registry.Run, path: Path, asked: Wanted, ids: list[int]) -> str:
    """The rows of a page as HTML. Completions of a group that show the very same, and of which nothing is said, are one
    row."""
    pattern = find_text.finder(asked.words, asked.regex)
    said = {(note.grp, note.idx): note for note in notes.of_run(run.id)}
    until = time.monotonic() + MARKING
    drawn = []
    for one, *others in alike_rows(find.rows(path, ids), said):
        left = until - time.monotonic()
        asked_text = " ".join(format.message_text(one["prompt"]).split())
        spans, of_prompt = (
            find_text.spans(pattern, text, seconds=left) if pattern is not None and left > 0 else []
            for text in (one["text"], asked_text)
        )
        question = excerpt_of(asked_text, of_prompt, before=20, longest=90)
        note = said.get((one["grp"], one["idx"]))
        drawn.append(completion_row(run.id, one, spans, question, note, [other["idx"] for other in others]))
    return "".join(drawn)


def alike_rows(rows: list[Row], said: Mapping[tuple[int, int], Any]) -> list[list[Row]]:
    """The rows in their order, each with those of its group that show the same, the first of them by number first.
    `said`: by group and index, of which completions something is said."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for one in rows:
        own = one["idx"] if (one["grp"], one["idx"]) in said else None
        shown = (one["reward"], one["advantage"], one["tokens"], one["truncated"], repr(one["scores"]))
        found.setdefault((one["grp"], own, one["text"], *shown), []).append(one)
    return [sorted(alike, key=lambda one: one["idx"]) for alike in found.values()]


def completion_row(
    run_id: str, one: Row, spans: list[tuple[int, int]], question: str, note: notes.Note | None, alike: list[int]
) -> str:
    """One completion: a star, an excerpt that leads to its group, what it was asked (as HTML), what it earned. `alike`:
    the indexes of those that this row stands for, too."""
    starred = note is not None and note.starred
    badge = f"{times(one['idx'], alike)} " if alike else ""
    mode = {"mode": "eval"} if one["mode"] == "eval" else {}
    place = {"id": run_id, "tab": "groups", "step": one["step"], "group": one["grp"], "idx": one["idx"], **mode}
    held_out = " · held-out" if one["mode"] == "eval" else ""
    truncated = ' · <span class="warn">truncated</span>' if one["truncated"] else ""
    remark = f'<p class="s note"><bdi>{escape(note.words)}</bdi></p>' if note is not None and note.words else ""
    return (
        f'<li class="hit" data-group="{one["grp"]}" data-idx="{one["idx"]}">'
        f'<button class="star" aria-pressed="{"true" if starred else "false"}" '
        f'aria-label="Star completion {one["idx"] + 1} of step {one["step"]}">{"★" if starred else "☆"}</button>'
        f'<div class="what"><a class="text" href="/run?{escape(urlencode(place))}" dir="auto">'
        f"{excerpt(one['text'], spans)}</a>"
        f'<p class="xs mut">{badge}<span>step {one["step"]}{held_out} · completion {one["idx"] + 1} · '
        f"{format.plural(one['tokens'], 'token')}{truncated}</span> · <bdi>{question}</bdi></p>{remark}</div>"
        f'<div class="earned"><span class="reward" title="total reward"><b>{format.number(one["reward"])}</b></span>'
        '<span class="s mut" title="advantage: how much better than its group">'
        f"{format.signed_number(one['advantage'])}</span>"
        f'<span class="scores">{"".join(score_text(name, *said) for name, said in one["scores"].items())}</span>'
        "</div></li>"
    )


def score_text(name: str, value: float | None, status: str) -> str:
    """One function's score, or why there is none."""
    if status != "ok" or value is None:
        says = f'<b class="warn">{escape(STATUS.get(status, status))}</b>'
    else:
        says = f"<b>{exact(value)}</b>"
    return f"<span><bdi>{escape(format.shorten(name, 24))}</bdi> {says}</span>"


@answer
def newest_completion(payload: Payload) -> dict[str, Any]:
    """The newest completion's number, by which a page knows that there are more than it shows."""
    run = run_of(payload)
    return {"newest": find.newest_completion(record_of(run)), "live": is_ongoing(run)}


def completions() -> gr.HTML:
    """The Completions part of a run's page."""
    return live(
        "pages/run/completions", find_completions, newest_completion, stars.annotate_completion, template=TEMPLATE,
        elem_id="part-completions", elem_classes=["gw-part", "gw-part-completions"],
    )  # fmt: skip
