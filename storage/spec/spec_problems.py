"""What pydantic says of a spec, as problems: at which field and line, in a person's words, and what one click does."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from groupwise.storage.spec.rows.number_names import number_by_name
from groupwise.storage.spec.rows.number_text import meant_number_words, number_fixes
from groupwise.storage.spec.rows.units import say_unit
from groupwise.storage.spec.words.data_words import held_out_by_name, source_by_kind
from groupwise.storage.spec.words.fallbacks import fallback_fix, fallback_of, variable_words
from groupwise.storage.spec.words.foreign_letters import without_accents
from groupwise.storage.spec.words.misfits import entry_fix, in_words, listed_fix, meant_truth, text_fix, truth_words
from groupwise.storage.spec.words.misplaced import (
    misplaced_problem,
    misspelt_elsewhere,
    model_by_name,
    name_in_a_part,
    part_in_a_part,
)
from groupwise.storage.spec.words.number_words import join_words
from groupwise.storage.spec.words.odd_spaces import trim_spaces, trimmed_words
from groupwise.storage.spec.words.problem import Fix, Problem, line_of, nearest_name
from groupwise.storage.spec.words.recipe_names import recipe_problem
from groupwise.storage.spec.words.reward_entries import (
    below_empty_rewards,
    is_function_name,
    named_as_setting,
    of_entry_above,
    weighed_entries,
)
from groupwise.storage.spec.words.run_names import USUAL_NAME
from groupwise.storage.spec.words.setting_names import meant_name, unknown_setting
from groupwise.storage.spec.words.trl_words import trl_problem
from groupwise.storage.spec.words.value_kinds import Kinds, can_mean, kinds_of_class
from groupwise.storage.spec.yaml.missing_colon import colon_fix, colon_words, without_colons
from groupwise.storage.spec.yaml.yaml_text import dump

Parts = Mapping[tuple[str, ...], type[BaseModel]]  # the class of each part of a spec
TAKES_NUMBERS = ("int_type", "float_type", "count_or_share")  # what pydantic, and spec.py, call a text that is none
LONGEST = 80  # characters of a value that is offered on a button
# What a field is for that must be given.
_NEEDED = {
    "name": ": what the run is called, in lists and charts",
    "rewards": ": at least one function that scores completions",
}
# How others call a precision (model.dtype).
_DTYPES = {"bf16": "bfloat16", "fp16": "float16", "half": "float16", "fp32": "float32", "float": "float32"}


def problem_of_error(detail: Any, lines: dict[str, int], raw: dict[str, Any], parts: Parts) -> Problem:
    """A pydantic error in a person's words. `raw`: all that was validated."""
    path = [str(part) for part in detail["loc"]]
    if path[-1] == "[key]" or detail["type"] == "invalid_key":
        return _no_name([part for part in path if part != "[key]"], detail["input"], lines)
    field = ".".join(path)
    line = line_of(field, lines)
    if detail["type"] == "extra_forbidden":
        return _unknown(detail, path, line, raw, parts)
    message = f"is needed{_NEEDED.get(field, '')}." if detail["type"] == "missing" else in_words(detail)
    value = detail["input"]
    numbers: tuple[Fix, ...] = ()
    if detail["type"] in TAKES_NUMBERS:
        counted = detail["type"] == "count_or_share" and _is_count(value)
        whole = detail["type"] == "int_type" or counted
        message += meant_number_words(value, whole=whole)
        numbers = number_fixes(field, value, whole=whole)
    if detail["type"] == "string_pattern_mismatch":
        message += trimmed_words(value) or _accent_words(value)
    quoted = text_fix(field, value) if detail["type"] == "string_type" else ()
    settings = without_colons(field, value, _names_of(path, parts))
    message += colon_words(value, settings)
    fallback = _of_fallback(path, detail, parts)
    choice, truth = () if fallback else _to_choice(field, detail), _to_truth(field, detail)
    message += f" Did you mean “{choice[0].settings[field]}”?" if choice else ""
    message += truth_words(value) if truth else variable_words(value)
    written = () if settings else (*_to_part(field, value), *_to_named(field, detail))
    message += _example(field, written)
    above, join = of_entry_above(field, raw) if detail["type"] == "missing" else ("", ())
    message += above
    wrapped = () if written or settings else _wrapped(path, detail, parts)
    clear = (*_to_entries(field, detail, raw), *fallback, *wrapped, *choice, *truth, *numbers, *quoted)
    meant = (*join, *colon_fix(field, settings), *written, *clear)
    if shorter := _shortened(field, detail):
        return Problem(field, message, line, fixes=(shorter,))
    is_unclear = field == "rewards" and detail["type"] == "list_type" and isinstance(value, dict) and not written
    message += " Each entry begins with “- name: format”." if is_unclear else ""
    others = () if is_unclear or (written and field in _USUAL) else usual_fixes(path, parts)
    return say_unit(Problem(field, message, line, fixes=(*meant, *others)), value)


