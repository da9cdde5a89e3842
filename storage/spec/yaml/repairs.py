"""What a person may have meant by a line that is no YAML: the line as it would be read, for each common slip.

Whether one of them helps, the parser says (storage.spec.yaml.slips)."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ruamel.yaml.reader import Reader

from groupwise.storage.spec.words.odd_spaces import ODD
from groupwise.storage.spec.words.problem import SpecError
from groupwise.storage.spec.yaml.open_quotes import REMARK
from groupwise.storage.spec.yaml.plain_rows import shorten
from groupwise.storage.spec.yaml.quotes_in_braces import BOTH, closed_quotes, missing_brackets
from groupwise.storage.spec.yaml.tabs import without_tabs
from groupwise.storage.spec.yaml.yaml_text import (
    COLON,
    CONTROL,
    INDENTATION,
    NO_SPACE,
    OPEN,
    QUOTE,
    TAB,
    TAB_INSIDE,
    dump,
    read_yaml,
)

EQUALS = "there is an equals sign where a colon belongs."
IN_QUOTES = "this text has signs that mean something in YAML. Put it in quotes."
BRACKET = "a bracket is not closed."
LONGEST = 2000  # characters of a line that is written anew
COLUMNS = 6  # that a line is tried at

_ENTRY = r"(\s*(?:- +)?)([A-Za-z_]\w*)"
_JOINED = re.compile(rf"{_ENTRY}:[{ODD}]*([^\s/:].*)")
_EQUALS = re.compile(rf"{_ENTRY} *= *(\S.*)")
_VALUE = re.compile(rf"({_ENTRY}: +)(\S.*)")
_TAG = re.compile(r"((?:: |- |\[|, ))![^\s\[\]{}]* +")
_IN_BRACES = re.compile(r"\s*(?:- *)?(?:[A-Za-z_]\w*:\s*)?[{\[]")
_AT_MARGIN = re.compile(r"[A-Za-z_]\w*:(?:\s|$)")
_ALIAS = re.compile(r"\*([\w-]+)")


@dataclass(frozen=True)
class Repair:
    """Rows of a text (from `row`, from 0) as they would be read; `label`: of the button that writes them; `words`: what
    is wrong there, where that is clearer than what the parser says. `put`: what the button writes, if that is more
    lines than there were. `here`: the slip is in these rows, whichever the parser says it of."""

    row: int
    rows: list[str]
    label: str
    words: str = ""
    put: str | None = None
    here: bool = False


def repairs(rows: list[str], row: int, message: str, written: list[str]) -> Iterator[Repair]:
    """What may have been meant by a row, and the one before it, the likeliest first. `rows` are without their line
    breaks; `message`: what is said of the row; `written`: the rows as they were before others were put right."""
    before = next((n for n in range(row - 1, -1, -1) if rows[n].strip()), None)
    if CONTROL in message:
        yield from _control_characters(rows)
    if TAB in message or TAB_INSIDE in message:
        yield from _tabs(rows)
    for at in (row, before):
        if at is not None:
            yield from _colon(at, rows[at])
    yield from _alias(rows, row)
    if not _stands_for_something(rows[row], written):
        yield from _signs(row, rows[row], message)
    if INDENTATION in message:
        yield from _indentation(rows, row)
    for at in dict.fromkeys((row, before, opening_row(rows, row) if OPEN in message else None)):
        if at is not None:
            yield from _unclosed(at, rows[at])
    if "second document" in message:
        first = next((n for n in range(row, -1, -1) if rows[n].startswith("---")), row)
        yield Repair(first, [""] * (len(rows) - first), "Remove the second document", put="")


def _control_characters(rows: list[str]) -> Iterator[Repair]:
    """All of them at once, as a text that has one was copied with more."""
    having = [n for n, line in enumerate(rows) if Reader.NON_PRINTABLE.search(line)]
    first, last = having[0], having[-1]
    number = sum(len(Reader.NON_PRINTABLE.findall(line)) for line in rows)
    cleared = [Reader.NON_PRINTABLE.sub("", line) for line in rows[first : last + 1]]
    yield Repair(first, cleared, "Remove it" if number == 1 else f"Remove all {number:,} of them")


def _tabs(rows: list[str]) -> Iterator[Repair]:
    """All of them at once: who has one has them in every line."""
    for width in (2, 4):
        spaced = without_tabs(rows, width)
        changed = [n for n, line in enumerate(rows) if line != spaced[n]]
        if changed:
            first, last = changed[0], changed[-1] + 1
            number = sum(rows[n].count("\t") - spaced[n].count("\t") for n in changed)
            yield Repair(first, spaced[first:last], f"Write spaces instead of the tab{'s' if number > 1 else ''}")


def _colon(at: int, line: str) -> Iterator[Repair]:
    for pattern, words in ((_JOINED, NO_SPACE), (_EQUALS, EQUALS)):
        if found := pattern.fullmatch(line.rstrip()):
            written = f"{found[2]}: {found[3]}"
            yield Repair(at, [found[1] + written], f"Write it as “{shorten(written)}”", words)


def _signs(at: int, line: str, message: str) -> Iterator[Repair]:
    """Text that YAML takes for something else, put in quotes; and without a tag."""
    plain, remark = _without_remark(line)
    found = _VALUE.fullmatch(plain.rstrip(" "))
    if _TAG.search(line):
        yield Repair(at, [_TAG.sub(r"\1", line)], "Remove the tag")
    if found is None or re.search(r"^[|>\[\]}]|^\{(?![^{}]*\}\s+\S)", found[4]):
        return  # no text, as far as one can tell
    words = "" if COLON in message or "Aliases" in message else IN_QUOTES
    value = found[4]
    if value[0] in "'\"" and value[-1] == value[0] and len(value) > 2:
        value = value[1:-1]
    elif value[0] in "'\"":
        return
    yield Repair(at, [found[1] + json.dumps(value, ensure_ascii=False) + remark], "Put it in quotes", words)


def _unclosed(at: int, line: str) -> Iterator[Repair]:
    """A quotation mark that is open at the end of its line, or a bracket."""
    plain = line.rstrip()
    found = _VALUE.fullmatch(plain)
    mark = found[4][0] if found else ""
    if found and mark in "'\"" and plain.count(mark) % 2:
        remark = behind[0] if (behind := REMARK.search(found[4])) else ""
        closed = f"{found[4].removesuffix(remark)}{mark}{remark}"
        yield Repair(at, [found[1] + closed], f"Close the quotation mark: {shorten(closed)}", QUOTE)
    yield from _quotes_in_braces(at, plain)
    for whole, remark in dict.fromkeys((_without_remark(plain), (plain, ""))):
        if closing := missing_brackets(whole):
            yield Repair(at, [whole + closing + remark], f"Close it with {closing}", BRACKET)


def _quotes_in_braces(at: int, line: str) -> Iterator[Repair]:
    for written, shown, with_brackets in closed_quotes(line):
        label = "Close both" if with_brackets else "Close the quotation mark"
        yield Repair(at, [written], f"{label}: {shorten(shown)}", BOTH if with_brackets else QUOTE, here=True)


def quotes_before_parts(rows: list[str], last: int) -> Iterator[Repair]:
    """What closes each quotation mark in brackets that is open where the next part begins, or at the text's end; down
    to the row `last`."""
    for at, line in enumerate(rows[:last]):
        below = next((row for row in rows[at + 1 :] if row.strip()), "")
        if _IN_BRACES.match(line) and (not below or _AT_MARGIN.match(below)):
            yield from _quotes_in_braces(at, line.rstrip())


def _without_remark(line: str) -> tuple[str, str]:
    """A line without the comment at its end, as far as that begins outside of quotes; and the comment."""
    found = REMARK.search(line)
    before = line[: found.start()] if found else line
    return (before, line[len(before) :]) if found and not (before.count('"') % 2) else (line, "")


def opening_row(rows: list[str], row: int) -> int | None:
    """The nearest row above in which a bracket is opened and not closed."""
    return next((n for n in range(row - 1, -1, -1) if missing_brackets(_without_remark(rows[n])[0])), None)


def _indentation(rows: list[str], row: int) -> Iterator[Repair]:
    """At the column of a line above, the nearest first."""
    line = rows[row].lstrip(" ")
    tried: set[int] = set()
    for above in reversed(rows[:row]):
        inner = re.match(r" *(?:- +)?", above)
        columns = {len(above) - len(above.lstrip(" ")), inner.end() if inner else 0}
        for column in sorted(columns, reverse=True) if above.strip() else ():
            if len(tried) < COLUMNS and column not in tried and not above.lstrip().startswith("#"):
                tried.add(column)
                yield Repair(row, [" " * column + line], f"Begin the line at column {column + 1}")


def _alias(rows: list[str], row: int) -> Iterator[Repair]:
    """Instead of *name what &name stands before."""
    found = _ALIAS.search(rows[row])
    if not found:
        return
    meant = _anchored(rows, found[1])
    if meant is None:
        return
    label = f"Write what *{found[1]} stands for"
    if merged := re.fullmatch(r"( *)<<: *\*[\w-]+ *", rows[row]):
        given = _siblings(rows, row, merged[1])
        new = {key: value for key, value in meant.items() if key not in given} if isinstance(meant, dict) else {}
        put = "\n".join(merged[1] + line for line in dump(new).splitlines()) if new else ""
        yield Repair(row, [""], label, put=put)
        return
    whole = isinstance(meant, (dict, list))
    written = dump(meant if whole else [meant], flow=True, width=LONGEST).strip()
    written = written if whole else written[1:-1]
    line = re.sub(rf"\*{re.escape(found[1])}(?![\w-])", lambda _: written, rows[row])
    if len(line) <= LONGEST and "\n" not in written:
        yield Repair(row, [line], label)


def _stands_for_something(line: str, written: list[str]) -> bool:
    """Whether *name in a line has its &name somewhere: then it is no text, also where what it stands for is too long to
    be written there."""
    return any(_anchor(name).search(other) for name in _ALIAS.findall(line) for other in written)


def _anchor(name: str) -> re.Pattern[str]:
    return re.compile(rf"&{re.escape(name)}(?![\w-])")


def _siblings(rows: list[str], row: int, indentation: str) -> set[str]:
    """The names of the settings beside a row, in the same part."""
    of_part = re.compile(rf"{indentation}\s|\s*$|{indentation}\S") if indentation else re.compile("")
    first = next((n + 1 for n in range(row, -1, -1) if not of_part.match(rows[n])), 0)
    last = next((n for n in range(row, len(rows)) if not of_part.match(rows[n])), len(rows))
    return {line.strip().split(":")[0] for line in rows[first:last]}


def _anchored(rows: list[str], name: str) -> object | None:
    """The value before which &name stands; None where it is not found, or refers to others itself."""
    pattern = _anchor(name)
    at = next((n for n, line in enumerate(rows) if pattern.search(line)), None)
    if at is None:
        return None
    indentation = len(rows[at]) - len(rows[at].lstrip(" "))
    inner = [line for line in rows[at + 1 :] if line.strip()]
    below: list[str] = []
    for line in inner:
        if len(line) - len(line.lstrip(" ")) <= indentation:
            break
        below.append(line)
    value = pattern.split(rows[at], maxsplit=1)[1].strip()
    text = value if value and not value.startswith("#") else "\n".join(below)
    try:
        return read_yaml(text)[0] if "*" not in text and len(text) <= LONGEST else None
    except SpecError:
        return None
