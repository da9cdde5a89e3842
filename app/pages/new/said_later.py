"""What would come to sight only once the problems of a spec are put right, said with them: nobody fixes a spec in
rounds. The first button of each is tried on a copy, and what is then wrong told with the rest. Pure."""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from groupwise.app.pages.new import edits
from groupwise.app.pages.new.edits import Edit
from groupwise.app.pages.new.left_out import LeftOut, is_at_or_inside, leave_out
from groupwise.app.pages.new.yaml_edit import ABSENT
from groupwise.storage.spec.words.problem import (
    BLOCKING,
    UNSET,
    WARNING,
    Cut,
    Fix,
    Problem,
    SpecError,
    is_later,
    line_of,
    name_of_setting,
    told_later,
    whole_sentence,
    without_then,
)
from groupwise.storage.spec.yaml import yaml_text
from groupwise.storage.spec.yaml.misread import COMMA
from groupwise.storage.spec.yaml.slips import read_past_slips
from groupwise.storage.spec.yaml.twice import is_given_twice

ROUNDS = 6  # of fixes, one after the other
NOT_INSTALLED = "not installed here"  # a package is to be installed whatever else is to be fixed
OF_VALUE = "should be "  # how a message begins that refuses a value by itself
MOST = 20  # problems that are told so: beyond, the text is something else altogether

Judge = Callable[[dict[str, Any]], list[Problem]]
Types = dict[str, list[str]]


def say_what_follows(
    problems: Iterable[Problem], raw: dict[str, Any], lines: dict[str, int], judge: Judge, types: Types
) -> list[Problem]:
    """The problems of plain values, and those that block once the first fix of each is made, or warn of what is
    written: without a button, as there is nothing to change yet. `lines`: of each field; `judge`: what tells the
    problems of other values; `types`: what fields take."""
    found = list(problems)
    said = {one.field for one in found if one.level == BLOCKING}
    now, values, ways = found, raw, list[_Way]()
    joined = set[tuple[str, str]]()
    for _ in range(ROUNDS):
        fixable = [one for one in now if one.level == BLOCKING and one.fixes and _is_meant(one.fixes[0], values)]
        fixes = [one.fixes[0] for one in fixable]
        after = _after_fixes(values, fixes, types)
        if after == values:
            break
        ways.append(_Way(values, fixes))
        before, now, values = values, judge(after), after
        told = {without_then(one) for one in found}
        new = [one for one in now if one.message not in told]
        # what a fix moves has a problem at its own place already, which is not this one
        moved = {_place_at_first(one.field, ways) for one in new if ways[-1].moves(one.field)}
        placed = [replace(one, field=_place_at_first(one.field, ways)) for one in new]
        written = {_place_at_first(path, ways) for fix in fixes for path in fix.settings} | lines.keys()
        warned = {one.field for one in found if one.level == WARNING}
        doubts = [one for one in placed if one.level == WARNING and one.field in written - warned]
        alone = partial(_told_after, before, judge, types)
        both = zip(placed, new, strict=True)
        alone_wrong = [(one, there) for one, there in both if is_of_itself(there, values, judge)]
        own = {place_and_words(one) for one, there in alone_wrong if _is_same_setting(one, there)}
        found, parts = _join_moved(found, alone_wrong)
        joined |= parts
        placed = [one for one in placed if place_and_words(one) not in joined]
        causes = _Causes(fixable, alone)
        waiting = say_then(placed, said - moved, lines, own=own, names=causes.names_elsewhere)
        then = [*waiting, *_say_doubts(doubts, causes, lines)]
        said |= {one.field for one in then if one.level == BLOCKING}
        for one in then:
            found.insert(_behind_line(found, one.line), one)
    return found


def _join_moved(
    found: list[Problem], after: list[tuple[Problem, Problem]]
) -> tuple[list[Problem], set[tuple[str, str]]]:
    """The problems, where a setting that has another place, and a value that is wrong there, is one; and what was
    joined so (field and message). `after`: what is told once it is at its place: at the first place, and there."""
    parts = set[tuple[str, str]]()
    for one, there in after:
        places = [n for n, each in enumerate(found) if each.field == one.field and each.level == BLOCKING]
        both = _joined(found[places[0]], there) if len(places) == 1 else None
        if both is not None:
            found = [*found[: places[0]], both, *found[places[0] + 1 :]]
            parts.add(place_and_words(one))
    return found, parts


