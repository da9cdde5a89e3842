"""Code as it is pasted from notebooks, terminals and web pages: what of it is not Python, and how it reads without.

Lines are never added or taken away, so a line's number means the same before and after; but of a notebook's own file
(.ipynb), which is no text for people, only the code of its cells is left.
"""

import re
import textwrap

from groupwise.storage.spec.notebook import CODE, MAGIC, as_comment, code_cells, is_foreign, without_magics
from groupwise.storage.spec.syntax_tree import parse_module

_COUNT = re.compile(r"^\s*(?:In|Out) ?\[[\d ]*\]: ?")
_PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.:?)(?: |$)")
_FENCE = re.compile(r"^\s*(```|~~~)")
_TRANSLATED = str.maketrans({"\u00a0": " ", "\u2007": " ", "\u202f": " ", "\u200b": None, "\ufeff": None})

NOTEBOOK = "This is a notebook's own file (.ipynb). Its code cells can be taken out of it."
PROMPT = "This is a prompt of a notebook or a terminal, not Python. Paste the code without prompts."
PRINTED = "This line was printed, it is not Python. Take it out."
FENCE = "This line marks code on a web page, it is not Python. Take it out."
INVISIBLE = "There are invisible characters of a web page in this line. Take them out."
INDENTED = "The lines begin with spaces that are not Python's. Move them to the left."


def is_python(code: str) -> bool:
    """Whether the text parses. A notebook's file may, and is none."""
    try:
        parse_module(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return _cells(code) is None


def _cells(code: str) -> list[str] | None:
    """The code cells of a notebook's file; None where the text is none."""
    if not code.lstrip("\ufeff \t\r\n").startswith("{") or "cell_type" not in code:
        return None
    try:
        return [_cell_text(cell) for cell in code_cells(code)]
    except (ValueError, RecursionError):
        return None


def _cell_text(text: str) -> str:
    """The code of a cell; of one that is not in Python, as comments."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    return "\n".join(f"# {line}" for line in text.split("\n")) if is_foreign(first) else text


def clean_paste(code: str) -> str:
    r"""The code without what notebooks, terminals and web pages put around it; Python stays exactly as it is.

    Prompts (`>>>`, `In [3]:`) go, and so do the spaces before every line; lines for the notebook or the shell (`%pip`,
    `!pip`, with those that a \ at their end continues), cells that are not Python (`%%bash`, up to the next empty
    line), printed results and fences become comments. Of a notebook's file the code cells stay.
    """
    if is_python(code):
        return code
    cells = _cells(code)
    if cells is not None:
        return "\n\n\n".join(clean_paste(cell).strip("\n") for cell in cells) + "\n"
    text = _with_plain_spaces(code)
    return text if is_python(text) else textwrap.dedent("\n".join(new for new, _ in _read_lines(text)))


def count_commented(before: str, after: str) -> int:
    """How many lines became comments, of a text of which no line was added or taken away."""
    pairs = zip(before.split("\n"), after.split("\n"), strict=False)
    return sum(_became_comment(old.strip(), new.strip()) for old, new in pairs)


def _became_comment(old: str, new: str) -> bool:
    start, mark, rest = new.partition("#")
    return bool(old) and old != new and mark == "#" and start.strip() in ("", "pass") and rest.strip() == old


def count_foreign(code: str) -> int:
    """How many lines `clean_paste` makes comments of, as they are no Python."""
    if _cells(code) is None:
        return count_commented(code, clean_paste(code))
    return sum(count_commented(cell, clean_paste(_cell_text(cell))) for cell in code_cells(code))


def oddities(code: str) -> list[tuple[int, str]]:
    """(line, counted from 1; what to do about it) of what `clean_paste` changes: each kind of trace of where the code
    was copied from, at the first of its lines; none in what is Python already."""
    if is_python(code):
        return []
    if _cells(code) is not None:
        return [(1, NOTEBOOK)]
    text, found = _with_plain_spaces(code), dict[str, int]()
    for number, line in enumerate(code.split("\n"), 1):
        if line.translate(_TRANSLATED) != line:
            found.setdefault(INVISIBLE, number)
    first = _first_code_line(code.split("\n"))
    if is_python(text) and code.split("\n")[first].startswith((" ", "\t")):
        found.setdefault(INDENTED, first + 1)
    if not is_python(text):
        for number, (_, message) in enumerate(_read_lines(text), 1):
            if message:
                found.setdefault(message, number)
    return sorted(((number, message) for message, number in found.items()), key=lambda odd: odd[0])


def _with_plain_spaces(code: str) -> str:
    """The text with common line ends, plain spaces, and its first column at the left."""
    return textwrap.dedent(code.replace("\r\n", "\n").replace("\r", "\n").translate(_TRANSLATED))


def _read_lines(text: str) -> list[tuple[str, str]]:
    """Each line as it should be, and what was odd about it (empty where nothing was)."""
    lines = text.split("\n")
    if any(_PROMPT.match(line) or _COUNT.match(line) for line in lines[: _first_code_line(lines) + 1]):
        return _read_session(lines)
    read = zip(lines, without_magics(lines, one_cell=False), strict=True)
    return [_cell_line(line) if kind in (CODE, MAGIC) else (new, "") for line, (new, kind) in read]


def _first_code_line(lines: list[str]) -> int:
    """The index of the first line that is neither empty, a comment nor a fence."""
    plain = (i for i, line in enumerate(lines) if line.strip() and not line.strip().startswith(("#", "```", "~~~")))
    return next(plain, 0)


def _cell_line(line: str) -> tuple[str, str]:
    """A line of a notebook's cell."""
    magic = as_comment(line)
    if magic is not None:
        return magic, f"“{_shorten(line)}” is for the notebook, not Python. Take the line out."
    if _FENCE.match(line):
        return f"# {line.strip()}", FENCE
    return line, ""


def _read_session(lines: list[str]) -> list[tuple[str, str]]:
    """Lines of a terminal or of IPython: what stands after a prompt was typed, all else was printed.

    After `In [3]:` everything is code up to the next `Out[…]`, where no line repeats the prompt.
    """
    repeats = any(_PROMPT.match(line) for line in lines)
    found, typed = [], True
    for line in lines:
        count, prompt = _COUNT.match(line), _PROMPT.match(line)
        start = count or prompt
        if start and not line.lstrip().startswith("Out"):
            typed = not repeats
            rest, odd = _cell_line(line[start.end() :])
            found.append((rest, odd or PROMPT))
        elif not line.strip():
            found.append(("", ""))
        elif typed and not count:
            found.append(_cell_line(line))
        else:
            typed = typed and not count
            found.append((f"# {line.strip()}", PRINTED))
    return found


def _shorten(line: str) -> str:
    line = line.strip()
    return line if len(line) <= 40 else line[:39] + "…"
