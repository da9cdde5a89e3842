"""What is wrong with a line of JSON, in our words: those of the parsers speak of their own insides. Pure."""

import json
import math
import re
from typing import Any

WORDS = {
    "Unterminated string": "a text in it is never closed",
    "Expecting ',' delimiter": "a comma is missing in it",
    "Expecting ':' delimiter": "a colon is missing after a name",
    "Expecting property name": "a name in it does not stand in double quotes, or a comma is too many",
    "Expecting value": "a value is missing in it, or is not valid JSON",
    "Illegal trailing comma": "a comma is too many in it",
    "Invalid control character": "a text in it holds a line end or another control character as it is; write \\n",
    "Invalid \\": "a backslash in it begins no JSON escape; write it twice",
    "Extra data": "something follows after its end",
    "Unexpected UTF-8 BOM": "a byte order mark stands in it",
}
NO_OBJECT = "is JSON, but not an object with columns"
EXAMPLE = '{"question": "1+1?"}'
BEGINS = 60  # characters of a line that are shown
CHANGED = re.compile(r"Column\(/?([^)]*)\) changed from (\w+) to (\w+)")
KINDS = {"number": "a number", "string": "a text", "boolean": "true or false", "array": "a list", "object": "an object"}


def json_fault(error: ValueError) -> str:
    """Why a text is no JSON."""
    said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    if "Exceeds the limit" in said:
        return "a number in it has too many digits"
    if isinstance(error, json.JSONDecodeError) and _is_cut_off(error):
        return "its object or list is never closed"
    return next((words for begin, words in WORDS.items() if said.startswith(begin)), "it is not valid JSON")


def _is_cut_off(error: json.JSONDecodeError) -> bool:
    """Whether a text that begins as an object or a list ends before that does, with nothing else wrong before."""
    text = error.doc.strip()
    return text[:1] in ("{", "[") and not error.doc[error.pos :].strip() and not error.msg.startswith("Unterminated")


def misfit(said: str) -> str:
    """Why a row does not fit those before it, of what pyarrow says."""
    found = CHANGED.search(said)
    if found is None:
        return "does not fit the rows before it"
    column, before, here = found[1].rpartition("/")[2], KINDS.get(found[2], found[2]), KINDS.get(found[3], found[3])
    return f"does not fit the rows before it: its “{column}” is {here}, where theirs is {before}"


def line_fault(line: bytes) -> str:
    """Why a line is no row, in words, with what it begins with; "" where it is one."""
    try:
        value = json.loads(line.decode("utf-8"))
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        return f"holds half a character ({ascii(error.object[error.start])[1:-1]} without the other half of its pair)"
    except UnicodeDecodeError as error:
        return f"is not UTF-8 (at byte {error.start + 1} of the line); save the file as UTF-8"
    except RecursionError:
        return "is nested too deeply"
    except ValueError as error:
        if b"\n" in line.strip():
            return ""
        return f"is not JSON: {json_fault(error)}; each line should be one whole object. {begin_words(line)}"
    return "" if isinstance(value, dict) else f"{NO_OBJECT}, such as {EXAMPLE}. {begin_words(line)}"


def begin_words(line: bytes) -> str:
    """What a line is, or begins with, so that it is found in an editor."""
    text = " ".join(line[: BEGINS * 8].decode("utf-8", "replace").split())
    whole = len(text) <= BEGINS and len(line) <= BEGINS * 8
    return f"It is “{text}”" if whole else f"It begins with “{text[:BEGINS]}…”"


def odd_content(line: bytes) -> str:
    """What not every reader of JSON takes, in words: two values of one name, a whole number beyond 64 bits, or one
    that is too large for any; "" where a line has none, or is no JSON."""
    odd: list[str] = []

    def note_names(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen and not odd:
                odd.append(f"has “{name[:BEGINS]}” twice; a name has one value")
            seen.add(name)

    def note_number(digits: str) -> int:
        if not -(2**63) <= int(digits) < 2**64 and not odd:
            odd.append(f"has the number {digits[:20]}…, which has too many digits; write it in quotes")
        return 0

    def note_decimal(written: str) -> float:
        if math.isinf(float(written)) and not odd:
            number = written if len(written) <= BEGINS else f"{written[:BEGINS]}…"
            odd.append(f"has the number {number}, which is too large to be read; write it in quotes")
        return 0.0

    try:
        json.loads(line, object_pairs_hook=note_names, parse_int=note_number, parse_float=note_decimal)
    except (ValueError, RecursionError):
        return ""
    return f"{odd[0]}. {begin_words(line)}" if odd else ""


def no_number(line: bytes) -> str:
    """What becomes of a line that can be read though it holds NaN or Infinity, which JSON does not know, in words; ""
    where a line holds none, or is no object."""
    odd: list[str] = []

    def note_constant(word: str) -> float:
        odd.append(word)
        return math.nan

    try:
        value = json.loads(line, parse_constant=note_constant)
    except (ValueError, RecursionError):
        return ""
    if not odd or not isinstance(value, dict):
        return ""
    empty = [name for name, cell in value.items() if cell is None]
    null = f". Its “{empty[0][:BEGINS]}” is null: a row with an empty prompt is left out" if empty else ""
    return f"holds {odd[0]}, which is no number in JSON, and no answer equals it; write null{null}"
