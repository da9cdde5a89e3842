"""RunSpec: what a person configures, in YAML both ways, with errors that name the field, the line and the nearest
real name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)  # fmt: skip
from pydantic_core import PydanticCustomError

from groupwise.storage.spec.rows.file_format import DecimalMark, Encoding, Heading, Quote, Separator
from groupwise.storage.spec.spec_problems import problem_of_error, usual_fixes
from groupwise.storage.spec.words.problem import Problem, SpecError
from groupwise.storage.spec.words.setting_names import one_for_each_name, without_answered
from groupwise.storage.spec.yaml.yaml_text import MAX_DIGITS, dump, read_yaml

ENDLESS = f"has more than {MAX_DIGITS} digits: too many."
NO_MODEL = "no/model"  # for a model that is still to be chosen: nothing is known of it


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, validate_default=True)


MOST_NAME = 80  # characters of a run's, a stage's or a function's name
TIMEOUT, LONGEST_CALL = 10.0, 3600.0  # seconds that a call of a reward function may take: usually, and at most
FUNCTION_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
Name = Annotated[str, Field(min_length=1, max_length=MOST_NAME)]


class ModelSpec(_Part):
    """The model to train: `starter`, a folder, or a hub id. `quantization` needs bitsandbytes and trains with LoRA."""

    id: Annotated[str, Field(min_length=1, max_length=500)] = "starter"
    revision: str | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    attn_implementation: str | None = None
    quantization: Literal["8bit", "4bit"] | None = None


class Example(_Part):
    """A worked example that stands before every prompt: what was asked, and what a good model says."""

    prompt: Annotated[str, Field(min_length=1)]
    completion: Annotated[str, Field(min_length=1)]


def _count_or_share(value: Any) -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 10**12
    if whole or (isinstance(value, float) and 0 <= value < 1):
        return value
    raise PydanticCustomError("count_or_share", "should be a number of rows, or a share of them below 1")


class DataSpec(_Part):
    """The prompts: `task:NAME` (built in), `gym:NAME` (a reasoning-gym task, with its `parameters`), `file:NAME` (a
    data file in the home's data folder) or `hub:ORG/NAME` (with `config`, `split`, `revision`; `streaming` reads only
    the rows that `limit` asks for).

    How a file is read is found from the file where it is null: `separator`, `quote` and `encoding` of text, `sheet` of
    a workbook, `skip_lines` above the heading; columns without a `heading` are numbered. A launched run has what was
    found.

    What is read is filtered (storage.spec.rows.row_filter), shuffled (by the seed `shuffle`), cut to `limit` rows, and
    split: the first `holdout` rows (a count, or a share below 1) are never trained on. The prompt is `prompt_template`
    with each `{column}` filled in, or the column `prompt_column` as it is (a chat, or plain text). `answer_pattern` is
    a regular expression whose first group (or whole match) is the answer; with `answer_numbers` only the number in it
    is (storage.spec.answer_numbers), written with a decimal point or comma. `columns` are those that the rewards
    get besides the answer; null: all.
    """

    source: Annotated[str, Field(min_length=1, max_length=500)] = "task:arithmetic"
    config: str | None = None
    split: Annotated[str, Field(min_length=1)] = "train"
    revision: str | None = None
    streaming: bool = False
    separator: Separator | None = None
    quote: Quote | None = None
    encoding: Encoding | None = None
    sheet: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    skip_lines: Annotated[int, Field(ge=0, le=1000)] | None = None
    heading: Heading | None = None
    parameters: dict[str, Any] = {}
    filter: Annotated[list[str], Field(max_length=64)] = []
    shuffle: Annotated[int, Field(ge=0, lt=2**32)] | None = None
    limit: Annotated[int, Field(ge=1, le=10**12)] | None = None
    holdout: Annotated[int | float, BeforeValidator(_count_or_share)] = 0
    system_prompt: str | None = None
    examples: Annotated[list[Example], Field(max_length=64)] = []
    prompt_template: Annotated[str, Field(min_length=1)] = "{question}"
    prompt_column: str | None = None
    answer_column: str | None = "answer"
    answer_pattern: str | None = None
    answer_numbers: DecimalMark | None = None
    columns: Annotated[list[str], Field(max_length=1000)] | None = None


MOST_WEIGHT = 10**6  # beyond, weighted sums and their spread leave the range of single precision
Weight = Annotated[float, Field(ge=-MOST_WEIGHT, le=MOST_WEIGHT, allow_inf_nan=False)]


class SchedulePoint(_Part):
    """The weight that a reward function has at a step."""

    step: Annotated[int, Field(ge=0, le=10**12)]
    weight: Weight


class AdaptSpec(_Part):
    """A weight that follows the success rate: the share of completions that score `success` or more.

    Every `every` steps the weight is multiplied by `up` when the rate since the last change is below `low`, and by
    `down` when it is above `high`; it stays between `least` and `most`. The defaults are common practice.
    """

    low: Annotated[float, Field(ge=0, le=1)] = 0.3
    high: Annotated[float, Field(ge=0, le=1)] = 0.8
    up: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.2
    down: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 0.9
    every: Annotated[int, Field(ge=1, le=10**12)] = 10
    success: Annotated[float, Field(allow_inf_nan=False)] = 1.0
    least: Weight = 0.1
    most: Weight = 10.0


class RewardSpec(_Part):
    """One reward function, by its Python name, and how much it counts.

    `parameters` are what its keyword-only arguments are set to. `version` is the content hash of one's own function
    (null: the newest when the run is launched). `timeout` is how many seconds a call may take. With `schedule` the
    weight moves in straight lines between the points, with `adapt` it follows the success rate; steps are counted
    from the beginning of the stage.
    """

    name: Annotated[str, Field(pattern=f"^{FUNCTION_NAME.pattern}$", max_length=MOST_NAME)]
    weight: Weight = 1.0
    version: Annotated[str, Field(pattern=r"^[0-9a-f]{6,64}$")] | None = None
    parameters: dict[str, Any] = {}
    timeout: Annotated[float, Field(gt=0, le=LONGEST_CALL)] = TIMEOUT
    schedule: Annotated[list[SchedulePoint], Field(max_length=64)] = []
    adapt: AdaptSpec | None = None

    @model_serializer(mode="wrap")
    def _without_defaults(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without what nobody changed: most rewards are a name and a weight."""
        usual = type(self).model_fields
        written: dict[str, Any] = whole(self)
        return {
            name: value
            for name, value in written.items()
            if name in ("name", "weight") or getattr(self, name) != usual[name].default
        }


