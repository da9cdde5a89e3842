"""Numbers, durations, ages and sizes as a person reads them. Pure."""

import math
import time
from typing import Any

from groupwise.storage.spec.words.number_words import count_words, with_digits, write_number

MINUTE, HOUR, DAY = 60, 3600, 86400
CENTURY, CENTURIES = 36525 * DAY, 2e11  # what a clock or a calendar can say


def number(value: float | None, digits: int = 3) -> str:
    """A value in about `digits` digits: 0.042, 0.88, 1.42, 284, 12,840, 1.2e-5; “–” for none."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return write_number(value, digits)


def signed_number(value: float) -> str:
    """An advantage: +1.6, −0.4, 0.0; a huge one as `number` writes it."""
    if abs(value) >= 1000:
        return f"{'+' if value > 0 else ''}{number(value)}"
    return f"{'+' if value >= 0.05 else '−' if value <= -0.05 else ''}{with_digits(abs(value), 1)}"


def nearest(value: float) -> int:
    """The nearest whole number; a half goes up, as a browser rounds it."""
    return math.floor(value + 0.5)


def count(value: int) -> str:
    """A whole number with commas between thousands: 12,840."""
    return f"{value:,}"


def plural(n: int, one: str, many: str | None = None) -> str:
    """A number and its noun: 1 run, 2 runs; `many` where the plural is not `one` with an s."""
    return count_words(n, one, many or "")


def step_range(bounds: tuple[int, int]) -> str:
    """Some steps in words, by the first and the last of them: step 3, steps 3–58, steps 901–1,000."""
    first, last = map(count, bounds)
    return f"step {first}" if first == last else f"steps {first}–{last}"


def duration(seconds: float, *, roughly: bool = False) -> str:
    """How long: 0.42 s, 4.2 s, 12 s, 1 min 33 s, 50 min, 1 h 31 min, 3 d 4 h. `roughly`: of what is only estimated, or
    goes on: 2 min, not 1 min 33 s."""
    if seconds < 0.995:
        return f"{with_digits(max(0.0, seconds), 2)} s"
    if seconds < 9.95:
        return f"{with_digits(seconds, 1)} s"
    if nearest(seconds) < MINUTE:
        return f"{nearest(seconds)} s"
    if seconds < 10 * MINUTE and not roughly:
        minutes, rest = divmod(nearest(seconds), MINUTE)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    if seconds < 90 * MINUTE:
        return f"{nearest(seconds / MINUTE)} min"
    if seconds < 2 * DAY:
        hours, rest = divmod(nearest(seconds / MINUTE), 60)
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    days, rest = divmod(nearest(seconds / HOUR), 24)
    return f"{days} d {rest} h" if rest else f"{days} d"


def age(then: float | None, now: float | None = None) -> str:
    """How long ago: now, 5 s ago, 3 min ago, 2 h ago, yesterday, 4 days ago, 2026-01-31."""
    if then is None:
        return "never"
    seconds = (time.time() if now is None else now) - then
    if not seconds < CENTURY:  # NaN as well
        return "long ago"
    if seconds < 1.5:
        return "now"
    if nearest(seconds) < MINUTE:  # rounded as rough durations are: a run was launched no later than it has trained for
        return f"{nearest(seconds)} s ago"
    if seconds < 90 * MINUTE:
        return f"{nearest(seconds / MINUTE)} min ago"
    if seconds < DAY:
        return f"{nearest(seconds / HOUR)} h ago"
    if seconds < 2 * DAY:
        return "yesterday"
    if seconds < 30 * DAY:
        return f"{int(seconds // DAY)} days ago"
    return time.strftime("%Y-%m-%d", time.localtime(then))


def clock(at: float) -> str:
    """The time of day, here: 14:32:08; “–” for what no calendar can say."""
    return time.strftime("%H:%M:%S", time.localtime(at)) if abs(at) < CENTURIES else "–"


def size(nbytes: int) -> str:
    """A size: 812 B, 3.2 MB, 1.5 GB; beyond what any machine has, 1,000+ TB."""
    value = float(nbytes)
    if value >= 1e15:
        return "1,000+ TB"
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1000:
            return f"{with_digits(value, 0 if unit == 'B' or value >= 100 else 1)} {unit}"
        value /= 1000
    return f"{with_digits(value, 1)} TB"


def shorten(text: str, limit: int) -> str:
    """The text on one line, cut at `limit` characters."""
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def shorten_sentence(text: str, limit: int) -> str:
    """The same, cut between two words where that leaves most of what fits."""
    line = shorten(text, limit * 4)
    at = line.rfind(" ", 0, limit)
    return f"{line[:at].rstrip(',;:')}…" if len(line) > limit and at > limit * 2 // 3 else shorten(line, limit)


def mid_sentence(words: str) -> str:
    """Words that begin a sentence, as they stand within one: The KL → the KL; a name in capitals stays (KL rises)."""
    return words if words[1:2].isupper() else f"{words[:1].lower()}{words[1:]}"


def message_text(prompt: Any) -> str:
    """What a person asked: the last message of a chat, or the text itself."""
    if isinstance(prompt, list) and prompt and isinstance(prompt[-1], dict):
        return str(prompt[-1].get("content") or "")
    return str(prompt)


def progress(step: int, total: int) -> str:
    """step 12 of 60, or step 12 while the plan is not known."""
    return f"step {count(step)} of {count(total)}" if total else f"step {count(step)}"
