"""Numbers as verdicts write them. Pure."""

import math
from collections.abc import Sequence

from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.record.recent import Steps
from groupwise.storage.spec.words.number_words import with_digits, write_number


def write_figure(value: float) -> str:
    """A figure that a card or the label of a chart has too, as it is written there: 1.70, 8.2e-4."""
    return write_number(value) if math.isfinite(value) else str(value)


def short_number(value: float) -> str:
    """A value that stands on no chart, such as a score or a threshold, without zeros at its end: 0.04, 1.5, 284."""
    text = write_figure(value)
    if "e" in text:
        return text.replace(".0e", "e")
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float) -> str:
    """A share in whole percent, as app/ui/number.js writes it, rounded as it is as a figure: 0.525 is 0.53 and 53 %.
    Little is not nothing, nor nearly all all."""
    return _say_percent(share, _whole_percent(share))


def percent_without(share: float) -> str:
    """What a share leaves, as `percent`: both together are 100."""
    return _say_percent(1 - share, 100 - _whole_percent(share))


def percent_parts(whole: float, parts: Sequence[float]) -> list[str]:
    """Parts of a share as `percent` writes each; where these do not add up to what it writes of the whole (0.0625 and
    0.0125 of 0.075), with a tenth, so that none is rounded to another number than it is (app/ui/number.js)."""
    is_all = abs(math.fsum(parts) - whole) <= 1e-6
    if not is_all or sum(map(_whole_percent, parts)) == _whole_percent(whole):
        return [percent(part) for part in parts]
    return [_percent_with_tenth(part) for part in parts]


def _percent_with_tenth(share: float) -> str:
    known = "<0.1" if 0 < share < 0.0005 else with_digits(100 * share, 1 if share else 0)
    return f"{known}\u202f%"


def _whole_percent(share: float) -> int:
    return round(float(with_digits(share, 2).replace(",", "")) * 100)


def _say_percent(share: float, whole: int) -> str:
    known = "<1" if share > 0 and whole == 0 else ">99" if share < 1 and whole == 100 else f"{whole:,}"
    return f"{known}\u202f%"  # a line never ends before the sign


def last_steps(curve: Curve) -> str:
    """The steps that what a metric is now is the mean of: “the last 10 logged steps”; of one log of several steps
    these: “steps 21–30”."""
    count, (first, last) = curve.course.count, curve.course.ended
    if count == 1 and last > first:
        return f"steps {first:,}–{last:,}"
    return f"the last {count} logged steps" if count > 1 else "the last logged step"


def first_steps(curve: Curve) -> str:
    """The steps that what a metric was in its very first steps is the mean of: “the first 5 logged steps”; without
    “logged” where they are known by their groups."""
    count, steps = curve.opening_points
    logged = " logged" if steps == curve.course.began else ""
    return f"the first {count}{logged} steps" if count > 1 else f"the first{logged} step"


def steps_between(steps: Steps) -> str:
    """Steps as an address names them: “11..20”."""
    return f"{steps[0]}..{steps[1]}"


def setting_text(value: object) -> str:
    """A setting as it is typed: 5e-06, 0.04, true; “” for none."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
