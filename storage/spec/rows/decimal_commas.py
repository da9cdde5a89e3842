"""Several numbers of a spec that are written with a decimal comma: one button that writes a point in all. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from groupwise.storage.spec.rows.number_text import is_with_decimal_comma, scalars_by_path
from groupwise.storage.spec.words.problem import Fix, Problem


def offer_points_in_all(problems: Iterable[Problem], text: str) -> list[Problem]:
    """The problems of a text, those of a decimal comma with a button for all of them behind the one for itself. One
    that may be between thousands as well (1,234) is none of them."""
    found = list(problems)
    written = scalars_by_path(text, is_with_decimal_comma) if "," in text else {}
    meant = {path: fix.settings[path] for one in found for path, fix in _of_comma(one, written)}
    if len(meant) < 2:
        return found
    every = Fix(f"Use points in {'both' if len(meant) == 2 else f'all {len(meant)}'}", meant)
    return [_with_fix(one, every, written) for one in found]


def _of_comma(problem: Problem, written: dict[str, str]) -> Iterator[tuple[str, Fix]]:
    """The fixes that write a number in place of one with a decimal comma, each by its path."""
    for fix in problem.fixes:
        path = next(iter(fix.settings), "")
        number = fix.settings.get(path)
        if path in written and len(fix.settings) == 1 and not fix.removed and type(number) in (int, float):
            yield path, fix


def _with_fix(problem: Problem, every: Fix, written: dict[str, str]) -> Problem:
    own = [fix for _, fix in _of_comma(problem, written)]
    place = problem.fixes.index(own[-1]) + 1 if own else 0
    return replace(problem, fixes=(*problem.fixes[:place], every, *problem.fixes[place:])) if own else problem