def _is_count(value: Any) -> bool:
    """Whether what is no count of rows was meant as one, and not as a share: 12.5, fifty."""
    return number_by_name(value) is not None if isinstance(value, str) else isinstance(value, float) and value >= 1


def _names_of(path: list[str], parts: Parts) -> set[str]:
    """The names that a part of a spec has; empty of one whose names are a library's."""
    part = parts.get(tuple(path))
    return set(part.model_fields) if part else {"r"} if path == ["lora"] else set()


def _no_name(path: list[str], name: Any, lines: dict[str, int]) -> Problem:
    """Of a setting whose `name` is a number, true, false or nothing."""
    written = json.dumps(name, default=str)
    field, *others = (".".join([*path[:-1], one]) for one in (str(name), written, ""))
    message = f"the name of a setting is a word, not {written}."
    line = next((lines[one] for one in others if one in lines), line_of(field, lines))
    return Problem(field, message, line, fixes=(Fix("Remove it", {}, (field,)),))


def _unknown(detail: Any, path: list[str], line: int | None, raw: dict[str, Any], parts: Parts) -> Problem:
    """Of a setting that its part has none of: it belongs elsewhere, is misspelt, or there is none."""
    field, value, name = ".".join(path), detail["input"], path[-1]
    given: Any = raw
    for part in detail["loc"][:-1]:
        given = given[part]
    siblings = _part_at(path[:-1], parts).model_fields
    known = trl_problem(name, value, raw, line) if len(path) == 1 else None
    if _is_entry(".".join(path[:-1])):
        known = named_as_setting(field, value, given, line)
    known = known or recipe_problem(field, value, raw, line)
    if "name" in raw or given.get("id") is None:
        known = known or model_by_name(field, value, given, line)
    known = known or source_by_kind(field, value, given, line) or held_out_by_name(field, value, given, line)
    if elsewhere := known or misplaced_problem(field, value, raw, line):
        return elsewhere
    if len(path) > 1 and (whole := part_in_a_part(field, value, raw, line)):
        return whole
    if len(path) > 1 and name in parts[()].model_fields:
        return name_in_a_part(field, value, raw, line)
    if len(path) == 1 and (inside := _with_its_part(name, value, parts)):
        remove = Fix("Remove it", {}, (field,))
        return Problem(field, f"there is no such field. Write {inside}.", line, fixes=(remove,))
    if len(path) == 1 and (below := below_empty_rewards(name, raw, siblings, line)):
        return below
    around = tuple(part for part in path[:-1] if not part.isdigit())
    fitting = [one for one in siblings if _can_stand_at(name, value, (*around, one), parts)]
    found = unknown_setting(field, value, siblings, given, "there is no such field.", line, fitting=fitting)
    is_unlike = len(found.fixes) == 1 and meant_name(name, fitting) is None
    if is_unlike and (elsewhere := misspelt_elsewhere(field, value, raw, lambda *at: _kinds_at(at, parts), line)):
        return elsewhere
    found = _with_part_meant(found, value) if len(path) == 1 else found
    *others, remove = found.fixes
    if _is_entry(".".join(path[:-1])) and not others and "name" in given and "parameters" not in given:
        move = Fix("Move it under parameters", {f"{'.'.join(path[:-1])}.parameters": {name: value}}, (field,))
        return Problem(field, f"{found.message} What a function takes belongs under parameters.", line,
                       fixes=(move, remove))  # fmt: skip
    return found


