"""What is to be said about a spec: where, what, how grave, and what one click does about it."""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from groupwise.storage.spec.words.foreign_letters import without_accents

BLOCKING, WARNING, ADVICE = "blocking", "warning", "advice"
THEN = "Once that is fixed: "  # before what comes to sight only once something else is put right
ALL = "all problems"
_ONE = "“[^”]*”(?: of “[^”]*”)?"
_LATER = re.compile(rf"Once (?:that|{ALL}|{_ONE}(?: and {_ONE})?) (?:is|are) fixed: ")  # as problem_list.js has it
UNSET = "is not set: "  # before what is wrong with a default
# What a message begins with that goes on behind its field's name: it has no subject of its own.
_GOES_ON = re.compile(
    r"(?:asks|begins|belongs|can|cannot|changes|chooses|comes|connects|could|counts|depends|does|ends|fills|gives|has|"
    r"holds|is|keeps|lacks|leaves|looks|makes|may|must|names|needs|refers|repeats|should|stands|takes|was|would)\b"
)


@dataclass(frozen=True)
class Cut:
    """What goes out of a YAML text that cannot be read yet: `text`, at a line (from 1) and column (from 0); and what is
    put there instead."""

    line: int
    column: int
    text: str
    put: str = ""


@dataclass(frozen=True)
class Fix:
    """What one click does about a problem: settings by dotted path ("data.holdout": 64), and paths that go; or a `cut`
    of the text itself. `fallback`: a value that is usual and says nothing of what was meant; what stood there before,
    where a page knows that, is better. `leads`: it changes nothing, and leads to the field, where one chooses, or
    to another `page`."""

    label: str
    settings: dict[str, Any]
    removed: tuple[str, ...] = ()
    cut: Cut | None = None
    fallback: bool = False
    leads: bool = False
    page: str = ""


@dataclass(frozen=True)
class Problem:
    """Something about a spec that a person should know. `field` is a dotted path ("training.beta"), `line` counts
    from 1 in the YAML it came from, if it came from YAML. Only what is BLOCKING keeps a run from being launched.
    `subject`: what it is about, in quotes, where its field does not end with that: “length” at rewards.0.name."""

    field: str
    message: str
    line: int | None = None
    level: str = BLOCKING
    fixes: tuple[Fix, ...] = ()
    subject: str = dataclasses.field(default="", compare=False)

    def as_dict(self) -> dict[str, Any]:
        """As plain values, for a question's answer or the page: its words hold the subject where they need it."""
        return {name: value for name, value in asdict(self).items() if name != "subject"}

    def move(self, place: Callable[[str], str], removed: Callable[[str], str] | None = None) -> Problem:
        """The same at other paths, its fixes included. `removed`: where what they take away is, if not at `place`."""
        fixes = tuple(
            replace(
                fix, settings={place(path): value for path, value in fix.settings.items()},
                removed=tuple(map(removed or place, fix.removed)),
            )
            for fix in self.fixes
        )  # fmt: skip
        return replace(self, field=place(self.field), fixes=fixes)

    def __str__(self) -> str:
        place = f"{self.field}, line {self.line}" if self.line else self.field
        return f"{place}: {self.message}" if place else self.message


