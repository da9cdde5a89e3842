"""A spec that YAML cannot read, read past its slips: each is a problem with the button that puts it right, and what is
written in all other lines is read as it would be then, so that one slip hides nothing of the rest."""

import math
import re
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from groupwise.storage.spec.words.problem import Cut, Fix, Problem, SpecError
from groupwise.storage.spec.yaml.arguments import repair_arguments
from groupwise.storage.spec.yaml.bare_parts import parts_without_colon
from groupwise.storage.spec.yaml.deep_beginning import deep_beginning
from groupwise.storage.spec.yaml.entries import entries_without_dash
from groupwise.storage.spec.yaml.fences import chat_around
from groupwise.storage.spec.yaml.line_above import repairs_above
from groupwise.storage.spec.yaml.misread import points_for_commas_in_braces
from groupwise.storage.spec.yaml.missing_commas import missing_commas
from groupwise.storage.spec.yaml.odd_indentation import odd_indentation
from groupwise.storage.spec.yaml.own_line import settings_apart
from groupwise.storage.spec.yaml.repairs import Repair, opening_row, quotes_before_parts, repairs
from groupwise.storage.spec.yaml.wide_colons import wide_colons
from groupwise.storage.spec.yaml.word_dashes import word_dashes
from groupwise.storage.spec.yaml.yaml_text import ALIASES, OPEN, copy_plain, parse_document

MOST = 12  # slips that are looked for
ALIASED = 64  # aliases: of more, none is written out
READ = 2**20  # characters that the parser is given for them in all: what it takes some seconds for
_ALIAS = re.compile(r"(?<![\w*])\*[\w-]+")
BEGINNING = re.compile(r"([A-Za-z_][\w-]*)\s*:(?:\s|$)")  # of a part: its name, at the margin


@dataclass(frozen=True)
class PastSlips:
    """`problems`: the slips. `values` and `lines` (dotted path → line): what can be read past them. `unread`: the names
    of parts that lack a line, of which what is not there may be in what cannot be read; with `whole` there is none, and
    no part is given twice. `text`: as it is read."""

    problems: list[Problem]
    values: dict[str, Any]
    lines: dict[str, int]
    unread: frozenset[str]
    whole: bool
    text: str


def read_past_slips(text: str) -> PastSlips:
    """What a text means without its slips, and what those are."""
    reader = _Reader(text)
    for _ in range(MOST):
        reader.left -= len(text)
        try:
            document = parse_document(reader.text())
        except SpecError as error:
            if not reader.get_past(error):
                break
            continue
        values = document.values if isinstance(document.values, dict) else {}
        reader.unread |= set() if values else {""}  # what is no mapping lacks nothing: it is no spec
        return reader.result(copy_plain(values), document.lines)
    reader.unread.add("")  # nothing is known of the rest
    return reader.result({}, {})