class StageSpec(_Part):
    """One stage of a run: what it changes of the run's rewards and training settings."""

    name: Name | None = None
    rewards: Annotated[list[RewardSpec], Field(min_length=1, max_length=64)] | None = None
    training: dict[str, Any] = {}


class KlSpec(_Part):
    """A KL weight that follows the KL: with a `target`, `training.beta` is only where it begins.

    As each generation begins it is multiplied by 1 + `rate` × the error of the KL since the last one (how far it is
    from the target, as a share of it, at most 0.2 either way); it stays between `least` and `most`. Null: beta stays.
    """

    target: Annotated[float, Field(gt=0, le=1000)] | None = None
    rate: Annotated[float, Field(gt=0, le=1)] = 0.1
    least: Annotated[float, Field(gt=0, le=1000)] = 0.001
    most: Annotated[float, Field(gt=0, le=1000)] = 1.0


class LaunchSpec(_Part):
    """Where and how the run is started. More than one process trains data-parallel through accelerate.

    After `reward_failures` failed calls of one reward function in a row, the run saves and fails; 0: never.
    """

    engine: Literal["local"] = "local"
    processes: Annotated[int, Field(ge=1, le=64)] = 1
    reward_failures: Annotated[int, Field(ge=0, le=10**6)] = 5


