"""Code as it is pasted from notebooks, terminals and web pages: what of it is not Python, and how it reads without.

Lines are never added or taken away, so a line's number means the same before and after.
"""

import ast
import re
import textwrap

_TRIPLE = ('"""', "'''")
_TOKEN = re.compile("#.*|\"\"\"|'''|" + r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")  # comments and strings of a line
_COUNT = re.compile(r"^\s*(?:In|Out) ?\[[\d ]*\]: ?")
_PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.:?)(?: |$)")
_MAGIC = re.compile(r"^(\s*)(%{1,2}[A-Za-z]|!|\?|[A-Za-z_][\w.]*\?{1,2}\s*$|\w+\s*=\s*[%!])")
_FENCE = re.compile(r"^\s*(```|~~~)")
_TRANSLATED = str.maketrans({"\u00a0": " ", "\u2007": " ", "\u202f": " ", "\u200b": None, "\ufeff": None})


PROMPT = "This is a prompt of a notebook or a terminal, not Python. Paste the code without prompts."
PRINTED = "This line was printed, it is not Python. Take it out."
FENCE = "This line marks code on a web page, it is not Python. Take it out."
INVISIBLE = "There are invisible characters of a web page in this line. Take them out."
INDENTED = "The lines begin with spaces that are not Python's. Move them to the left."


def is_python(code: str) -> bool:
    """Whether the text parses."""
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def clean_paste(code: str) -> str:
    """The code without what notebooks, terminals and web pages put around it; Python stays exactly as it is.

    Prompts (`>>>`, `In [3]:`) go, and so do the spaces before every line; lines for the notebook or the shell (`%pip`,
    `!pip`), printed results and fences become comments.
    """
    if is_python(code):
        return code
    text = _with_plain_spaces(code)
    return text if is_python(text) else textwrap.dedent("\n".join(new for new, _ in _read_lines(text)))


def oddities(code: str) -> list[tuple[int, str]]:
    """(line, counted from 1; what to do about it) of what `clean_paste` changes: each kind of trace of where the code
    was copied from, at the first of its lines; none in what is Python already."""
    if is_python(code):
        return []
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
    found, inside = [], ""
    for line in lines:
        found.append((line, "") if inside else _cell_line(line))
        inside = _open_string(line, inside)
    return found


def _first_code_line(lines: list[str]) -> int:
    """The index of the first line that is neither empty, a comment nor a fence."""
    plain = (i for i, line in enumerate(lines) if line.strip() and not line.strip().startswith(("#", "```", "~~~")))
    return next(plain, 0)


def _cell_line(line: str) -> tuple[str, str]:
    """A line of a notebook's cell."""
    magic = _MAGIC.match(line)
    if magic:
        indent = magic.group(1)
        kept = f"{indent}pass  # {line.strip()}" if indent else f"# {line}"
        return kept, f"“{_shorten(line)}” is for the notebook, not Python. Take the line out."
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


def _open_string(line: str, inside: str) -> str:
    """The triple quotes that are still open after a line, given those that were before it; empty for none."""
    at = 0
    while True:
        if inside:
            end = line.find(inside, at)
            if end < 0:
                return inside
            at, inside = end + 3, ""
        opening = next((found for found in _TOKEN.finditer(line, at) if found.group() in _TRIPLE), None)
        if opening is None:
            return ""
        at, inside = opening.end(), opening.group()


def _shorten(line: str) -> str:
    line = line.strip()
    return line if len(line) <= 40 else line[:39] + "…"