def _joined(one: Problem, there: Problem) -> Problem | None:
    """A setting that has another place with what its value should be there, and the clicks that put both right; None
    where it is not moved there, or its value is refused for more than what it is, or what it needs."""
    moves = [fix for fix in one.fixes if fix.removed == (one.field,) and [*fix.settings] == [there.field]]
    if not moves or not (there.message.startswith(OF_VALUE) or NOT_INSTALLED in there.message):
        return None
    words = whole_sentence(there, "It")
    both = tuple(
        Fix(f"{moves[0].label}, and {fix.label[:1].lower()}{fix.label[1:]}", fix.settings, (one.field,))
        for fix in there.fixes
        if [*fix.settings] == [there.field] and not (fix.removed or fix.cut or fix.leads)
    )
    kept = (fix for fix in one.fixes if not both or fix not in moves)
    return replace(one, message=f"{one.message} {words[:1].upper()}{words[1:]}", fixes=(*both, *kept))


def _told_after(raw: dict[str, Any], judge: Judge, types: Types, fix: Fix) -> list[Problem]:
    return judge(_after_fixes(raw, [fix], types))


class _Causes:
    """Which problem has to be fixed before another comes to sight. `alone`: what is told once one fix alone is made."""

    def __init__(self, fixable: list[Problem], alone: Callable[[Fix], list[Problem]]) -> None:
        self._fixable, self._alone = fixable, alone
        self._told: list[set[str]] = []

    def names_of(self, later: Problem) -> list[str]:
        """What they are called. A warning stands in a list of its own, where “that” would be nothing."""
        return list(dict.fromkeys(map(_called, self._of(later))))

    def names_elsewhere(self, later: Problem) -> list[str]:
        """What they are called where none is at its own field, which “that” is beside it."""
        is_beside = any(one.field == later.field for one in self._of(later))
        return [] if is_beside else self.names_of(later)

    def _of(self, later: Problem) -> list[Problem]:
        """One that is enough by itself, else all."""
        causes = self._fixable
        if len(causes) > 1:
            self._told = self._told or [{one.message for one in self._alone(cause.fixes[0])} for cause in causes[:MOST]]
            enough = (one for one, told in zip(causes, self._told, strict=False) if later.message in told)
            causes = [*islice(enough, 1)] or causes
        return causes


def _called(cause: Problem) -> str:
    return cause.subject or f"“{name_of_setting(cause.field)}”"


def _say_doubts(doubts: Iterable[Problem], causes: _Causes, lines: dict[str, int]) -> list[Problem]:
    """What is then warned of, with the name of what is to be fixed first: what is meant stands in the text already."""
    return [
        replace(one, message=told_later(one, causes.names_of(one)), line=line_of(one.field, lines), fixes=())
        for one in doubts
    ]


def _behind_line(found: list[Problem], line: int | None) -> int:
    """The place behind what is said of a line, or of those before it."""
    before = [n for n, one in enumerate(found) if one.level == BLOCKING and one.line and one.line <= (line or 0)]
    return before[-1] + 1 if before else 0 if line else len(found)


def say_then(
    problems: Iterable[Problem], said: Collection[str], lines: dict[str, int], alone: Collection[str] = (), *,
    own: Collection[tuple[str, str]] = (), more: Collection[tuple[str, str]] = (),
    names: Callable[[Problem], list[str]] = lambda _: [],
) -> list[Problem]:  # fmt: skip
    """Those of the problems that block and of whose field nothing is `said` yet, each once, as what is told later.
    `alone`: fields of which something is said, but nothing of what they are. `own`: what waits for nothing (field and
    message); `more`: what is told beside what is said of its field; `names`: what has to be fixed first, elsewhere."""
    new: list[Problem] = []
    for one in problems:
        known = (
            ()
            if is_later(one.message) or place_and_words(one) in more
            else (*(set(said) - set(alone)), *(each.field for each in new))
        )
        is_known = any(is_at_or_inside(each, one.field) for each in known)
        if one.level == BLOCKING and not is_known and len(new) < MOST:
            waits = place_and_words(one) not in own and NOT_INSTALLED not in one.message
            at_once = replace(one, message=without_then(one).removeprefix(UNSET))
            message = told_later(at_once, names(one)) if waits else at_once.message
            new.append(replace(one, message=message, line=line_of(one.field, lines), fixes=()))
    return new


