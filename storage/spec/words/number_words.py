"""A number, and with its noun, in words that agree; several things in one sentence. Pure."""

import math
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal

_EXACT = Context(prec=400)  # of any float; the process's own context is whatever a library has made of it
NOISE = 4  # digits beyond those that are shown (app/ui/number.js)
_PADDED = re.compile(r"e([+-])0+(?=\d)")


def count_words(n: int, noun: str, many: str = "") -> str:
    """1 row, 2,000 rows; `many` where the plural is not the noun with an s."""
    return f"{n:,} {noun if n == 1 else many or f'{noun}s'}"


def count_part(part: int, of: int, noun: str, *, the: bool = False) -> str:
    """3 of 64 groups; where it is all of them all 64 groups, both groups, the only group. `the`: 3 of the 64 groups."""
    if part < of:
        return f"{part:,} of {'the ' if the else ''}{count_words(of, noun)}"
    whole = count_words(of, noun)
    return f"the only {noun}" if of == 1 else f"both {whole.partition(' ')[2]}" if of == 2 else f"all {whole}"


def three_figures(n: int) -> int:
    """An estimate without the digits that it does not know: 1,234,567 is 1,230,000."""
    return int(float(f"{n:.3g}"))


def are_words(n: int) -> str:
    """Gives “is” of one, “are” of any other number."""
    return "is" if n == 1 else "are"


def join_words(words: Sequence[str], most: int = 0) -> str:
    """“a, b and c”; of more than `most` (0: however many) “a, b and 3 more”."""
    more = len(words) - most if most else 0
    shown = [*words[:most], f"{more:,} more"] if more > 0 else list(words)
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def short_exponent(text: str) -> str:
    """A number's text with its exponent as a browser and the charts write it, and people type it: 2e-05 is 2e-5."""
    return _PADDED.sub(r"e\1", text)


def with_digits(value: float, digits: int) -> str:
    """With so many digits behind the point, and commas between thousands; a half is rounded away from 0. What is beyond
    by less than that can show is noise of single precision, in which rewards are reckoned: 0.97499996 and 0.97500002
    are one number."""
    return f"{_rounded(_rounded(value, digits + NOISE), digits):,f}"


def write_number(value: float, digits: int = 3) -> str:
    """A finite value in about `digits` digits, as pages and app/ui/number.js write it: 0.042, 1.70, 284, 12,840,
    1.2e-5."""
    size = abs(value)
    if size == 0:
        return "0"
    if size < 1e-3 or size >= 1e9:
        text = short_exponent(f"{value:.{digits - 2}e}")
    elif size >= 10 ** (digits - 1):
        text = with_digits(value, 0)
    else:
        magnitude = math.floor(math.log10(size))
        text = with_digits(value, digits - 1 - (magnitude if magnitude >= 0 else magnitude + 1))
    return text.replace("-", "−", 1) if text.startswith("-") else text


def _rounded(value: float | Decimal, digits: int) -> Decimal:
    return Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, _EXACT)
