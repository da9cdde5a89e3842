"""What is wrong with JSON, in our words: those of the parsers speak of their own insides. Pure."""

import json
import re

WORDS = {
    "Unterminated string": "a text in it is never closed",
    "Expecting ',' delimiter": "a comma is missing in it",
    "Expecting ':' delimiter": "a colon is missing after a name",
    "Expecting property name": "a name in it does not stand in double quotes, or a comma is too many",
    "Expecting value": "a value is missing in it, or is not written as JSON has it",
    "Illegal trailing comma": "a comma is too many in it",
    "Invalid control character": "a text in it holds a line end or another control character as it is; write \\n",
    "Invalid \\": "a backslash in it begins nothing that JSON knows; write it twice",
    "Extra data": "something follows after its end",
    "Unexpected UTF-8 BOM": "a byte order mark stands in it",
}
CHANGED = re.compile(r"Column\(/?([^)]*)\) changed from (\w+) to (\w+)")
KINDS = {"number": "a number", "string": "a text", "boolean": "true or false", "array": "a list", "object": "an object"}


def json_fault(error: ValueError) -> str:
    """Why a text is no JSON."""
    said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    if "Exceeds the limit" in said:
        return "a number in it has too many digits"
    return next((words for begin, words in WORDS.items() if said.startswith(begin)), "it is not written as JSON has it")


def misfit(said: str) -> str:
    """Why a row does not fit those before it, of what pyarrow says."""
    found = CHANGED.search(said)
    if found is None:
        return "does not fit the rows before it"
    column, before, here = found[1].rpartition("/")[2], KINDS.get(found[2], found[2]), KINDS.get(found[3], found[3])
    return f"does not fit the rows before it: its “{column}” is {here}, where theirs is {before}"
