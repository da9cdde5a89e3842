"""A piece of a long text with what was searched for marked in it. Pure; the text is escaped here."""

from groupwise.app.ui.highlight import NOTHING
from groupwise.app.ui.safe_text import escape

BEFORE, LONGEST = 90, 280  # characters before the first match, and in all
HEAD = 170  # of a text in which nothing is marked: its beginning, and as its end what is left of LONGEST
Spans = list[tuple[int, int]]


def excerpt(text: str, spans: Spans) -> str:
    """The text around its first span as HTML; without one its beginning and its end, where the answer stands."""
    if not text:
        return NOTHING
    if len(text) <= LONGEST:
        return mark_spans(text, spans)
    if not spans:
        return f"{escape(text[:HEAD])} <b>…</b> {escape(text[HEAD - LONGEST :])}"
    return excerpt_of(text, spans, BEFORE, LONGEST)


def excerpt_of(text: str, spans: Spans, before: int, longest: int) -> str:
    """At most so many characters of a text as HTML: its beginning, or from some characters before its first span on."""
    if len(text) <= longest:
        return mark_spans(text, spans)
    start = min(max(0, spans[0][0] - before), len(text) - longest) if spans else 0
    end = start + longest
    inside = [(max(low, start) - start, min(high, end) - start) for low, high in spans if low < end and high > start]
    return (
        f"{'<b>…</b> ' if start else ''}{mark_spans(text[start:end], inside)}{' <b>…</b>' if end < len(text) else ''}"
    )


def mark_spans(text: str, spans: Spans) -> str:
    """The whole text as HTML, its spans (in order, apart from each other) marked."""
    parts, at = [], 0
    for start, end in spans:
        parts += [escape(text[at:start]), f"<mark>{escape(text[start:end])}</mark>"]
        at = end
    return "".join([*parts, escape(text[at:])])
