"""RunSpec: what a person configures, in YAML both ways, with errors that name the field, the line and the nearest
real name."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

MAX_BYTES = 256 * 1024  # a spec is written by hand; anything larger is a mistake or an attack
MAX_DEPTH = 32


@dataclass(frozen=True)
class Problem:
    """Something in a spec that keeps it from running. `field` is a dotted path ("training.beta"), `line` counts
    from 1 in the YAML it came from, if it came from YAML."""

    field: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        place = f"{self.field}, line {self.line}" if self.line else self.field
        return f"{place}: {self.message}" if place else self.message


class SpecError(Exception):
    """A spec that cannot run, with every problem found in it."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, validate_default=True)


Name = Annotated[str, Field(min_length=1, max_length=80)]


class ModelSpec(_Part):
    """The model to train: `starter`, a folder, or a hub id."""

    id: Annotated[str, Field(min_length=1, max_length=500)] = "starter"
    revision: str | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    attn_implementation: str | None = None


class DataSpec(_Part):
    """The prompts: `task:NAME` (built in) or `file:NAME` (a JSONL, CSV or Parquet file in the home's data folder).

    `prompt_template` fills `{column}` from each row. `answer_pattern` is a regular expression whose first group
    (or whole match) is the answer. `limit` and `holdout` count rows; held-out rows are never trained on.
    """

    source: Annotated[str, Field(min_length=1, max_length=500)] = "task:arithmetic"
    limit: Annotated[int, Field(ge=1)] | None = None
    holdout: Annotated[int, Field(ge=0)] = 0
    system_prompt: str | None = None
    prompt_template: Annotated[str, Field(min_length=1)] = "{question}"
    answer_column: str | None = "answer"
    answer_pattern: str | None = None


class RewardSpec(_Part):
    """One reward function, by its Python name, and how much it counts."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=80)]
    weight: Annotated[float, Field(allow_inf_nan=False)] = 1.0


class LaunchSpec(_Part):
    """Where and how the run is started. More than one process trains data-parallel through accelerate."""

    engine: Literal["local"] = "local"
    processes: Annotated[int, Field(ge=1, le=64)] = 1


class RunSpec(_Part):
    """A whole run. The names under `training` are TRL's GRPOConfig's, those under `lora` PEFT's LoraConfig's."""

    name: Name
    model: ModelSpec = ModelSpec()
    lora: dict[str, Any] | None = None
    data: DataSpec = DataSpec()
    rewards: Annotated[list[RewardSpec], Field(min_length=1)]
    training: dict[str, Any] = {}
    launch: LaunchSpec = LaunchSpec()


def parse(text: str) -> RunSpec:
    """The spec that a YAML text means. Raises SpecError with every problem of its form."""
    raw, lines = read(text)
    return from_dict(raw, lines)


def from_dict(raw: Any, lines: dict[str, int] | None = None) -> RunSpec:
    """The spec that plain values mean. `lines` maps dotted paths to lines, for the messages."""
    if not isinstance(raw, dict):
        raise SpecError([Problem("", "A spec is a mapping of settings such as “name: my-run”.")])
    try:
        return RunSpec.model_validate(raw)
    except ValidationError as error:
        raise SpecError([_problem(detail, lines or {}) for detail in error.errors()]) from error


def line_numbers(text: str) -> dict[str, int]:
    """Dotted path → line of every field in a YAML text."""
    return read(text)[1]


def to_yaml(spec: RunSpec) -> str:
    """The spec as YAML, in the order people think: name, model, data, rewards, training."""
    return yaml.dump(spec.model_dump(), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # the C one where there is one
    """Safe YAML in which `1e-4` is a number and `on` is a word, as everyone expects who writes one today."""


class Dumper(yaml.SafeDumper):
    """The same reading of words and numbers when writing, so that what is written reads back equal."""


_FLOAT = re.compile(r"[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|\.inf|\.nan)$", re.I)
for _class in (_Loader, Dumper):
    _class.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag.endswith((":null", ":int"))]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    _class.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("true|false", re.I), list("tTfF"))
    _class.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+0123456789."))


def read(text: str) -> tuple[Any, dict[str, int]]:
    """Plain values and the line of each field. Raises SpecError for what is not plain YAML."""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise SpecError([Problem("", f"The spec is larger than {MAX_BYTES // 1024} KB.")])
    lines: dict[str, int] = {}
    try:
        _refuse_tricks(text)
        node = yaml.compose(text, Loader=_Loader)
        if node is not None:
            _note_lines(node, "", lines)
        return yaml.load(text, Loader=_Loader), lines  # noqa: S506 - _Loader is a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        message = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise SpecError([Problem("", f"This is not YAML: {message}", mark.line + 1 if mark else None)]) from error


def _refuse_tricks(text: str) -> None:
    """Raises SpecError for what makes a small text large (aliases) or slow (deep nesting: PyYAML's time is quadratic
    in it), as soon as it is met."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1 if event.start_mark else None
        if isinstance(event, yaml.AliasEvent):
            raise SpecError([Problem("", "Aliases (*name) are not allowed in a spec.", line)])
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise SpecError([Problem("", f"Nested more than {MAX_DEPTH} levels deep.", line)])


