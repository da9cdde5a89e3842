"""The columns that reward functions ask for and that a spec's data would not give them. Pure."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards.names import NOT_GIVEN, TRL_ARGUMENTS
from groupwise.storage.registry.messages.preview import COLUMNS
from groupwise.storage.spec.rows.column_names import column_of_same_meaning, meant_column, say_columns
from groupwise.storage.spec.spec import DataSpec, RewardSpec, RunSpec
from groupwise.storage.spec.words.problem import BLOCKING, WARNING, Fix, Problem

TASK_COLUMNS = {"task": ["question", "answer"], "gym": ["question", "answer", "metadata"]}
# What these ask for, also while the worker has not said so.
ASKED = {"correctness": ["answer"], "gym_score": ["answer"]}
GIVEN = {*TRL_ARGUMENTS, *NOT_GIVEN, "environments", "self", "cls"}  # by TRL itself; or wrong in the code, said there


def source_kind_and_name(data: DataSpec) -> tuple[str, str]:
    """(task, gym, file, hub or something else, what comes after the colon)."""
    kind, _, name = data.source.partition(":")
    return kind, name


def check_reward_columns(
    spec: RunSpec, offer: Offer, columns: Collection[str] = (), empty: Collection[str] = ()
) -> list[Problem]:
    """What blocks: columns that are certain not to be given. `columns`: those that the preview has seen; `empty`: those
    in which it has seen nothing."""
    there = TASK_COLUMNS.get(source_kind_and_name(spec.data)[0])
    found: list[Problem] = []
    for index, name in enumerate(reward.name for reward in spec.rewards):
        for column, field in columns_needed(spec, offer, index).items():
            if column == "answer":
                found += _answer(spec, index, columns if there is None else there, empty)
            elif there is not None and column not in there:
                found.append(_absent(spec, index, column, field, there))
            elif spec.data.columns is not None and column not in spec.data.columns:
                found.append(_left_out(spec, name, column))
        if name == "gym_score":
            found += _gym(spec, index)
    return [problem for number, problem in enumerate(found) if problem not in found[:number]]


def without_column_problems(problems: Iterable[Problem], spec: RunSpec, offer: Offer) -> list[Problem]:
    """The problems without those of which columns the rewards get: while the data cannot be read, what was chosen of
    other data says nothing of this, and no reward should go for it."""
    of_columns = {
        (one.field, one.message) for stage in spec.by_stage() for one in check_reward_columns(stage, offer)
        if one.field.startswith("data.")
    }  # fmt: skip
    return [one for one in problems if (one.field, one.message) not in of_columns]


def check_seen_columns(spec: RunSpec, offer: Offer, columns: Collection[str] | None) -> list[Problem]:
    """Check against the columns that the preview has seen, for data whose columns are not known beforehand. What a
    function itself asks for blocks where a file surely lacks it: it would score nothing. All else is a warning."""
    kind = source_kind_and_name(spec.data)[0]
    if columns is None or kind in TASK_COLUMNS:
        return []
    # rows of the hub may be others by now, and a preview tells of no more columns than these
    sure = kind == "file" and len(columns) < COLUMNS
    absent = [
        _absent(spec, index, column, field, columns, level=BLOCKING if sure and _is_own(field) else WARNING)
        for index in range(len(spec.rewards))
        for column, field in columns_needed(spec, offer, index).items()
        if column != "answer" and column not in columns
    ]
    return absent + [one for index in range(len(spec.rewards)) for one in _taken(spec, offer, index, columns)]


def _taken(spec: RunSpec, offer: Offer, index: int, columns: Collection[str]) -> Iterator[Problem]:
    """The parameters of a function that ships that columns of the same name would be given as: lists, which it refuses
    at every call. A parameter that is set wins over a column."""
    reward = spec.rewards[index]
    known = offer.function(reward.name, reward.version) or {}
    given = set(columns if spec.data.columns is None else spec.data.columns)
    for one in [] if known.get("own") else known.get("parameters") or []:
        name = one["name"]
        if name in given & set(columns) and name not in reward.parameters:
            path = f"rewards.{index}.parameters.{name}"
            message = f"this data has a column “{name}”, which “{reward.name}” would take for its parameter “{name}”."
            yield Problem(path, message, level=WARNING, fixes=(_set(path, one["default"]),))


def _set(path: str, default: object) -> Fix:
    return Fix(f"Set it to its default ({'null' if default is None else str(default)[:40]})", {path: default})


def columns_needed(spec: RunSpec, offer: Offer, index: int) -> dict[str, str]:
    """The columns that a spec's reward function cannot do without, each with the field that asks for it: the function
    itself, or the parameter that says what the column is called."""
    reward = spec.rewards[index]
    known = offer.function(reward.name, reward.version) or {}
    arguments = known.get("arguments") or ASKED.get(reward.name, [])
    found = {name: f"rewards.{index}.name" for name in arguments if name not in GIVEN}
    defaults = {one["name"]: one["default"] for one in known.get("parameters") or []}
    for parameter in known.get("columns") or []:
        column = reward.parameters.get(parameter, defaults.get(parameter))
        if isinstance(column, str) and column not in GIVEN:
            found.setdefault(column, f"rewards.{index}.parameters.{parameter}")
    return found


def without_reward(spec: RunSpec, index: int) -> tuple[Fix, ...]:
    """Another reward in its place where it is the only one, else none."""
    if len(spec.rewards) > 1:
        return (_remove(spec, index),)
    usual = {"name": "format", "weight": 1.0}  # all of it: another function's settings would not fit
    return (Fix(f"Reward format instead of {spec.rewards[index].name}", {f"rewards.{index}": usual}, fallback=True),)


def with_name(reward: RewardSpec, name: str) -> dict[str, Any]:
    """Another function in a reward's place, with its weight and how that moves; its parameters are not that one's."""
    return reward.model_copy(update={"name": name, "parameters": {}, "version": None}).model_dump()


def _answer(spec: RunSpec, index: int, there: Collection[str], empty: Collection[str]) -> Iterator[Problem]:
    data, name = spec.data, spec.rewards[index].name
    meant, unanswered = (column_of_same_meaning("answer", some) for some in (there, empty))
    if unanswered and not meant and data.answer_column not in there:  # also before it is said that there is none
        message = f"“{name}” compares with the answer, and “{unanswered}” is empty: use another reward."
        yield Problem(f"rewards.{index}.name", message, fixes=without_reward(spec, index))
        return
    if data.answer_column:
        return
    use = [Fix(f"Use the column “{meant}”", {"data.answer_column": meant})] if meant else []
    message = f"the reward “{name}” compares with the answer: choose its column, or another reward."
    yield Problem("data.answer_column", message, fixes=(*use, *without_reward(spec, index)))


def _absent(
    spec: RunSpec, index: int, column: str, field: str, there: Collection[str], *, level: str = BLOCKING
) -> Problem:
    near, answer = meant_column(column, there), spec.data.answer_column
    if _is_own(field) and answer and answer != "answer" and column_of_same_meaning(column, [answer]):
        hint = " The row's answer is given as “answer”: under Rewards, rename its argument to that."
    elif column_of_same_meaning(column, there):
        hint = f" In your data it is “{near}”."
    else:
        listed = f" {say_columns(there)}" if len(there) <= 20 else ""
        hint = f" Did you mean “{near}”?" if near else listed
    message = f"“{spec.rewards[index].name}” needs a column “{column}”, which this data does not have.{hint}"
    if _is_own(field):
        return Problem(field, message, level=level, fixes=(_remove(spec, index),))
    use = [Fix(f"Use the column “{near}”", {field: near})] if near else []
    return Problem(field, message, level=level, fixes=(*use, *without_reward(spec, index)))


def _is_own(field: str) -> bool:
    """Whether the function itself asks for a column, and no parameter of it says which."""
    return field.endswith(".name")


def _remove(spec: RunSpec, index: int) -> Fix:
    return Fix(f"Remove the reward {spec.rewards[index].name}", {}, (f"rewards.{index}",))


def _left_out(spec: RunSpec, name: str, column: str) -> Problem:
    fix = Fix("Give it the column", {"data.columns": [*(spec.data.columns or []), column]})
    return Problem("data.columns", f"the reward “{name}” needs the column “{column}”.", fixes=(fix,))


def _gym(spec: RunSpec, index: int) -> Iterator[Problem]:
    """gym_score works for the tasks it comes from, by the column that says which."""
    data = spec.data
    if source_kind_and_name(data)[0] != "gym":
        taken = "correctness" in {reward.name for reward in spec.rewards}
        instead = Fix("Use correctness", {f"rewards.{index}": with_name(spec.rewards[index], "correctness")})
        message = "“gym_score” scores the tasks of reasoning-gym, and this data is not from it."
        yield Problem(f"rewards.{index}.name", message, fixes=without_reward(spec, index) if taken else (instead,))
    elif data.columns is not None and "metadata" not in data.columns:
        yield _left_out(spec, "gym_score", "metadata")
