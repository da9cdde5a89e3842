"""The prompt and the answer that a script makes of each row → template, system prompt, examples and answer column."""

import re
from collections.abc import Sequence
from typing import Any

from groupwise.storage.checks.script_reader import answers, by_place
from groupwise.storage.checks.script_reader.calling import rows_of_batch
from groupwise.storage.checks.script_reader.members import Arguments
from groupwise.storage.checks.script_reader.plain import Unknown
from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.values import (
    Batch,
    ByPlace,
    Column,
    Either,
    Function,
    Items,
    Made,
    Mapping,
    Plain,
    Row,
    Text,
    Value,
    plain_or,
)

COLUMN = re.compile(r"\{[^{}]+\}")
ANSWERS = ("answer", "solution", "ground_truth", "target", "label")
_LIKE_ANSWER = re.compile(r"answer|solution|truth|gold|(?:^|_)gt(?:$|_)|target|label|reference|expected|correct|result")
_STRIPS = {"strip", "lstrip", "rstrip"}


def apply_function(
    reading: Reading, function: Function, row: Row, batched: bool, named: dict[str, Value], at: Value, more: int = 0
) -> dict[str, Value] | None:
    """The columns that a function gives a row, alone or in a batch; None where that cannot be told. `more`: how many
    arguments it is given besides (a row's number)."""
    script = reading.script
    script.quiet += 1
    around, script.arms = script.arms, ()
    owner = [function.owner] if function.owner is not None else []
    made: list[tuple[Row, dict[str, Value] | None]] = []
    for rows in by_place.tried_rows(row, batched):
        given = [*owner, Batch(at.node, rows) if batched else rows[0], *(Value(at.node) for _ in range(more))]
        before = [each.copy() for each in rows]
        result = script.call_function(function, Arguments(given, dict(named)), at.node)
        made += zip(before, _of_batch(result, len(rows)) if batched else [_of_row(result)], strict=True)
    script.arms = around
    script.quiet -= 1
    known = [(one, columns) for one, columns in made if columns is not None]
    return by_place.same_for_all(known) if len(known) == len(made) else None


def _of_row(result: Value) -> dict[str, Value] | None:
    """The columns that a row has of what the function makes of it."""
    if isinstance(result, Row):
        return dict(result.columns)
    if not isinstance(result, Mapping) or any(not isinstance(part, Row) for part in result.dark):
        return None
    inherited = {name: value for part in result.dark if isinstance(part, Row) for name, value in part.columns.items()}
    return inherited | {str(name): value for name, value in result.entries.items()}


def _of_batch(result: Value, count: int) -> Sequence[dict[str, Value] | None]:
    """The columns that each row has of a batch: those of which the function makes as many rows as it got."""
    if isinstance(result, Batch):
        return [dict(row.columns) for row in result.rows]
    nothing: list[dict[str, Value] | None] = [None] * count
    if not isinstance(result, Mapping) or any(not isinstance(part, Batch) for part in result.dark):
        return nothing
    if any(not isinstance(value, Items) or len(value.items) != count for value in result.entries.values()):
        return nothing
    found: list[dict[str, Value]] = [{} for _ in range(count)]
    for part in result.dark:
        for columns, row in zip(found, part.rows if isinstance(part, Batch) else [], strict=False):
            columns |= row.columns
    for name, value in result.entries.items():
        for columns, given in zip(found, rows_of_batch(value, count), strict=True):
            columns[str(name)] = given
    return found


def shape_settings(reading: Reading, row: Row, made_by: Value | None) -> dict[str, Any]:
    """The settings that make prompt and answer of the source's rows."""
    prompt = row.columns.get("prompt")
    if prompt is None:
        taken: dict[str, Any] = {"prompt_column": "prompt"}
        if made_by is not None and isinstance(made_by, Made) and made_by.name == "map":
            message = "is not made in a way that was followed: the column “prompt” was taken for it."
            reading.note("The prompt", made_by, message)
        else:
            reading.unsaid.set("data.prompt_column", "prompt", "the column that TRL reads")
    elif isinstance(prompt, Column):
        taken = {"prompt_column": prompt.name}
    else:
        taken = _prompt(reading, prompt)
    return taken | _answer(reading, row)


def _prompt(reading: Reading, value: Value) -> dict[str, Any]:
    value = _without_end(reading, value)
    if isinstance(value, Made) and value.name == "apply_chat_template":
        given = value.arguments[0] if value.arguments else value.keywords.get("conversation", Value(value.node))
        extra = set(value.keywords) - {"conversation", "tokenize", "add_generation_prompt"}
        if extra:
            reading.note(f"apply_chat_template's {', '.join(sorted(extra))}", value, "was not taken: see "
                         "training.chat_template_kwargs.")  # fmt: skip
        reading.text_prompt, value = value, given
        if isinstance(value, Column):
            return {"prompt_column": value.name}
    elif isinstance(value, Text):
        reading.text_prompt = value
    try:
        return _messages(reading, value)
    except Unknown:
        reading.note("The prompt", value, f"{_how_made(value)}: set its template here.")
        return _system_prompt(value)