def place_and_words(problem: Problem) -> tuple[str, str]:
    """What makes it one of its own, without what it waits for."""
    return problem.field, without_then(problem)


def is_of_itself(problem: Problem, raw: dict[str, Any], judge: Judge) -> bool:
    """Whether it is true of its setting whatever else is set: then it waits for no other setting."""
    only = _only_at(raw, problem.field.split(".")) if problem.level == BLOCKING and problem.field else ABSENT
    if not isinstance(only, dict):
        return False
    words = without_then(problem)
    return any(one.level == BLOCKING and one.message == words for one in judge(only))


def _is_same_setting(written: Problem, after: Problem) -> bool:
    """Whether a setting has its name already, wherever it belongs: of another name it is not sure what was meant."""
    return written.field.rpartition(".")[2] == after.field.rpartition(".")[2]


def _only_at(value: Any, path: list[str]) -> Any:
    """Plain values with nothing but what stands at a path, which is ABSENT where nothing does."""
    if not path:
        return value
    name, *rest = path
    if isinstance(value, dict) and name in value:
        inner = _only_at(value[name], rest)
        return ABSENT if inner is ABSENT else {name: inner}
    if isinstance(value, list) and name.isdigit() and int(name) < len(value):
        inner = _only_at(value[int(name)], rest)
        return ABSENT if inner is ABSENT else [inner]
    return ABSENT


@dataclass(frozen=True)
class AfterCuts:
    """A text once buttons of its slips are clicked, and each of its lines as it is counted in the text before. `met`:
    the slips that came to sight on the way, which may be those of before."""

    text: str
    written: list[int]
    met: tuple[Problem, ...] = ()

    def lines_as_written(self, lines: dict[str, int]) -> dict[str, int]:
        return {field: self._line_before(line) for field, line in lines.items()}

    def _line_before(self, line: int) -> int:
        return self.written[min(line, len(self.written)) - 1]

    def click(self, cut: Cut) -> "AfterCuts":
        text = edits.cut_out(self.text, [{"fix": {"cut": asdict(cut)}}])
        if text == self.text:
            return self
        first, gone = cut.line - 1, cut.text.count("\n")
        rows = self.text.splitlines()[first : first + gone + 1]
        own = self.written[first : first + gone + 1]
        placed = [_line_of_row(row, n, rows, own) for n, row in enumerate(cut.put.split("\n")[:-1])]
        return replace(self, text=text, written=[*self.written[:first], *placed, *self.written[first + gone :]])

    def meet(self, slips: list[Problem]) -> "AfterCuts":
        placed = (replace(one, line=one.line and self._line_before(one.line), fixes=()) for one in slips)
        return replace(self, met=(*self.met, *placed))


def _line_of_row(put: str, at: int, rows: list[str], lines: list[int]) -> int:
    """The line of that one of some rows which is put there, moved or not; else of the one at its place."""
    same = (line for row, line in zip(rows, lines, strict=False) if row.strip() == put.strip())
    return next(same, lines[min(at, len(lines) - 1)])


def text_after_cuts(text: str, problems: Iterable[Problem], button: int = 0) -> AfterCuts | None:
    """A text once the first button of each of its slips (or the one at this place, where it has more) is clicked, and
    of those that are left then; None where it can still not be read."""
    after, left = AfterCuts(text, list(range(1, len(text.splitlines()) + 2))), list(problems)
    for _ in range(ROUNDS):
        # of what is given twice some buttons fit only once other slips in it are put right
        first = [one for one in left if one.fixes and not is_given_twice(one)] or left
        offered = [[fix.cut for fix in one.fixes if fix.cut] for one in first]
        cuts = [of_one[button] for of_one in offered if of_one]
        for cut in sorted(cuts, key=lambda one: (one.line, one.column), reverse=True):
            after = after.click(cut)
        try:
            yaml_text.read_yaml(after.text)
        except SpecError:
            left = read_past_slips(after.text).problems
            after = after.meet(left)
        else:
            return after
    return None


