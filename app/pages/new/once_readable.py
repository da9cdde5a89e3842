"""What is to be said of a text that cannot be read once its slips are put right, said with them: nobody fixes a spec in
rounds."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from groupwise.app.pages.new import said_later
from groupwise.app.pages.new.left_out import is_at_or_inside
from groupwise.storage.spec.words.problem import WARNING, Problem, in_order_of_lines, is_later, line_of
from groupwise.storage.spec.yaml import yaml_text
from groupwise.storage.spec.yaml.slips import read_past_slips
from groupwise.storage.spec.yaml.twice import can_be_joined, is_given_twice

MOST_LINES = 400  # of a text of which it is looked for: each slip is a reading of the whole
BUTTONS = (0, -1)  # of each slip: of what is given twice, the last keeps another of the two than the first

Judge = Callable[[dict[str, Any], dict[str, int]], list[Problem]]


@dataclass(frozen=True)
class _Way:
    """What is told of a text once one button of each slip is clicked. `lines`: of each field, as it is written now."""

    lines: dict[str, int]
    problems: list[Problem]
    raw: dict[str, Any]

    def own(self, problems: Iterable[Problem], judge: Judge) -> set[tuple[str, str]]:
        """Those of the problems that wait for no slip (field and message)."""

        def alone(raw: dict[str, Any]) -> list[Problem]:
            return judge(raw, {})

        return {said_later.place_and_words(one) for one in problems if said_later.is_of_itself(one, self.raw, alone)}

    def more(self) -> set[tuple[str, str]]:
        """The problems (field and message) that are told beside another of their field."""
        seen, found = set[str](), set[tuple[str, str]]()
        for one in self.problems:
            found |= {said_later.place_and_words(one)} if one.field in seen else set()
            seen.add(one.field)
        return found

    def doubts(self, said: Collection[str]) -> list[Problem]:
        """What it is warned of, beside fields of which something is `said`, but for what is said of them later."""
        doubts = (one for one in self.problems if one.level == WARNING)
        wanted = (one for one in doubts if one.field not in said or is_later(one.message))
        return [replace(one, line=line_of(one.field, self.lines), fixes=()) for one in wanted]


def text_once_read(text: str) -> said_later.AfterCuts | None:
    """What a text that cannot be read is once the first button of each of its slips is clicked: what only the worker
    can tell is asked of that. None where it still cannot be read, or is far longer than specs are."""
    if yaml_text.is_too_large(text) or text.count("\n") > MOST_LINES:
        return None
    return said_later.text_after_cuts(text, in_order_of_lines(read_past_slips(text).problems))


def say_once_readable(text: str, found: Sequence[Problem], judge: Judge) -> list[Problem]:
    """What is to be said, beside what is found. Of a part that is given twice, either may be kept, and told is what is
    true of both, and what is wrong with a value of either. `judge`: what tells the problems of plain values."""
    if text.count("\n") > MOST_LINES:
        return []
    twice = {one.field for one in found if is_given_twice(one)}
    ways, told = _read_ways(text, found, judge, twice)
    of_all = set.intersection(*({one.field for one in way.problems} for way in ways)) if ways else set()
    known, said = {(one.field, one.message) for one in found}, {one.field for one in found}
    joined = [one.field for one in found if can_be_joined(one)]  # by the first button alone
    for way in ways:
        new = [one for one in way.problems if (one.field, one.message) not in known]
        new = [one for one in new if one.field in of_all or _is_of_either(one.field, way.lines, twice, joined)]
        unsure = {one.line for one in found if not is_given_twice(one) and not one.field}
        sure = (one for one in new if line_of(one.field, way.lines) not in unsure)
        own = way.own(sure, judge)
        told += said_later.say_then(new, said, way.lines, twice, own=own, more=way.more())
        said |= {one.field for one in told}
        joined = []
    doubts = [way.doubts(said) for way in ways]
    told += [one for one in doubts[0] if all(one in others for others in doubts)] if doubts else []
    return list({(one.field, one.message): one for one in told}.values())  # one that several buttons may lead to


def _read_ways(
    text: str, found: Sequence[Problem], judge: Judge, twice: set[str]
) -> tuple[list[_Way], list[Problem]]:  # fmt: skip
    """The text by each of the buttons that lead to another, as far as it can be read then, and the slips that came to
    sight on the way; their fields are added to those of what is given `twice`."""
    ways, told = list[_Way](), list[Problem]()
    for button in BUTTONS:
        after = said_later.text_after_cuts(text, found, button)
        raw, lines = yaml_text.read_yaml(after.text) if after is not None else (None, {})
        if after is None or not isinstance(raw, dict):
            continue
        met = said_later.slips_met(after.met, [*found, *told])
        told += met
        twice |= {one.field for one in met if one.field}
        ways.append(_Way(after.lines_as_written(lines), judge(raw, lines), raw))
        if not twice:  # nothing of which another button keeps another value
            break
    return ways, told


def _is_of_either(field: str, lines: Mapping[str, int], twice: Collection[str], joined: Collection[str]) -> bool:
    """Whether it is of a value that stands in what is given twice, or of one part made of both (`joined`), where none
    is left out. What else follows from one of the two alone, as of a default, is said once that is chosen."""
    inside = [one for one in (field, field.rpartition(".")[0]) if one in lines]
    written = any(one.startswith(f"{each}.") or one == each == field for one in inside for each in twice)
    return written or any(is_at_or_inside(field, one) for one in joined)