class SpecError(Exception):
    """A spec that cannot run, with every problem found in it."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


def nearest_name(name: str, names: list[str], alike: float = 0.6) -> str | None:
    """The one of `names` that was probably meant; capitals and accents are no difference. `alike`: how much of both
    must be, from 0 to 1."""
    by_plain = {without_accents(one).casefold(): one for one in reversed(names)}
    close = difflib.get_close_matches(without_accents(name.strip()).casefold(), by_plain, n=1, cutoff=alike)
    return by_plain[close[0]] if close else None


def then_words(causes: Sequence[str] = ()) -> str:
    """What stands before what comes to sight only later; `causes`: what is to be fixed first, each in quotes."""
    if not causes:
        return THEN
    return f"Once {causes[0]} is fixed: " if len(causes) == 1 else f"Once {_both_or_all(causes)} are fixed: "


def _both_or_all(causes: Sequence[str]) -> str:
    return " and ".join(causes) if len(causes) == 2 else ALL


def is_later(message: str) -> bool:
    """Whether it is told of what will be once something else is put right."""
    return _LATER.match(message) is not None


def told_later(problem: Problem, causes: Sequence[str] = ()) -> str:
    """What is told later, as a whole sentence; `causes`: what is to be fixed elsewhere."""
    return then_words(causes) + whole_sentence(problem)


def whole_sentence(problem: Problem, subject: str = "") -> str:
    """What it says, by itself: a message that goes on behind its field's name gets that, or another `subject`."""
    goes_on = problem.field and _GOES_ON.match(problem.message)
    return f"{subject or what_it_is_about(problem)} {problem.message}" if goes_on else problem.message


def without_then(problem: Problem) -> str:
    """What is told later, as it is told of its field at once."""
    if not is_later(problem.message):
        return problem.message
    message = _LATER.sub("", problem.message, count=1)
    behind = message.removeprefix(f"{what_it_is_about(problem)} ")
    return behind if _GOES_ON.match(behind) else message


def what_it_is_about(problem: Problem) -> str:
    """What a problem is about, in quotes; an entry of a list with its place."""
    name = name_of_setting(problem.field)
    return problem.subject or f"“{name}{problem.field.rpartition(name)[2]}”"


def name_of_setting(field: str) -> str:
    """What a setting is called where its part is not told: “id” alone says nothing of the model."""
    return field if field == "model.id" else next((one for one in reversed(field.split(".")) if not one.isdigit()), "")


def is_of_unset(problem: Problem) -> bool:
    """Whether it is wrong with a default, as its setting is not set."""
    return without_then(problem).startswith(UNSET)


def did_you_mean(name: str, names: list[str]) -> str:
    """“ Did you mean …?”, or nothing where no name is near."""
    close = nearest_name(name, names)
    return f" Did you mean “{close}”?" if close else ""


def line_of(field: str, lines: dict[str, int]) -> int | None:
    """The line of a field, or else of the part of the spec that it would stand in."""
    path = field.split(".")
    return next((lines[".".join(path[:n])] for n in range(len(path), 0, -1) if ".".join(path[:n]) in lines), None)


def in_order_of_lines(problems: Iterable[Problem]) -> list[Problem]:
    """The problems as they are met by who reads the text; then those of no line, such as what is missing."""
    return sorted(problems, key=lambda problem: problem.line or math.inf)


def what_blocks_first(problems: Iterable[Problem]) -> list[Problem]:
    """The problems as they are listed: what blocks, then warnings, then advice, each as met in the text."""
    return sorted(in_order_of_lines(problems), key=gravity)


def gravity(problem: Problem) -> int:
    """The less the graver: 0 blocks."""
    return (BLOCKING, WARNING, ADVICE).index(problem.level)


def without_advice_on_refused(problems: Iterable[Problem]) -> list[Problem]:
    """The problems without the warnings and the advice on a value that is refused: it is another once it is fixed; and
    on a learning rate while it is open which model is trained, or whether with LoRA, by which the usual ones are told.
    """
    found = list(problems)
    refused = {one.field for one in found if one.level == BLOCKING and one.field}
    of_model = (".learning_rate",) if any(map(_leaves_rate_open, found)) else ()
    return [one for one in found if one.level == BLOCKING or not (one.field in refused or one.field.endswith(of_model))]


def _leaves_rate_open(problem: Problem) -> bool:
    """Whether the model, or LoRA, is refused, or waits under another part to be moved to its own."""
    if problem.level != BLOCKING:
        return False
    part = problem.field.partition(".")[0]
    waiting = [path for fix in problem.fixes if fix.removed for path in fix.settings if path.partition(".")[0] != part]
    return any(one in ("model", "model.id", "lora") for one in (problem.field, *waiting)) or any(
        path.startswith("lora.") for path in waiting
    )
