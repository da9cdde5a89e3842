"""A completion's text as HTML: its tags in colour, what stands between them shaded, differences marked. All of it is
escaped here, piece by piece; nothing that a model wrote becomes markup or an attribute."""

import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from groupwise.app.ui.safe_text import escape
from groupwise.app.ui.word_diff import Span

# <think>, </answer>, <br/>; <|user|> of a chat template.
TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][\w-]{0,30})(?P<empty>/?)>|<\|[\w-]{1,30}\|>")
MOST_TAGS = 400  # of one text; what comes after stays plain
DEEPEST = 6  # regions within regions
NOTHING = '<span class="mut">(empty: the model ended at once)</span>'
# Colours of the tags that most prompts ask for; any other keeps one of its own by its name.
KNOWN = {"think": "r4", "thinking": "r4", "thought": "r4", "reasoning": "r4", "answer": "r3", "solution": "r3"}
OTHERS = ("r1", "r5", "r6", "r7", "r8")


class Tag(NamedTuple):
    """A tag of a text. `until`: where the region ends that it opens, if any; `wrong`: what is wrong with it."""

    start: int
    end: int
    name: str
    until: int | None
    wrong: str


def colour_tags(text: str) -> str:
    """The whole text, its tags coloured and their regions shaded; a sentence where it is empty."""
    return mark_text(text) if text else NOTHING


def mark_text(
    text: str, differences: Sequence[Span] = (), part: Span | None = None, found: list[Tag] | None = None
) -> str:
    """The text, or a part of it, as HTML. `differences` are marked; `found`: the text's tags, where they are known."""
    first, last = part or (0, len(text))
    out: list[str] = []
    open_until: list[int] = []
    at = first
    known = tags(text) if found is None else found
    spans = iter(differences)
    cutter = _Cutter(text, spans)

    def plain_up_to(end: int) -> None:
        nonlocal at
        while open_until and open_until[-1] <= end:
            out.append(cutter.piece(at, open_until[-1]))
            at = max(at, open_until.pop())
            out.append("</span>")
        out.append(cutter.piece(at, end))
        at = max(at, end)

    for tag in known:
        if tag.end <= first and (tag.until is None or tag.until <= first):
            continue
        if tag.start >= last:
            break
        plain_up_to(max(first, tag.start))
        if tag.until is not None and len(open_until) < DEEPEST:
            out.append(f'<span class="region {colour(tag.name)}">')
            open_until.append(min(tag.until, last))
        if tag.end > first:
            out.append(_tag(text, tag, cutter.touches(tag.start, tag.end)))
            at = max(at, tag.end)
            if open_until and open_until[-1] <= at:
                open_until.pop()
                out.append("</span>")
    plain_up_to(last)
    return "".join(out)


def tags(text: str) -> list[Tag]:
    """The text's tags, in order, each with its region where it is closed. An unclosed one of those that a prompt may
    ask for has a region too, to the end of the one around it: that is what a truncated completion looks like."""
    found = list(islice(TAG.finditer(text), MOST_TAGS))
    closes, strays = _pairs(found)
    made: list[Tag] = []
    ends: list[int] = []  # of the regions around
    for n, match in enumerate(found):
        name = match["name"] or ""
        while ends and ends[-1] <= match.start():
            ends.pop()
        until, wrong = None, ""
        if n in closes:
            until = found[closes[n]].end()
        elif n in strays:
            wrong = "closes nothing"
        elif name and not match["end"] and not match["empty"]:
            known = name.lower() in KNOWN  # vector<int> is none
            wrong, until = ("never closed", ends[-1] if ends else len(text)) if known else ("", None)
        if until is not None:
            ends.append(until)
        made.append(Tag(*match.span(), name.lower(), until, wrong))
    return made


def _pairs(found: list[re.Match[str]]) -> tuple[dict[int, int], set[int]]:
    """Which opening tag each closing one closes, as places; and the closing ones that close nothing. What is closed
    from outside stays unclosed within."""
    closes: dict[int, int] = {}
    strays: set[int] = set()
    stack: list[tuple[str, int]] = []
    for n, match in enumerate(found):
        name = (match["name"] or "").lower()
        if not name or match["empty"]:
            continue
        if not match["end"]:
            stack.append((name, n))
        elif any(name == opened for opened, _ in stack):
            while stack[-1][0] != name:
                stack.pop()
            closes[stack.pop()[1]] = n
        else:
            strays.add(n)
    return closes, strays


def colour(name: str) -> str:
    """The colour of a tag: the same in every completion and every run."""
    return KNOWN.get(name) or OTHERS[zlib.crc32(name.encode()) % len(OTHERS)]


def _tag(text: str, tag: Tag, differs: bool) -> str:
    words = escape(text[tag.start : tag.end])
    wrong = f' title="{tag.wrong}"' if tag.wrong else ""
    classes = f"tag {colour(tag.name)}{' wrong' if tag.wrong else ''}"
    inner = f"<mark>{words}</mark>" if differs else words
    return f'<span class="{classes}"{wrong}>{inner}</span>'


class _Cutter:
    """Cuts a text, from its start to its end, into what differs and what does not."""

    def __init__(self, text: str, spans: Iterator[Span]) -> None:
        self._text, self._spans = text, spans
        self._now = next(spans, None)

    def piece(self, start: int, end: int) -> str:
        """Escape a stretch of the text, and mark what differs in it."""
        out = []
        while start < end:
            span = self._next_span(start)
            if span is None or span[0] >= end:
                out.append(escape(self._text[start:end]))
                break
            if span[0] > start:
                out.append(escape(self._text[start : span[0]]))
            upto = min(end, span[1])
            out.append(f"<mark>{escape(self._text[max(start, span[0]) : upto])}</mark>")
            start = upto
        return "".join(out)

    def touches(self, start: int, end: int) -> bool:
        """Tell whether any of a stretch differs."""
        span = self._next_span(start)
        return span is not None and span[0] < end

    def _next_span(self, place: int) -> Span | None:
        """The first span that ends after this place."""
        while self._now is not None and self._now[1] <= place:
            self._now = next(self._spans, None)
        return self._now