def _how_made(value: Value) -> str:
    if isinstance(value, ByPlace):
        return "is not the same for each row, as it depends on which row it is"
    return "depends on a condition" if isinstance(value, Either) else "is made by the script"


def _without_end(reading: Reading, value: Value) -> Value:
    """A chat in its template, without the text that a script puts behind it."""
    first, *rest = value.parts if isinstance(value, Text) else [value]
    said = "".join(str(plain_or(part, "")) for part in rest)
    templated = isinstance(first, Made) and first.name == "apply_chat_template"
    if not rest or not templated or not all(isinstance(part, Plain) for part in rest):
        return value
    where = f"“{' '.join(said.split())[:40]}” behind the chat template"
    reading.note(where, value, "was not taken: a prompt ends here where the model's template ends.")
    return first


def _messages(reading: Reading, value: Value) -> dict[str, Any]:
    """system, examples and template of a list of messages, or the template of a text; of one that is a column as it
    is, that column, which stays text."""
    if not isinstance(value, Items):
        template = _template(reading, value)
        if COLUMN.fullmatch(template):
            reading.text_prompt = None
            return {"prompt_column": template[1:-1]}
        return {"prompt_template": template}
    if value.open:
        raise Unknown
    taken = _system_prompt(value)
    said = [_message(item) for item in value.items[len(taken) :]]
    _drop_beginning(reading, said)
    *before, last = said or [("", Value(value.node))]
    pairs = list(zip(before[::2], before[1::2], strict=False))
    if last[0] != "user" or len(before) % 2 or any((a[0], b[0]) != ("user", "assistant") for a, b in pairs):
        raise Unknown
    if pairs:
        texts = [(_constant(a[1]), _constant(b[1])) for a, b in pairs]
        taken["examples"] = [{"prompt": prompt, "completion": completion} for prompt, completion in texts]
    return taken | {"prompt_template": _template(reading, last[1])}


def _system_prompt(value: Value) -> dict[str, Any]:
    """The system message that a chat begins with, where it is the same for each row: whatever comes after it."""
    if not isinstance(value, Items) or value.open or not value.items:
        return {}
    try:
        role, text = _message(value.items[0])
        return {"system_prompt": _constant(text)} if role == "system" else {}
    except Unknown:
        return {}


def _drop_beginning(reading: Reading, said: list[tuple[str, Value]]) -> None:
    """The beginning of the answer that a script writes for the model as the last message."""
    if len(said) < 2 or said[-1][0] != "assistant":
        return
    value = said.pop()[1]
    text = " ".join(_constant(value).split())[:40]
    reading.note(
        f"The beginning of the answer, “{text}”", value, "was not taken: a model begins its answers itself here."
    )


def _message(item: Value) -> tuple[str, Value]:
    if not isinstance(item, Mapping) or item.dark or not {"role", "content"} <= set(item.entries):
        raise Unknown
    return str(plain_or(item.entries["role"])), item.entries["content"]


def _constant(value: Value) -> str:
    given = plain_or(value)
    if not isinstance(given, str) or not given:
        raise Unknown
    return given


def _template(reading: Reading, value: Value) -> str:
    template = "".join(_piece(reading, part) for part in (value.parts if isinstance(value, Text) else [value]))
    if not COLUMN.search(template):
        raise Unknown
    return template


def _piece(reading: Reading, part: Value) -> str:
    """A piece of a text, {column} where a row's column stands."""
    if isinstance(part, Column) and re.fullmatch(r"[^{}]+", part.name):
        return f"{{{part.name}}}"
    if isinstance(part, Made) and part.name in _STRIPS and not part.arguments and isinstance(part.receiver, Column):
        reading.note(f"{part.name}()", part, f"of the column “{part.receiver.name}” was left out.")
        return _piece(reading, part.receiver)
    given = part.value if isinstance(part, Plain) else None
    if not isinstance(given, str) or COLUMN.search(given):
        raise Unknown
    return given


def _answer_asked(reading: Reading, made: dict[str, Value]) -> str | None:
    """The one column that is made, called like an answer, and taken by a reward of the script under that name."""
    found = [name for name in made if name in reading.asked and _LIKE_ANSWER.search(name)]
    return found[0] if len(found) == 1 else None


def _answer(reading: Reading, row: Row) -> dict[str, Any]:
    """The column that an answer comes from, and what is cut out of it; a note on the other columns that are made."""
    made = {name: value for name, value in row.columns.items() if name != "prompt"}
    found = next((name for name in ANSWERS if name in made), None) or _answer_asked(reading, made)
    for name, value in made.items():
        same = isinstance(value, Column) and value.name == name
        if name in ("image", "images"):
            reading.note(f"The column “{name}”", value, "was not taken: models get no images here.")
            continue
        if name == found or same:
            continue
        origin = f"is the column “{value.name}” here" if isinstance(value, Column) else "is made by the script"
        reading.note(f"The column “{name}”", value, f"{origin}: reward functions get the columns of the source.")
    if found is None:
        return {"answer_column": None}
    taken = answers.answer_settings(reading, found, made[found])
    if found != "answer":
        reading.answer = (found, made[found], taken["answer_column"])
    return taken