class _Reader:
    """The rows of a text as they are read, so far."""

    def __init__(self, text: str) -> None:
        self.written = [row.rstrip("\r\n") for row in text.splitlines(keepends=True)]
        self.rows = list(self.written)
        self.end = "\n" if text.endswith("\n") else ""
        self.found: dict[tuple[str, int], Problem] = {}
        self.unread: set[str] = set()
        self.lacks = False  # lines that are not read, as their part is given twice
        self.left = READ

    def text(self, rows: list[str] | None = None) -> str:
        """The text of these rows, or of those so far."""
        return "\n".join(self.rows if rows is None else rows) + self.end

    def result(self, values: dict[str, Any], lines: dict[str, int]) -> PastSlips:
        found = sorted(self.found.values(), key=lambda one: one.line or 0)
        problems = points_for_commas_in_braces(found, self.written)
        return PastSlips(problems, values, lines, frozenset(self.unread), not (self.unread or self.lacks), self.text())

    def get_past(self, error: SpecError) -> bool:
        """Take the first slip out of the way; whether the reading gets any further."""
        first = error.problems[0]
        if first.message == ALIASES and sum(len(_ALIAS.findall(row)) for row in self.rows) > ALIASED:
            self.found["", (first.line or 1) - 1] = first
            return False  # each stands for the ones above it: to write them all out takes long, and makes no spec
        if (
            self._take_chat(first)
            or self._take_beginning(first)
            or self._take_anywhere(first)
            or self._take_open_quote(first)
        ):
            return True
        if first.field and any(fix.cut for fix in first.fixes):
            return self._take_cut(first)
        if not first.line:
            self.found["", 0] = first
            return False
        row = min(first.line, len(self.rows)) - 1
        around = self._parts_around(row)
        if OPEN in first.message and (opened := opening_row(self.rows, row)) is not None:
            around = slice(self._parts_around(opened).start, around.stop)
        so_far = self._reach(self.rows, around)
        tried = chain(
            (Repair(*found, here=True) for found in wide_colons(self.rows, around)),
            (Repair(*found, here=True) for found in (missing_commas(self.rows, row) if OPEN in first.message else ())),
            settings_apart(row, self.rows[row]),
            entries_without_dash(self.rows, row),
            repair_arguments(self.rows, row),
            repairs_above(self.rows, row, first.message),
            repairs(self.rows, row, first.message, self.written),
        )
        for repair in tried:
            if self._reach(self._with(repair), around) > so_far:
                self._take(repair, first)
                return True
        self.found.setdefault(("", row), first)
        return self.left > 0 and self._leave_out(row)

    def _take_chat(self, first: Problem) -> bool:
        """Whichever line the parser stops at: what is said around a spec is to be read as no part of it."""
        repair = None if self.found else next(chat_around(self.rows), None)
        if repair is not None:
            self._take(repair, replace(first, field=""))
        return repair is not None

    def _take_beginning(self, first: Problem) -> bool:
        """Whichever line the parser stops at: with the first one indented, all that follow are wrong."""
        repair = deep_beginning(self.rows)
        if repair is None:
            return False
        self._take(repair, replace(first, field=""))
        return True

    def _take_anywhere(self, first: Problem) -> bool:
        """Whichever line the parser stops at: these are slips wherever they stand."""
        whole = slice(0, len(self.rows))
        so_far: float | None = None
        anywhere = chain(
            (Repair(*found, here=True) for found in word_dashes(self.rows)),
            odd_indentation(self.rows),
            parts_without_colon(self.rows),
        )
        for repair in anywhere:
            so_far = self._reach(self.rows, whole) if so_far is None else so_far
            if self._reach(self._with(repair), whole) >= so_far:
                self._take(repair, replace(first, field=""))
                return True
        return False

    def _take_open_quote(self, first: Problem) -> bool:
        """Of a quotation mark in brackets that is open where the next part begins: the parser may stop far below it, at
        another quotation mark, and whether it is put right is seen by its own line alone."""
        for repair in quotes_before_parts(self.rows, first.line or 0):
            if self._reach(repair.rows, slice(0, 1)) == math.inf:
                self._take(repair, replace(first, field=""))
                return True
        return False

    def _with(self, repair: Repair) -> list[str]:
        return [*self.rows[: repair.row], *repair.rows, *self.rows[repair.row + len(repair.rows) :]]

    def _take(self, repair: Repair, problem: Problem) -> None:
        self.rows = self._with(repair)
        last = repair.row + len(repair.rows)
        written, put = "\n".join(self.written[repair.row : last]), "\n".join(repair.rows)
        put = repair.put if repair.put is not None else put
        fix = Fix(repair.label, {}, cut=Cut(repair.row + 1, 0, written, put))
        message = f"This is not YAML: {repair.words}" if repair.words else problem.message
        line = problem.line if len(repair.rows) > 1 and not repair.here else repair.row + 1
        before = self.found.get(("", repair.row))
        self.found["", repair.row] = replace(before or problem, message=before.message if before else message,
                                             line=line, fixes=(fix,))  # fmt: skip
        if repair.put is not None and _said_in(put) != _said_in("\n".join(repair.rows)):
            self.unread.add(self._part_of(repair.row))

    def _take_cut(self, problem: Problem) -> bool:
        """As its first button does, but for the lines, of which as many stay; where that moves lines, as the one does
        that only takes some out: what they say is not read then."""
        cuts = [fix.cut for fix in problem.fixes if fix.cut]
        cut = next((one for one in cuts if not one.put), cuts[0])
        self.lacks = self.lacks or cut is not cuts[0]
        text = self.text()
        place = sum(len(row) + 1 for row in self.rows[: cut.line - 1]) + cut.column
        if not text.startswith(cut.text, place):
            return False
        put = cut.put + "\n" * (cut.text.count("\n") - cut.put.count("\n"))
        fixes = tuple(fix for fix in problem.fixes if fix.cut and self._fits(fix.cut))
        self.rows = (text[:place] + put + text[place + len(cut.text) :]).removesuffix(self.end).split("\n")
        self.found[problem.field, problem.line or 0] = replace(problem, fixes=fixes)
        return True

    def _fits(self, cut: Cut) -> bool:
        """Whether what is cut out of the rows stands there as it was written: a point in a comma's place moves
        nothing."""
        of_cut = slice(cut.line - 1, cut.line - 1 + (cut.text.count("\n") or 1))
        now, written = self.rows[of_cut], self.written[of_cut]
        moved = list(map(len, now)) != list(map(len, written))
        return now == written or (not moved and written[0].startswith(cut.text, cut.column))

    def _leave_out(self, row: int) -> bool:
        """Without the row, or else without its part; whether there was anything to leave out."""
        self.unread.add(self._part_of(row))
        without, around = [*self.rows[:row], "", *self.rows[row + 1 :]], self._parts_around(row)
        if self._reach(without, around) > self._reach(self.rows, around):
            self.rows = without
            return True
        first = next((n for n in range(row, -1, -1) if BEGINNING.match(self.rows[n])), 0)
        changed = any(self.rows[first : around.stop])
        self.rows[first : around.stop] = [""] * (around.stop - first)
        return changed

    def _part_of(self, row: int) -> str:
        begins = (BEGINNING.match(self.written[n]) for n in range(row, -1, -1))
        return next((found[1] for found in begins if found), "")

    def _parts_around(self, row: int) -> slice:
        """The part of a row, and the one before it where the row begins one: whether a slip there is put right is seen
        without the rest, which may be long."""
        first = next((n for n in range(row - 1, -1, -1) if BEGINNING.match(self.rows[n])), 0)
        last = next((n for n in range(row + 1, len(self.rows)) if BEGINNING.match(self.rows[n])), len(self.rows))
        return slice(first, last)

    def _reach(self, rows: list[str], around: slice) -> float:
        """The line of some at which the parser gives up; without end where it does not, none once it has read enough
        (READ)."""
        text = self.text(rows[around])
        self.left -= len(text)
        if self.left < 0:
            return 0
        try:
            parse_document(text)
        except SpecError as error:
            first = error.problems[0]
            return math.inf if first.field else first.line or 0
        return math.inf


def _said_in(text: str) -> list[str]:
    """The lines of a text but for blank ones."""
    return [line for line in text.split("\n") if line.strip()]