def _note_lines(node: yaml.Node, path: str, lines: dict[str, int]) -> None:
    """Walk the nodes. Raises SpecError for a field given twice, which YAML would silently let win."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = f"{path}.{key.value}".lstrip(".")
            line = key.start_mark.line + 1
            if inner in lines:
                raise SpecError([Problem(inner, f"given twice (first in line {lines[inner]}).", line)])
            lines[inner] = line
            _note_lines(value, inner, lines)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            inner = f"{path}.{index}".lstrip(".")
            lines[inner] = item.start_mark.line + 1
            _note_lines(item, inner, lines)


def nearest(name: str, names: list[str]) -> str:
    """“ Did you mean …?”, or nothing where no name is near."""
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f" Did you mean “{close[0]}”?" if close else ""


def _problem(detail: Any, lines: dict[str, int]) -> Problem:
    """A pydantic error in a person's words."""
    path = [str(part) for part in detail["loc"]]
    field = ".".join(path)
    if detail["type"] == "extra_forbidden":
        siblings = list(_part_at(path[:-1]).model_fields)
        message = f"there is no such field.{nearest(path[-1], siblings)}"
    elif detail["type"] == "missing":
        message = "is needed."
    else:
        message = _misfit(detail)
    line = next((lines[".".join(path[:n])] for n in range(len(path), 0, -1) if ".".join(path[:n]) in lines), None)
    return Problem(field, message, line)


_MISFITS = {
    "model_type": "should be a mapping of settings, one to a line",
    "dict_type": "should be a mapping of settings, one to a line",
    "list_type": "should be a list",
    "string_type": "should be text",
    "string_too_short": "must not be empty",
    "too_short": "needs at least one entry",
    "int_type": "should be a whole number",
    "float_type": "should be a number",
    "finite_number": "should be a finite number",
    "string_pattern_mismatch": "should be the name of a Python function",
}


def _misfit(detail: Any) -> str:
    """What a value should have been."""
    words = _MISFITS.get(detail["type"]) or detail["msg"].removeprefix("Input ")
    if detail["type"] in ("string_too_short", "too_short"):
        return f"{words}."
    given = repr(detail["input"])
    return f"{words}, not {given if len(given) < 60 else given[:56] + '…' + given[-1]}."


def _part_at(path: list[str]) -> type[BaseModel]:
    parts: dict[str, type[BaseModel]] = {"model": ModelSpec, "data": DataSpec, "launch": LaunchSpec}
    if path[:1] == ["rewards"]:
        return RewardSpec
    return parts[path[0]] if path else RunSpec
