"""What `groupwise launch` says of a file before it starts anything: the problems and warnings that New run shows."""

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace

from groupwise.app.core.command_errors import CommandError
from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.new import worker_requests
from groupwise.app.pages.new.known import Known
from groupwise.app.pages.new.launch import estimates
from groupwise.app.pages.new.left_out import LeftOut
from groupwise.storage.checks.check import examine_spec
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import (
    ADVICE,
    BLOCKING,
    WARNING,
    Problem,
    gravity,
    line_of,
    what_blocks_first,
    without_advice_on_refused,
)
from groupwise.storage.spec.words.setting_names import without_answered

OF_FUNCTION = re.compile(r"rewards\.\d+\.name")
SOON = 40.0  # seconds for the worker's word where the spec cannot be launched anyway
UNASKED = "The worker did not answer in time: the model, the data and the functions are not fully checked."
WORDS = {BLOCKING: "", WARNING: "warning", ADVICE: "advice"}


def problems_of_file(
    spec: RunSpec, offer: Offer, lines: dict[str, int], patience: float, form: Sequence[Problem] = (),
    out: LeftOut | None = None,
) -> list[Problem]:  # fmt: skip
    """Everything that there is to say of a spec, what blocks first, and all at once: the worker is asked (so long, in
    seconds) also where something blocks without it. `form`: what is wrong with the form of what was left out
    (`out`) of `spec`. Raises CommandError where the worker cannot answer and nothing blocks."""
    out = out or LeftOut()
    found = _found_here(spec, offer, lines, Known(), form, out)
    blocked = _blocks(found)
    try:
        confirmed = worker_requests.confirm(spec, min(SOON, patience) if blocked else patience)
    except Unanswerable as error:
        if not blocked:
            raise CommandError(str(error)) from error
        print(UNASKED, file=sys.stderr)
    else:
        found = _found_here(spec, offer, lines, Known(**confirmed.known), form, out, confirmed.problems)
        answered = out.problems_as_written(confirmed.problems)
        found = [one for one in found if not _is_outdone(one, answered)]
        found += [one for one in answered if not _is_said(one, found)]
    said = without_advice_on_refused(without_answered(found))
    placed = [replace(one, line=_line_of(one, lines)) for one in said]
    return what_blocks_first(_once(placed))


def _line_of(problem: Problem, lines: dict[str, int]) -> int | None:
    """Where an editor jumps to: of advice on what is not set nowhere, as nothing that stands there is at fault."""
    is_unset = problem.level == ADVICE and problem.field not in lines
    return None if is_unset else problem.line or line_of(problem.field, lines)


def _found_here(
    spec: RunSpec, offer: Offer, lines: dict[str, int], known: Known, form: Sequence[Problem], out: LeftOut,
    answered: Sequence[Problem] = (),
) -> list[Problem]:  # fmt: skip
    """What is told without the worker, but for what it has seen of the data (`known`) and what it has said
    (`answered`)."""
    named = {one.field for one in form} - out.renamed.keys()
    found = examine_spec(spec, offer, out.lines_of_rest(lines), known.columns, known.rows)
    blamed = {one.field for one in (*form, *found, *answered) if one.level == BLOCKING}
    found += estimates(spec, offer, known, told=False, blamed=blamed).problems
    return [*form, *(one for one in out.problems_as_written(found) if one.field not in named)]


def _is_outdone(problem: Problem, answered: Iterable[Problem]) -> bool:
    """Whether what the worker says takes its place: of an advice, and of what a function's code lets one expect, where
    it was called."""
    if problem.level == WARNING and OF_FUNCTION.fullmatch(problem.field):
        return any(one.field == problem.field for one in answered)
    return problem.level == ADVICE and _is_said(problem, answered)


def _is_said(problem: Problem, found: Iterable[Problem]) -> bool:
    """Whether as much is said at its field already."""
    return any(one.field == problem.field != "" and gravity(one) <= gravity(problem) for one in found)


def _blocks(found: Iterable[Problem]) -> bool:
    return any(problem.level == BLOCKING for problem in found)


def _once(found: list[Problem]) -> list[Problem]:
    """Each only once, though several look at the same."""
    said = {(problem.field, problem.message.rstrip(".")): problem for problem in reversed(found)}
    return list(reversed(said.values()))


def print_problems(spec_path: str, problems: Iterable[Problem]) -> None:
    """One line each, as compilers write them, so that an editor can jump there; on standard error."""
    for problem in problems:
        place = f"{spec_path}:{problem.line}" if problem.line else spec_path
        parts = (place, WORDS[problem.level], problem.field, problem.message)
        print(": ".join(part for part in parts if part), file=sys.stderr, flush=True)
