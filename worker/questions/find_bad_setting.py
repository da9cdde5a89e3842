"""Which setting an exception of TRL, transformers, torch or PEFT is about, found by leaving settings out one at a time,
and what is said about it at the field."""

import copy
import json
import re
from collections.abc import Callable
from typing import Any

from groupwise.storage.spec.words.problem import Fix, Problem

Attempt = Callable[[dict[str, Any]], object]
MOST = 8  # problems that are looked for in one attempt
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# What the libraries say in words that no field's name helps with.
_IN_WORDS = (
    (r"At most one of fp16 and bf16 can be True.*", "fp16 and bf16 cannot both be on."),
    (r"not enough values to unpack.*", "should be pairs of name and value: “name=value, other=value”."),
    (r".*strategy \S+ requires (?:either )?non-zero --?(\w+).*", r"\1 must not be 0."),
    (r".*got an unexpected keyword argument '(\w+)'.*", r"“\1” is not known there."),
    (r".*Unexpected keyword arguments: (.+)", r"“\1” is not known there."),
    (r"`temperature` .*", "must be above 0: without randomness, all completions of a group would be the same."),
    (r"(?:`\w+` )?(?:penalty )?has to be a strictly positive (float|integer).*", "must be above 0."),
    (r"`max_new_tokens` must be greater than 0.*", "must be at least 1."),
    (r"Invalid (?:learning rate|epsilon value|weight_decay value): .*", "must not be negative."),
    (r"Invalid beta parameter at index \d: .*", "must be at least 0 and below 1."),
    (r"Got warmup_steps = .*", "must not be negative."),
    (r"'(\w+)' is not a valid DynamoBackend", r"“\1” is not a torch.compile backend."),
    (r"'dict' object has no attribute .*", "cannot be set in a spec: the library expects an object here."),
)


def problems_by_setting(
    section: str, given: dict[str, Any], attempt: Attempt, fields: dict[str, dict[str, Any]], kept: tuple[str, ...] = ()
) -> tuple[list[Problem], dict[str, Any]]:
    """What keeps `attempt(settings)` from succeeding, each at the setting of `given` without which it gets further;
    and the settings with which it succeeds, or gets furthest. `kept` are never to blame."""
    found: list[Problem] = []
    given = dict(given)
    for _ in range(MOST):
        error = error_of(attempt, given)
        if error is None:
            break
        to_blame = _find_culprits(given, attempt, error, kept)
        if not to_blame:
            found.append(Problem(section, _error_in_words(error, "")))
            break
        found.append(_problem(section, error, to_blame, fields))
        del given[to_blame[0]]
    return found, given


def error_of(attempt: Attempt, settings: dict[str, Any]) -> Exception | None:
    """The exception that an attempt raises with these settings; None where it succeeds."""
    try:
        attempt(copy.deepcopy(settings))  # the libraries change what they are given
    except Exception as error:  # the libraries raise every kind for a wrong setting
        return error
    return None


def _find_culprits(given: dict[str, Any], attempt: Attempt, error: Exception, kept: tuple[str, ...]) -> list[str]:
    """The settings without which the attempt does not fail in this way, the likeliest first: named in the message,
    or with their value in it, and given last."""
    message = str(error)
    names, text = set(_WORD.findall(message)), message.lower()

    def likely(name: str) -> tuple[bool, bool]:
        value = given[name]
        return name in names, isinstance(value, str) and bool(value) and value.lower() in text

    names_given = [name for name in reversed(given) if name not in kept]
    cured, moved = [], []
    for name in sorted(names_given, key=likely, reverse=True):
        now = error_of(attempt, {key: value for key, value in given.items() if key != name})
        if now is None:
            cured.append(name)
        elif (type(now), str(now)) != (type(error), message):
            moved.append(name)
    found = cured or moved
    return [name for name in found if any(likely(name))] or found


def _problem(section: str, error: Exception, to_blame: list[str], fields: dict[str, dict[str, Any]]) -> Problem:
    name = to_blame[0]
    fixes = tuple(
        use_default(f"{section}.{each}", fields.get(each), name=each if len(to_blame) > 1 else "")
        for each in to_blame[:3]
    )
    return Problem(f"{section}.{name}", _error_in_words(error, name), fixes=fixes)


def use_default(path: str, field: dict[str, Any] | None, name: str = "") -> Fix:
    """The click that leaves a setting to the library. `name` says which, where several are offered."""
    default = (field or {}).get("default")
    if field is None or default is None or default == "" or len(json.dumps(default, default=str)) > 30:
        return Fix(f"Remove {name or 'it'}", {}, (path,))
    shown = json.dumps(default, ensure_ascii=False, default=str).strip('"')
    return Fix(f"Use the default{f' of {name}' if name else ''} ({shown})", {}, (path,))


def _error_in_words(error: Exception, name: str) -> str:
    """The message as it is said at the field."""
    text = " ".join(str(error).split()) or type(error).__name__
    for pattern, words in _IN_WORDS:
        if re.fullmatch(pattern, text, re.I):
            return re.sub(pattern, words, text, flags=re.I)
    text = re.sub(r"\s--(?=\w)", " ", f" {text}").strip().replace("`", "")
    text = re.sub(rf"^(The )?{re.escape(name)}\b[ :]*(?=\(|should|must|has|requires|is|of)", "", text) if name else text
    return text if len(text) <= 400 else f"{text[:399]}…"
