"""Whether the lines of a text table, or its heading, disagree about what separates the cells: files were joined, or
rows pasted."""

import csv
import io
import re
from dataclasses import dataclass

from groupwise.storage.spec.rows.file_format import SEPARATOR_WORDS, SEPARATORS
from groupwise.storage.spec.words.number_words import are_words, count_part, count_words, join_words
from groupwise.worker.data.files.separators import ROWS, Layout, csv_options, placed_rows, without_lines

ALIKE = 0.9  # share of the rows that have as many cells, from which several separators are taken for what they are
LOOKED_AT = ROWS - 1  # rows below the heading; where there are as many, there may be more
SHOWN = 60  # characters of a line that is an example
OTHER = "\x1f"  # marks a cell that ends with the other separator


@dataclass(frozen=True)
class MixedSeparators:
    """`count` of the `looked_at` first rows are separated otherwise than the heading; `line` (from 1), `example`: the
    first of them; `in_heading`: the heading has both separators, so that the names of columns are doubtful."""

    separators: tuple[str, str]
    count: int
    looked_at: int
    line: int
    example: str
    in_heading: bool

    def in_words(self, name: str, *, headed: bool) -> str:
        """Say so, and what to do."""
        first = f"{self.count:,} of the first {count_words(self.looked_at, 'row')}"
        which = count_part(self.count, self.looked_at, "row") if self.looked_at < LOOKED_AT else first
        both = join_words([SEPARATOR_WORDS[one] for one in self.separators])
        cut = "heading" if headed else "first row"
        return (
            f"{name} mixes {both}: {which} {are_words(self.count)} not separated as the {cut} is, such as line "
            f"{self.line:,}: “{self.example}”. Save it with one separator throughout."
        )


def find_mixed(text: str, layout: Layout, *, whole: bool) -> MixedSeparators | None:
    """The lines of the text that a file begins with that another separator cuts as the heading is cut; None where the
    layout fits all. `whole`: the file ends there."""
    body = without_lines(text, layout.skip_lines)
    records = _records(body, layout, whole)
    others = [name for name in SEPARATORS if name != layout.separator]
    found = [one for other in others if len(records) > 1 and (one := _weigh(records, layout, other))]
    return max(found, key=lambda one: one.count, default=None)


def _records(text: str, layout: Layout, whole: bool) -> list[tuple[int, str]]:
    """(its line, its text) of each row, the heading first; without the last of those where it may be cut."""
    lines = list(io.StringIO(text, newline=""))
    begun = [before for before, _ in placed_rows(text, layout.separator, layout.quote, whole) or []]
    ends = [*begun[1:], *([len(lines)] if whole and len(begun) <= ROWS else [])]
    return [(layout.skip_lines + at + 1, "".join(lines[at:end])) for at, end in zip(begun, ends, strict=False)]


def _weigh(records: list[tuple[int, str]], layout: Layout, other: str) -> MixedSeparators | None:
    heading, *rows = [_cut(record, layout, other) for _, record in records]
    if any(heading):  # its columns are those that both cut, where nearly all rows have as many
        odd = [cut != heading for cut in rows]
        fits = sum(len(cut) == len(heading) for cut in rows) >= ALIKE * len(rows)
    else:
        odd = [all(cut) and len(cut) == len(heading) for cut in rows]
        fits = bool(heading)
    if not fits or not any(odd):
        return None
    line, example = records[1 + odd.index(True)]
    return MixedSeparators((layout.separator, other), sum(odd), len(rows), line, _shorten(example), any(heading))


def _cut(record: str, layout: Layout, other: str) -> tuple[bool, ...]:
    """The separators of a row in their order: whether each is the other one. One before a space is punctuation."""
    mark = SEPARATORS[layout.separator]
    marked = re.sub(rf"{re.escape(SEPARATORS[other])}(?! )", lambda _: OTHER + mark, record)
    cells = next(csv.reader(io.StringIO(marked, newline=""), **csv_options(layout.separator, layout.quote)), [])
    return tuple(cell.endswith(OTHER) for cell in cells[:-1])


def _shorten(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
