"""The text of a script to its syntax tree. Nothing is ever executed or imported."""

import ast

from groupwise.storage.spec.syntax_tree import parse_module
from groupwise.storage.spec.words.problem import Problem, SpecError
from groupwise.storage.spec.yaml.yaml_text import MAX_BYTES


def parse_script(text: str) -> ast.Module:
    """The tree of a script. Raises SpecError with a sentence, and the line, for what is not Python."""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise refusal(f"The script is larger than {MAX_BYTES // 1024} KB.")
    if "\0" in text:
        raise refusal("The script holds a NUL byte: it is no text file.", text[: text.index("\0")].count("\n") + 1)
    try:
        return parse_module(text, "train.py")
    except SyntaxError as error:
        raise refusal(_words(error, text), error.lineno) from error
    except (RecursionError, MemoryError) as error:
        raise refusal("The script is nested too deeply to be read.") from error
    except ValueError as error:
        raise refusal(f"The script cannot be read: {error}.") from error


def refusal(message: str, line: int | None = None) -> SpecError:
    """The error that refuses a text, with the line where that can be said."""
    return SpecError([Problem("", message, line)])


def _words(error: SyntaxError, text: str) -> str:
    lines = text.split("\n")
    at = (error.lineno or 1) - 1
    line = lines[at].strip() if 0 <= at < len(lines) else ""
    if line.startswith("?"):
        return f"“{line[:40]}” is a notebook's command, not Python. Remove the line."
    if "print" in error.msg or "except" in error.msg or line.startswith(("print ", "exec ")):
        return f"This is Python 2, it seems: {error.msg}"
    return f"This is not Python: {error.msg}."