def slips_met(met: Iterable[Problem], found: Iterable[Problem]) -> list[Problem]:
    """The slips that came to sight only behind others, each once, as what is told later."""
    told, new = {(one.line, _without_lines(one)) for one in found}, list[Problem]()
    for one in met:
        if (one.line, _without_lines(one)) not in told and len(new) < MOST:
            told.add((one.line, _without_lines(one)))
            new.append(replace(one, message=told_later(one)))
    return new


def _without_lines(problem: Problem) -> str:
    """What it says, wherever that stands: lines move. Of a decimal comma not which number is meant: what stands around
    it tells."""
    return re.sub(r"line \d+", "line", without_then(problem)).partition(COMMA)[0]


def _is_meant(fix: Fix, raw: dict[str, Any]) -> bool:
    """Whether a fix makes values what was meant. What follows from a usual one (another model can be chosen than the
    starter), or from a number that nobody wrote, is wrong only for who takes it."""
    made_up = (_is_made_up(value, edits.value_at(raw, path)) for path, value in fix.settings.items())
    return not (fix.cut or fix.leads or fix.fallback or (not fix.removed and any(made_up)))


def _is_made_up(value: Any, written: Any) -> bool:
    """Whether a fix sets a value where none stands, or a number for another."""
    is_number = isinstance(written, (int, float)) and not isinstance(written, bool)
    return written in (None, "", ABSENT) or (is_number and isinstance(value, (int, float)) and value != written)


def _after_fixes(raw: dict[str, Any], fixes: list[Fix], types: Types) -> dict[str, Any]:
    """What is set is set first, a whole part before what is in it; then goes what goes, from the end."""
    made = edits.read_edits([{"fix": {"settings": fix.settings, "removed": [*fix.removed]}} for fix in fixes], types)
    given = sorted((one for one in made if one.value is not ABSENT), key=lambda one: one.path.count("."))
    gone = {one.path for one in made if one.value is ABSENT}
    return edits.after_edits(raw, [*given, *(Edit(path, ABSENT) for path in _from_the_end(gone))])


def _from_the_end(paths: Iterable[str]) -> list[str]:
    return sorted(paths, key=edits.sort_key, reverse=True)


class _Way:
    """From where something is after fixes to where it was before them."""

    def __init__(self, raw: dict[str, Any], fixes: list[Fix]) -> None:
        self._out: LeftOut = leave_out(raw, [path for fix in fixes for path in fix.removed], LeftOut())
        self._moved: dict[str, str] = {}
        for fix in fixes:
            [old, *others] = fix.removed or ("",)
            for path, value in fix.settings.items() if old and not others else ():
                before = edits.value_at(raw, old)
                if before is ABSENT or (value is None and before is not None):
                    continue  # what goes with it is no other name of it
                name = old.rpartition(".")[2]
                inside = isinstance(value, dict) and name in value and path.rpartition(".")[2] != name
                self._moved[f"{path}.{name}" if inside else path] = _joined_from(raw, old, path, value) or old

    def moves(self, path: str) -> bool:
        return path in self._moved

    def back(self, path: str) -> str:
        for new, old in self._moved.items():
            if is_at_or_inside(path, new):
                return old + path[len(new) :]
        return self._out.path_as_written(path)


def _joined_from(raw: dict[str, Any], old: str, path: str, value: Any) -> str:
    """Where in the part at `old` stood what was joined to another part at `path`; "" where that is no such."""
    part, name = edits.value_at(raw, old), path.rpartition(".")[2]
    if isinstance(part, list) and name.isdigit() and value in part:
        return f"{old}.{part.index(value)}"
    return f"{old}.{name}" if isinstance(part, dict) and name in part else ""


def _place_at_first(path: str, ways: list[_Way]) -> str:
    for way in reversed(ways):
        path = way.back(path)
    return path
