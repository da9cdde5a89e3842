"""What the libraries' docstrings say of a config's fields: the section each stands in, its place there, its text; and
what their code compares a field with."""

import ast
import inspect
import re
import sys
from dataclasses import dataclass

from groupwise.storage.spec.syntax_tree import parse_module

OTHER = "Other"
_ENTRY = re.compile(r"(?P<indent> +)(?P<name>[a-z_]\w*)(: *| ?\(.*\):? *)$")  # name (`type`): or name:
_LEAD = re.compile(r"^Parameters that control (the )?")


@dataclass(frozen=True)
class Entry:
    """One field's entry. `place` counts from 0 through the docstring it stands in."""

    section: str
    place: int
    text: str


def entries(docstring: str, section: str = OTHER) -> dict[str, Entry]:
    """Field → entry, of one docstring. `section` is the heading of what stands before the first heading.

    Headings are lines of the field list that begin with “>”; one with “[!” begins a note, which goes on in the
    lines that begin with “>” after it.
    """
    found: dict[str, Entry] = {}
    lines = inspect.cleandoc(docstring).splitlines()
    in_note = False
    for index, line in enumerate(lines):
        words, indent = line.strip(), len(line) - len(line.lstrip())
        if words.startswith(">") and indent <= 4:
            in_note = in_note or words.startswith("> [!")
            if not in_note:
                section = _tidy(words)
            continue
        in_note = in_note and not words
        entry = _ENTRY.match(line)
        if entry and len(entry["indent"]) <= 4:
            found[entry["name"]] = Entry(section, len(found), _text(lines[index + 1 :], len(entry["indent"])))
    return found


def of_class(config: type) -> dict[str, Entry]:
    """Field → entry, from the docstrings of a config and of what it inherits from. A class's own section comes before
    its parents'; one with no headings of its own leaves fields in their parents' sections."""
    found: dict[str, Entry] = {}
    parents = [entries(cls.__doc__ or "") for cls in config.__mro__ if cls is not object]
    for number, parent in enumerate(parents):
        for name, entry in parent.items():
            known = found.get(name)
            place = entry.place + 1000 * number
            if known is None:
                found[name] = Entry(entry.section, place, entry.text)
            elif known.section == OTHER:
                found[name] = Entry(entry.section, place, known.text)
    return found


def compared_texts(config: type) -> dict[str, set[str]]:
    """Field → the texts that the config's module, and the trainer's beside it, compare it with.

    Where a library writes `str` and lists what it takes only in the code that uses it.
    """
    found: dict[str, set[str]] = {}
    names = getattr(config, "__dataclass_fields__", {})
    for module in (config.__module__, config.__module__.replace("_config", "_trainer")):
        if module not in sys.modules:
            continue
        tree = parse_module(inspect.getsource(sys.modules[module]))
        for node in (node for node in ast.walk(tree) if isinstance(node, ast.Compare)):
            sides = [node.left, *node.comparators]
            for name in (side.attr for side in sides if isinstance(side, ast.Attribute) and side.attr in names):
                texts = (part.value for side in sides for part in ast.walk(side) if isinstance(part, ast.Constant))
                found.setdefault(name, set()).update(text for text in texts if isinstance(text, str))
    return found


def _tidy(heading: str) -> str:
    """“> Parameters that control the training” → “Training”."""
    words = _LEAD.sub("", heading.lstrip("> ").rstrip(":")).replace("`", "").replace('"', "")
    return words if words.startswith("vLLM") else words[:1].upper() + words[1:]


def _text(lines: list[str], indent: int) -> str:
    """The lines under an entry, up to the next one, as one paragraph."""
    own = []
    for line in lines:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        own.append(line.strip())
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(" ".join(own).split()))
