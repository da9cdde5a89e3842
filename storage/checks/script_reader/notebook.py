"""A notebook's code cells as one script; and lines for the notebook or the shell, taken out, with their places."""

from collections.abc import Callable
from dataclasses import dataclass, field

from groupwise.storage.checks.script_reader.parsing import refusal
from groupwise.storage.library.rewards.pasted import clean_paste
from groupwise.storage.spec.notebook import MAGIC, code_cells, without_magics
from groupwise.storage.spec.syntax_tree import parse_module

MOST_CELLS = 5000


@dataclass(frozen=True)
class Code:
    """Python, and where each of its lines is from. `left_out`: the lines for the notebook, each with its line."""

    text: str
    place: Callable[[int], str] = "line {}".format
    left_out: list[tuple[int, str]] = field(default_factory=list)

    @property
    def in_cells(self) -> bool:
        """Whether it is from the cells of a notebook."""
        return isinstance(self.place, _Places)

    def note(self) -> str | None:
        """What was left out, in a sentence."""
        if not self.left_out:
            return None
        said = [f"“{_shorten(line)}” ({self.place(number)})" for number, line in self.left_out]
        more = f" and {len(said) - 4} more" if len(said) > 4 else ""
        return f"Left out, as they are for the notebook or the shell: {', '.join(said[:4])}{more}."


def is_notebook(text: str) -> bool:
    """Whether a text is a notebook's file."""
    return text.lstrip()[:1] == "{" and ('"cells"' in text or '"worksheets"' in text)


def read_notebook(text: str) -> Code:
    """The code of a notebook. Raises SpecError where it is none."""
    try:
        sources = code_cells(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise refusal(
            "This begins like a notebook, but is not valid JSON: it is damaged or was cut off.", line
        ) from error
    if not sources:
        raise refusal("The notebook has no code cells.")
    if len(sources) > MOST_CELLS:
        raise refusal(f"The notebook has more than {MOST_CELLS:,} code cells.")
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    left_out: list[tuple[int, str]] = []
    for number, source in enumerate(sources, 1):
        cell, gone = _python_lines(source.split("\n"), one_cell=True)
        left_out += [(len(lines) + at, said) for at, said in gone]
        lines += cell
        places += [(number, at) for at in range(1, len(cell) + 1)]
    return Code("\n".join(lines), _Places(places), left_out)


@dataclass(frozen=True)
class _Places:
    """Says a line of the joined code as a line of its cell."""

    places: list[tuple[int, int]]

    def __call__(self, line: int) -> str:
        cell, at = self.places[min(max(line, 1), len(self.places)) - 1]
        return f"code cell {cell}, line {at}"


def plain_code(text: str) -> Code:
    """Code as it was pasted, as Python: without prompts, and without lines for the notebook where it has some."""
    if _parses(text):
        return Code(text)
    lines, gone = _python_lines(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), one_cell=False)
    changed = "\n".join(lines)
    if not _parses(changed):
        cleaned = clean_paste(changed)
        changed = cleaned if _parses(cleaned) else changed
    return Code(changed, left_out=gone) if gone or _parses(changed) else Code(text)


def _parses(text: str) -> bool:
    try:
        parse_module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _python_lines(lines: list[str], *, one_cell: bool) -> tuple[list[str], list[tuple[int, str]]]:
    """Lines with those that are no Python as comments, and (line, what it said) of each that was for the notebook or
    the shell."""
    read = without_magics(lines, one_cell=one_cell)
    gone = [(number, lines[number - 1].strip()) for number, (_, kind) in enumerate(read, 1) if kind == MAGIC]
    return [new for new, _ in read], gone


def _shorten(line: str) -> str:
    return line if len(line) <= 40 else line[:39] + "…"
