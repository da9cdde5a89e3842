"""What is to be said about a spec, as an answer carries it; and an answer that says why there is none."""

from typing import Any, Literal, Self

from pydantic import Field

from groupwise.storage.registry.messages.message import Answer, Message, Misfit, Plain
from groupwise.storage.spec.words.problem import Fix, Problem


class FixMessage(Message):
    """storage.spec.words.problem.Fix: settings by dotted path, and paths that go; or where it leads. `page`: an address
    of the app, never another: the page makes a link of it."""

    label: str
    settings: dict[str, Any]
    removed: list[str]
    leads: bool = False
    page: str = Field(default="", pattern=r"^(/[a-z]+(\?.*)?)?$")

    @classmethod
    def of(cls, fix: Fix) -> Self:
        """The message of a fix."""
        said: Plain = {"label": fix.label, "settings": fix.settings, "removed": list(fix.removed)}
        said |= {name: value for name in ("leads", "page") if (value := getattr(fix, name))}
        return cls(**said)

    def fix(self) -> Fix:
        """The fix as storage.spec.words.problem has it."""
        return Fix(self.label, self.settings, tuple(self.removed), leads=self.leads, page=self.page)


class ProblemMessage(Message):
    """storage.spec.words.problem.Problem. `line` counts from 1 in the YAML; None where it came from none."""

    field: str
    message: str
    line: int | None
    level: Literal["blocking", "warning", "advice"]
    fixes: list[FixMessage]

    @classmethod
    def of(cls, problem: Problem) -> Self:
        """The message of a problem."""
        fixes = [FixMessage.of(fix) for fix in problem.fixes]
        level: Any = problem.level
        return cls(field=problem.field, message=problem.message, line=problem.line, level=level, fixes=fixes)

    def problem(self) -> Problem:
        """The problem as storage.spec.words.problem has it."""
        return Problem(self.field, self.message, self.line, self.level, tuple(fix.fix() for fix in self.fixes))


def messages_of(problems: list[Problem]) -> list[ProblemMessage]:
    """The messages of some problems."""
    return [ProblemMessage.of(problem) for problem in problems]


class Failed(Answer):
    """Why there is no answer: a sentence, and the part of the question that it is about ("": none). `problems`: the
    same with what one click does about it, where that is known; `untried`: of one step, which was not begun; `sheets`:
    those of a workbook of which the one that is read cannot be."""

    error: str
    field: str = ""
    problems: list[ProblemMessage] = []
    untried: bool = False
    sheets: list[str] = []

    def as_dict(self) -> Plain:
        """Give it as JSON holds it, always with the field."""
        return {"field": self.field, **super().as_dict()}

    @classmethod
    def of(cls, misfit: Misfit) -> Self:
        """The answer to a question that is none of its kind."""
        return cls(error=str(misfit), field=misfit.field, problems=messages_of([Problem(misfit.field, str(misfit))]))

    def blocking(self) -> list[Problem]:
        """What it says, as problems that keep a run from being launched."""
        found = [one.problem() for one in self.problems if one.level == "blocking"]
        return found or [Problem(self.field, self.error)]