def _with_part_meant(problem: Problem, value: Any) -> Problem:
    """The problem of a part under another name; where it is written as one value, the click writes the part itself."""
    [place, *others] = problem.fixes[0].settings or ("",)
    written = (*_to_part(place, value), *_to_named(place, {"type": "list_type", "input": value}))
    if not place or others or not written or [*written[0].settings] != [place]:
        return problem
    meant = written[0].settings
    label = f"Write it as “{place}: {_in_one_line(meant[place])}”"
    use = Fix(label, meant, problem.fixes[0].removed)
    return replace(problem, message=problem.message + _example(place, written), fixes=(use, *problem.fixes[1:]))


def _kinds_at(path: tuple[str, ...], parts: Parts) -> Kinds:
    """What a setting takes; nothing of one that is a library's."""
    info = parts[path[:-1]].model_fields.get(path[-1]) if path[:-1] in parts else None
    return kinds_of_class(info.annotation) if info else ()


def _can_stand_at(typed: str, value: Any, path: tuple[str, ...], parts: Parts) -> bool:
    """Whether a value is of a kind that a setting takes; a whole part may be written as one value that means it."""
    field = ".".join(path)
    entries = isinstance(value, dict) and _kinds_at(path, parts) == ("list",)
    names = path[-1] == "rewards" and _function_names(value)
    return can_mean(typed, path[-1], value, _kinds_at(path, parts)) or bool(entries or names or _to_part(field, value))


def _with_its_part(name: str, value: Any, parts: Parts) -> str:
    """How a setting is written that names its part before a dot, as in “training.beta: 0.1”; "" of any other. In words
    alone: a path to it and to where it belongs would be the same."""
    part, _, rest = name.partition(".")
    is_plain = re.fullmatch(r"[A-Za-z_]\w*", rest) and isinstance(value, (bool, int, float, str))
    if part not in parts[()].model_fields or part in ("rewards", "stages") or not is_plain:
        return ""
    return f"“{rest}: {str(value).lower() if isinstance(value, bool) else str(value)[:LONGEST]}” under {part}"


_LORA = {"r": 16, "lora_alpha": 32, "target_modules": "all-linear"}


def _to_part(field: str, value: Any) -> tuple[Fix, ...]:
    """Of a part that is written as one value: the setting that was meant by it."""
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    if field == "lora" and (value is True or meant_truth(value)):
        return (Fix("Use LoRA of rank 16", {"lora": dict(_LORA)}),)
    if not isinstance(value, str) or len(value) > LONGEST:
        return ()
    if field == "model":
        return (Fix(f"Write it as “id: {value}”", {"model": {"id": value}}),)
    if field == "data":
        source = value if re.match(r"(hub|file|task):", value) else f"hub:{value}"
        is_source = re.fullmatch(r"(hub|file|task):\S+", source) and ("/" in source or source == value)
        return (Fix(f"Write it as “source: {source}”", {"data": {"source": source}}),) if is_source else ()
    return ()


def _example(field: str, fixes: tuple[Fix, ...]) -> str:
    """How that is written, for those who have the words without the button; "" where no part is meant."""
    meant = fixes[0].settings.get(field) if fixes else None
    if not isinstance(meant, (dict, list)):
        return ""
    plain, name = _in_one_line(meant), field.rpartition(".")[2]
    written = f"- {plain[1:-1]}" if name.isdigit() else f"{name}: {plain}"
    return f" Write it as “{written}”."