class RunSpec(_Part):
    """A whole run. The names under `training` are TRL's GRPOConfig's, those under `lora` PEFT's LoraConfig's.

    With `stages`, the run trains once per stage, one after the other; each begins with the model of the one before.
    The reference model of the KL weight is the run's own in every stage.
    """

    name: Name
    model: ModelSpec = ModelSpec()
    lora: dict[str, Any] | None = None
    data: DataSpec = DataSpec()
    rewards: Annotated[list[RewardSpec], Field(min_length=1, max_length=64)]
    training: dict[str, Any] = {}
    kl: KlSpec = KlSpec()
    launch: LaunchSpec = LaunchSpec()
    stages: Annotated[list[StageSpec], Field(max_length=8)] = []

    @model_serializer(mode="wrap")
    def _without_fixed_kl(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without what few say: that the KL weight follows a target."""
        written: dict[str, Any] = whole(self)
        return {name: value for name, value in written.items() if name != "kl" or self.kl != KlSpec()}

    def by_stage(self) -> list[RunSpec]:
        """What each stage trains, as a spec of its own without stages; the run itself where it has none."""
        return [
            self.model_copy(
                update={
                    "rewards": stage.rewards or self.rewards,
                    "training": {**self.training, **stage.training},
                    "stages": [],
                }
            )
            for stage in self.stages
        ] or [self]


EMPTY = Problem("", "The spec is empty. Begin with “name: my-run”.", 1)
NO_MAPPING = Problem("", "A spec is a mapping of settings, such as “name: my-run”.", 1)
# The class of each part of a spec, by its path without the places in lists.
_PARTS: dict[tuple[str, ...], type[BaseModel]] = {
    (): RunSpec, ("model",): ModelSpec, ("data",): DataSpec, ("launch",): LaunchSpec, ("kl",): KlSpec,
    ("rewards",): RewardSpec,
    ("data", "examples"): Example, ("stages",): StageSpec, ("stages", "rewards"): RewardSpec,
    ("rewards", "schedule"): SchedulePoint, ("rewards", "adapt"): AdaptSpec,
    ("stages", "rewards", "schedule"): SchedulePoint, ("stages", "rewards", "adapt"): AdaptSpec,
}  # fmt: skip


def parse_spec(text: str) -> RunSpec:
    """The spec that a YAML text means. Raises SpecError with every problem of its form."""
    raw, lines = read_yaml(text)
    return from_dict(raw, lines)


def from_dict(raw: Any, lines: dict[str, int] | None = None) -> RunSpec:
    """The spec that plain values mean. `lines` maps dotted paths to lines, for the messages."""
    if not isinstance(raw, dict):
        raise SpecError([EMPTY if raw is None else NO_MAPPING])
    endless = [
        Problem(path, ENDLESS, (lines or {}).get(path), fixes=usual_fixes(path.split("."), _PARTS))
        for path in _endless(raw)
    ]
    if endless:
        raise SpecError(endless)
    try:
        return RunSpec.model_validate(raw)
    except ValidationError as error:
        found = [problem_of_error(detail, lines or {}, raw, _PARTS) for detail in error.errors()]
        raise SpecError(one_for_each_name(without_answered(found), lines or {})) from error


def _endless(raw: Any) -> Iterator[str]:
    """The dotted path of each whole number that is longer than any can mean. Python refuses to write out one of some
    thousand digits, so that it could not even be quoted in a message."""
    left = [("", raw)]
    while left:
        path, value = left.pop()
        if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
            yield path
        elif isinstance(value, (dict, list)):
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            left += [(f"{path}.{key}".lstrip("."), part) for key, part in parts]


def line_numbers(text: str) -> dict[str, int]:
    """Dotted path → line of every field in a YAML text."""
    return read_yaml(text)[1]


def to_yaml(spec: RunSpec) -> str:
    """The spec as YAML, in the order people think: name, model, data, rewards, training."""
    return dump(spec.model_dump())


def placed_rewards(spec: RunSpec) -> Iterator[tuple[str, RewardSpec]]:
    """The reward functions of a run and of its stages, each with its path."""
    if not spec.stages or any(stage.rewards is None for stage in spec.stages):
        yield from ((f"rewards.{number}", one) for number, one in enumerate(spec.rewards))
    for stage, part in enumerate(spec.stages):
        yield from ((f"stages.{stage}.rewards.{number}", one) for number, one in enumerate(part.rewards or []))
