"""Numbers as people write them who write a comma where a spec has a point: 0,0002. Pure."""

import re
from typing import Any

from groupwise.storage.spec.problem import Fix
from groupwise.storage.spec.yaml_text import yaml_number

LONGEST = 40  # characters of what may be a number
_NUMERAL = re.compile(r"([-+]?)([0-9][0-9.,]*|,[0-9]+)([eE][-+]?[0-9]{1,3})?")
_EITHER = re.compile(r"[1-9][0-9]{0,2},[0-9]{3}")  # 1,234 may be a thousand, or one and a bit
_DECIMAL = re.compile(r"[0-9]*,[0-9]+")  # 0,0002
_POINTS = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+,[0-9]+|[1-9][0-9]{0,2}(?:\.[0-9]{3}){2,}")  # 1.234,5  1.234.567
_COMMAS = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+\.[0-9]+|[1-9][0-9]{0,2}(?:,[0-9]{3}){2,}")  # 1,234.5  1,234,567


def meant_numbers(value: Any, *, whole: bool = False) -> dict[str, int | float]:
    """The numbers that a text may mean which is none as it is written, by their plain writing: of 0,0002 and of 1.234,5
    one, of 1,234 two; none of what is no such text. `whole`: only whole numbers are taken."""
    found = _NUMERAL.fullmatch(value.strip()) if isinstance(value, str) and len(value) <= LONGEST else None
    if found is None:
        return {}
    sign, run, exponent = found.groups("")
    read = {plain: yaml_number(plain) for plain in (f"{sign}{one}{exponent}" for one in _plain(run))}
    return {plain: number for plain, number in read.items() if isinstance(number, int if whole else (int, float))}


def _plain(run: str) -> list[str]:
    """The plain writings of a numeral, the likeliest first; none of one that is plain already."""
    if _EITHER.fullmatch(run):
        return [run.replace(",", "."), run.replace(",", "")]
    if _DECIMAL.fullmatch(run):
        return [run.replace(",", ".") if run[0] != "," else f"0.{run[1:]}"]
    if _POINTS.fullmatch(run):
        return [run.replace(".", "").replace(",", ".")]
    return [run.replace(",", "")] if _COMMAS.fullmatch(run) else []


def meant_number_words(value: Any, *, whole: bool = False) -> str:
    """“ Did you mean 0.0002?”; nothing where no number is meant."""
    meant = " or ".join(meant_numbers(value, whole=whole))
    return f" Did you mean {meant}?" if meant else ""


def number_fixes(path: str, value: Any, *, whole: bool = False) -> tuple[Fix, ...]:
    """A button for each number that may be meant."""
    meant = meant_numbers(value, whole=whole)
    return tuple(Fix(f"Use {plain}", {path: number}) for plain, number in meant.items())