def _in_one_line(meant: Any) -> str:
    """Each entry of a list in its own braces, which YAML may leave out around a single setting: [{name: format}]."""
    if isinstance(meant, list):
        return f"[{', '.join(map(_in_one_line, meant))}]"
    return dump(meant, flow=True, width=LONGEST * 4).removesuffix("\n").strip()


def _to_named(field: str, detail: Any) -> tuple[Fix, ...]:
    """Of a reward function that is written as its bare name, in a writer's quotes, or with a space too many: what was
    meant."""
    if detail["type"] == "missing":
        return ()  # the input is all that stands around it
    name = detail["input"]
    if field.rpartition(".")[2] == "rewards" and isinstance(name, dict) and isinstance(name.get("name"), str):
        return (Fix("Write it as an entry, with its dash", {field: [name]}),)
    if field.rpartition(".")[2] == "rewards" and (entries := weighed_entries(name)):
        return (Fix("Write it as a list", {field: entries}),)
    if not isinstance(name, str):
        return ()
    plain = trim_spaces(trim_spaces(name).strip("“”„‘’'\"«»"))
    if detail["type"] == "string_pattern_mismatch" and is_function_name(bare := without_accents(plain)):
        return (Fix(f"Use {bare}", {field: bare}),)
    names = _function_names(name)
    if field.rpartition(".")[2] == "rewards" and names:
        listed = join_words([f"“{one}”" for one in names])
        return (Fix(f"Write it as a list with {listed}", {field: [{"name": one} for one in names]}),)
    if not _is_entry(field) or not is_function_name(name):
        return ()
    return (Fix(f"Write it as “- name: {name}”", {field: {"name": name}}),)


def _accent_words(name: Any) -> str:
    """“ Did you mean “format”?” of förmat, which is a function's name but for its accents."""
    plain = without_accents(name) if isinstance(name, str) else ""
    return f" Did you mean “{plain}”?" if plain != name and is_function_name(plain) else ""


def _to_entries(field: str, detail: Any, raw: dict[str, Any]) -> tuple[Fix, ...]:
    """Of several reward functions that are the last entry of a list: an entry for each."""
    names = _function_names(detail["input"]) if _is_entry(field) else []
    listed: Any = raw
    for part in detail["loc"][:-1] if len(names) > 1 else ():
        listed = listed[part]
    owner, _, place = field.rpartition(".")
    if len(names) < 2 or int(place) + 1 != len(listed):
        return ()
    entries = {f"{owner}.{int(place) + n}": {"name": name} for n, name in enumerate(names)}
    return (Fix(f"Write an entry each for {join_words([f'“{name}”' for name in names])}", entries),)


def _function_names(value: Any) -> list[str]:
    """The reward functions that a text names, between commas, spaces or dashes; none of one that is anything else."""
    parts = re.split(r"[\s,;]+", value.strip()) if isinstance(value, str) else []
    names = [part.lstrip("-") for part in parts if part.strip("-")]
    return names if all(map(is_function_name, names)) else []


def _is_entry(field: str) -> bool:
    return bool(re.fullmatch(r"(stages\.\d+\.)?rewards\.\d+", field))


def _wrapped(path: list[str], detail: Any, parts: Parts) -> tuple[Fix, ...]:
    """Of a single value where a list belongs, and of a list of one where a single value does: the other."""
    value, field = detail["input"], ".".join(path)
    owner = _part_at(path[:-1], parts) if tuple(p for p in path[:-1] if not p.isdigit()) in parts else None
    info = owner.model_fields.get(path[-1]) if owner else None
    if info is None or detail["type"] == "missing":
        return ()
    if detail["type"] == "list_type":
        return (listed_fix(field, value),) if _fits([value], info) else ()
    single = isinstance(value, list) and len(value) == 1 and not isinstance(value[0], (list, dict))
    return (entry_fix(field, value[0]),) if single and _fits(value[0], info) else ()


