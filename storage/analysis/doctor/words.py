"""Numbers as verdicts write them. Pure."""

import math


def short_number(value: float) -> str:
    """A value in about three digits: 0.042, 1.42, 284, 1.2e-05."""
    if not math.isfinite(value):
        return str(value)
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 0.1 or value == 0 else 3
        text = f"{value:,.{digits}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        text = f"{value:.2g}"
    return text.replace("-", "−", 1) if text.startswith("-") else text


def percent(share: float) -> str:
    """A share as a percentage."""
    return f"{share * 100:.0f}\u202f%"  # a line never ends before the sign


def setting_text(value: object) -> str:
    """A setting as it is typed: 5e-06, 0.04, true."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
