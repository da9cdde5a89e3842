"""The text of a script to its syntax tree. Nothing is ever executed or imported."""

import ast
import re

from groupwise.storage.spec.syntax_tree import parse_module
from groupwise.storage.spec.words.problem import Problem, SpecError
from groupwise.storage.spec.yaml.yaml_text import MAX_BYTES


def parse_script(text: str) -> ast.Module:
    """The tree of a script. Raises SpecError with a sentence, and the line, for what is not Python."""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise refusal(f"The script is larger than {MAX_BYTES // 1024} KB.")
    if "\0" in text:
        raise refusal("The script holds a NUL byte: it is not a text file.", text[: text.index("\0")].count("\n") + 1)
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


_SHELL = re.compile(r"#!\S*(?:/|/env )(?:ba|z|da)?sh\b")
_BEFORE = re.compile(r"#|$|export |set -|cd |source |\. |module |conda |mkdir |echo |[A-Za-z_]\w*=\S*$")
_RUNS = re.compile(
    r"(?:[A-Za-z_]\w*=\S+ +)*(?:nohup +|srun +(?:-\S+ +)*|uv run +)*"
    r"(?:accelerate launch|torchrun|deepspeed|python[\d.]* -m|python[\d.]*(?= .*\.py\b)|trl \w+)"
    r" +[\w./~$-]"
)
_SCRIPT = re.compile(r"(?<!\S)[\w./~${}-]+\.(?:py|ipynb|ya?ml)(?!\S)")


def _shell_command(text: str) -> tuple[str, str] | None:
    """The script that a shell file runs, "" where none is named, and its first options; None for what is none."""
    lines = text.replace("\\\r\n", " ").replace("\\\n", " ").splitlines()
    line = next((line.strip() for line in lines if not _BEFORE.match(line.strip())), "")
    if not _RUNS.match(line) and not _SHELL.match(text):
        return None
    command = next((line for line in lines if _RUNS.match(line.strip())), "")
    files = _SCRIPT.findall(command)
    script = next((name for name in files if not name.endswith(("yaml", "yml"))), files[-1] if files else "")
    rest = command[command.find(script) + len(script) :].split()
    options = [word.partition("=")[0] for word in rest if word.startswith("--")]
    return script, ", ".join(options[:3]) + (", …" if len(options) > 3 else "")


def _words(error: SyntaxError, text: str) -> str:
    if (ran := _shell_command(text)) is not None:
        script, options = ran
        what = f"import “{script[-60:]}”, which it runs" if script else "import the script or recipe that it runs"
        after = f" Set its options ({options}) here afterwards." if options else ""
        return f"This is a shell command, not Python: {what}.{after}"
    lines = text.split("\n")
    at = (error.lineno or 1) - 1
    line = lines[at].strip() if 0 <= at < len(lines) else ""
    if line.startswith("?"):
        return f"“{line[:40]}” is a notebook's command, not Python. Remove the line."
    if "print" in error.msg or "except" in error.msg or line.startswith(("print ", "exec ")):
        return f"This is Python 2, it seems: {error.msg}"
    return f"This is not Python: {error.msg}."