def _of_fallback(path: list[str], detail: Any, parts: Parts) -> tuple[Fix, ...]:
    """Of ${LIMIT:-100}: what stands there for want of the variable, where the setting takes it."""
    meant, field = fallback_of(detail["input"]), ".".join(path)
    owner = _part_at(path[:-1], parts) if tuple(p for p in path[:-1] if not p.isdigit()) in parts else None
    info = owner.model_fields.get(path[-1]) if owner else None
    return (fallback_fix(field, meant),) if info is not None and meant is not None and _fits(meant, info) else ()


def _fits(value: Any, info: FieldInfo) -> bool:
    """Whether a field takes such a value, whatever is wrong with parts of it that are its own."""
    kind: Any = Annotated[info.annotation, info]
    try:
        TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        inside = all(len(one["loc"]) > 1 and one["type"] != "extra_forbidden" for one in error.errors())
        return isinstance(value, list) and inside
    return value is not None


def _shortened(field: str, detail: Any) -> Fix | None:
    """Of a name that is too long: its beginning, in whole words where it has any."""
    if detail["type"] != "string_too_long" or not re.fullmatch(r"name|stages\.\d+\.name", field):
        return None
    most = detail["ctx"]["max_length"]
    words = re.match(rf"(?s).{{1,{most}}}(?<![\s_.-])(?=[\s_.-])", detail["input"])
    return Fix(f"Use its first {most} characters", {field: words[0] if words else detail["input"][:most]})


def _to_choice(field: str, detail: Any) -> tuple[Fix, ...]:
    """Of a value that is none of those that may be chosen: the one that was meant."""
    value = detail["input"]
    if detail["type"] != "literal_error" or not isinstance(value, str):
        return ()
    choices = re.findall(r"'([^']*)'", str((detail.get("ctx") or {}).get("expected", "")))
    meant = _DTYPES.get(value.strip().lower()) if field.endswith("dtype") else None
    meant = meant or nearest_name(value, choices)
    return (Fix(f"Use {meant}", {field: meant}),) if meant in choices else ()


def _to_truth(field: str, detail: Any) -> tuple[Fix, ...]:
    """Of a text where true or false belongs: the one that was meant, as in yes."""
    meant = meant_truth(detail["input"]) if detail["type"] == "bool_type" else None
    return () if meant is None else (Fix(f"Use {'true' if meant else 'false'}", {field: meant}),)


# What stands where a value must be given and has no default.
_USUAL: dict[str, Any] = {"name": USUAL_NAME, "rewards": [{"name": "format", "weight": 1.0}]}


def usual_fixes(path: list[str], parts: Parts) -> tuple[Fix, ...]:
    """Back to the default; without one, to something that works, or without the list's entry."""
    field = ".".join(path)
    if field in _USUAL:
        words = _USUAL[field] if isinstance(_USUAL[field], str) else "format"
        return (Fix(f"Use “{words}”", {field: _USUAL[field]}),)
    owner = _part_at(path[:-1], parts) if tuple(p for p in path[:-1] if not p.isdigit()) in parts else None
    info = owner.model_fields.get(path[-1]) if owner else None
    if info is not None and not info.is_required():
        label = "Leave it out" if info.default in (None, [], {}) else f"Use the default ({str(info.default)[:40]})"
        label = "Use the defaults" if isinstance(info.default, BaseModel) else label
        return (Fix(label, {}, (field,), fallback=True),)
    entry = next((n for n in range(len(path), 0, -1) if path[n - 1].isdigit()), None)
    return (Fix("Remove this entry", {}, (".".join(path[:entry]),)),) if entry else ()


def _part_at(path: list[str], parts: Parts) -> type[BaseModel]:
    return parts[tuple(part for part in path if not part.isdigit())]
