"""Reward for an answer that is valid JSON, of a given schema."""

import json
import re
from collections.abc import Callable
from typing import Any, Literal, NoReturn


def valid_json(
    completions: list,
    *,
    schema: dict | None = None,
    extract: Literal["auto", "all"] = "auto",
    partial: float = 0.0,
    **kwargs: object,
) -> list[float | None]:
    """1 when the completion's answer is valid JSON and fits the schema, else 0.

    The answer is the last fenced code block, else the text of the last <answer>…</answer>, else all of the
    completion. NaN and Infinity are not JSON. A schema is JSON Schema, draft 2020-12 unless it names another;
    references to the network are not followed.

    Args:
        schema: what the JSON must look like, such as {type: object, required: [name]}; null: any JSON will do.
        extract: where the JSON is: found as above (auto), or all of the completion.
        partial: what JSON that does not fit the schema gets.
    """
    if extract not in ("auto", "all"):
        raise ValueError(f"extract must be auto or all, not {extract!r}.")
    if not 0 <= partial <= 1:
        raise ValueError(f"partial must be from 0 to 1, not {partial!r}.")
    fits = checker(schema) if schema is not None else None
    texts = [text_of(completion) for completion in completions]
    return [score(answer_in(text) if extract == "auto" else text, fits, partial) for text in texts]


def checker(schema: object) -> Callable[[Any], bool]:
    """What checks a value against a schema. Raises ValueError where it is no schema."""
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for
    from jsonschema_specifications import REGISTRY
    from referencing.exceptions import Unresolvable

    if not isinstance(schema, dict):
        raise ValueError(f"schema must be a JSON Schema, such as {{type: object}}, not {schema!r}.")
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"schema is not a JSON Schema: {error.message}.") from None
    validator = kind(schema, registry=REGISTRY)  # without a registry of its own it would fetch references

    def fits(value: Any) -> bool:
        try:
            return bool(validator.is_valid(value))
        except Unresolvable as error:
            raise ValueError(f"schema has a reference that it does not contain: {error}.") from None

    return fits


def score(text: str, fits: Callable[[Any], bool] | None, partial: float) -> float:
    """What one answer gets."""
    try:
        value = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):  # no JSON; or nested too deep for anyone to read
        return 0.0
    try:
        return 1.0 if fits is None or fits(value) else partial
    except RecursionError:
        return partial


def refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON.")


def answer_in(text: str) -> str:
    """Where a completion has its JSON."""
    lines = list(re.finditer(r"^[ \t]*```.*$", text, re.MULTILINE))
    if len(lines) >= 2:
        opening, closing = lines[len(lines) // 2 * 2 - 2 : len(lines) // 2 * 2]
        return text[opening.end() : closing.start()].strip()
    start = text.rfind("<answer>", 0, max(text.rfind("</answer>"), 0))
    if start >= 0:
        text = text[start + len("<answer>") : text.find("</answer>", start)]
    return text.strip()


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
