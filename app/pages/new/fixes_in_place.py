"""The buttons of a text that cannot be read yet for its slips (a setting given twice, say): what each would change, as
the lines it is in, where those are read as they stand. Pure."""

import difflib
from collections.abc import Iterable
from dataclasses import replace

from groupwise.app.pages.new import edits
from groupwise.storage.spec.words.problem import Cut, Fix, Problem
from groupwise.storage.spec.yaml.slips import PastSlips

MOST, ROWS = 100, 6000  # buttons that are made so, and rows that are read for them: each takes a reading of the text

Types = dict[str, list[str]]


def write_fixes_in_place(problems: Iterable[Problem], past: PastSlips, text: str, types: Types) -> list[Problem]:
    """The problems of a `text` read `past` its slips, with only such buttons as change the text itself. What moves a
    setting to another part is offered only where no line is unread: it may be set there already."""
    typed, read = text.splitlines(), past.text.splitlines()
    left = min(MOST, ROWS // max(1, len(read)))
    found = []
    for one in problems:
        fixes: list[Fix] = []
        for fix in one.fixes:
            if fix.cut:
                fixes.append(fix)
            elif left and len(typed) == len(read) and (past.whole or _stays_in_its_part(one.field, fix)):
                left -= 1
                cut = _cut_of(fix, past.text, typed, types)
                fixes += [Fix(fix.label, {}, cut=cut)] if cut else []
        found.append(replace(one, fixes=tuple(fixes)))
    return found


def _stays_in_its_part(field: str, fix: Fix) -> bool:
    owner = field.rpartition(".")[0]
    return all(path.rpartition(".")[0] == owner or path.startswith(f"{field}.") for path in fix.settings)


def _cut_of(fix: Fix, read: str, typed: list[str], types: Types) -> Cut | None:
    """What a button changes of the rows of a text, `typed`, of which `read` is what they are read as; None of one that
    leads elsewhere, changes nothing, or changes a row that is read as another than it is."""
    if fix.leads or fix.page:
        return None
    sent = [{"fix": {"settings": fix.settings, "removed": [*fix.removed]}}]
    before, after = read.splitlines(), edits.apply(read, edits.read_edits(sent, types)).splitlines()
    blocks = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    changes = [block for block in blocks if block[0] != "equal"]
    if not changes or any(_is_read_otherwise(before, typed, block[1], block[2]) for block in changes):
        return None
    begin, end = changes[0][1], changes[-1][2]
    put: list[str] = []
    for kind, first, last, new, until in blocks:
        if begin <= first and last <= end:
            put += typed[first:last] if kind == "equal" else after[new:until]
    if not put or begin == end:  # with the row above, or else the one below: a cut has a row, and so has what is put
        put = [*typed[max(0, begin - 1) : begin], *put, *([] if begin else typed[end : end + 1])]
        begin, end = max(0, begin - 1), end if begin else end + 1
    return Cut(begin + 1, 0, "\n".join(typed[begin:end]), "\n".join(put))


def _is_read_otherwise(read: list[str], typed: list[str], first: int, last: int) -> bool:
    """Whether rows are not read as they are, or are blank, as what is left out is read: which one is meant is open."""
    return read[first:last] != typed[first:last] or not all(row.strip() for row in read[first:last])
