"""The rows that a script evaluates on: the other part of the split that its rows went through, or data that has no
place here. What it does to them alone is noted, as rows that are held out are not changed by themselves here."""

import ast
from typing import Any

from groupwise.storage.checks.script_reader.chosen_rows import range_bounds, step_arguments
from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.unsaid import NO_CHANGE
from groupwise.storage.checks.script_reader.values import Either, Item, Made, Mapping, Plain, Value, plain_or

_FEWER = ("select", "take", "skip", "shard")
_ORDER = ("shuffle", "sort", "flatten_indices")  # of all rows that are evaluated on: it changes no score


def read_evaluated(reading: Reading, split: Made | None, trained: list[Value], holdout: Any) -> None:
    """Account for eval_dataset. `split`: the train_test_split that the rows went through; `trained`: the steps of
    those that are trained on; `holdout`: what is held out here, None where that could not be taken."""
    value = reading.trainer.get("eval_dataset")
    if value is None or (isinstance(value, Plain) and value.value is None):
        return
    options = value.options if isinstance(value, Either) else [value]
    options = [one for one in options if plain_or(one, 0) is not None]
    part, steps = _part_of_split(_only_named(options[0]), split) if len(options) == 1 else (None, [])
    if part is None:
        instead = "Set data.holdout." if holdout is None else f"Here that is data.holdout, {_share(holdout)}."
        reading.note("eval_dataset", value, "was not taken: rows to evaluate on are held out of the same data. "
                     f"{instead}")  # fmt: skip
    elif plain_or(part.key) != "test":
        reading.note(f"“{plain_or(part.key)}” of train_test_split", part, "is evaluated on: here it is the rows that "
                     "are held out.")  # fmt: skip
    alike = {_step_text(one) for one in trained}
    for number, step in enumerate(steps):
        _note_step(reading, step, steps[:number], alike, holdout)
    reading.account(value)


def _only_named(value: Value) -> Value:
    """Of sets to evaluate on by name, the one that there is: it is evaluated on as it would be without a name."""
    named = value.entries if isinstance(value, Mapping) and not value.dark else {}
    return next(iter(named.values())) if len(named) == 1 else value


def _part_of_split(value: Value, split: Made | None) -> tuple[Item | None, list[Value]]:
    """The part of the split that a value is, with what is done to it alone, in the script's order."""
    steps: list[Value] = []
    inner: Value | None = value
    for _ in range(200):
        if isinstance(inner, Item) and split is not None and _is_of(inner.of, split):
            return inner, steps[::-1]
        if not isinstance(inner, (Made, Item)):
            break
        steps.append(inner)
        inner = inner.receiver if isinstance(inner, Made) else inner.of
    return None, []


def _is_of(value: Value | None, split: Made) -> bool:
    """Whether these are both parts of the split, whatever was done to both."""
    for _ in range(50):
        if value is split:
            return True
        value = value.receiver if isinstance(value, Made) else None
    return False


def _step_text(step: Value) -> str:
    """A step as it is written, without what it is done to."""
    node = step.node
    if not isinstance(step, Made) or not isinstance(node, ast.Call):
        return ""
    given = [ast.unparse(one) for one in (*node.args, *node.keywords)]
    return f"{step.name}({', '.join(given)})"


def _note_step(reading: Reading, step: Value, before: list[Value], alike: set[str], holdout: Any) -> None:
    name = step.name if isinstance(step, Made) else ""
    what = f"{name}(…) on eval_dataset" if name else "A part of eval_dataset"
    if name in _ORDER or name in ("with_format", "set_format", "cache"):
        reading.leave_out(what, step, NO_CHANGE)
    elif name in (*_FEWER, ""):
        bounds = range_bounds(step_arguments(step, "indices").get("indices")) if isinstance(step, Made) else None
        if bounds == (0, holdout) and not before:
            return
        instead = "Set data.holdout to the number of rows."
        reading.note(what, step, f"was not taken: all rows that are held out ({_share(holdout)}) are evaluated on. "
                     f"{instead}" if holdout is not None else f"was not taken. {instead}")  # fmt: skip
    elif _step_text(step) not in alike:
        reading.note(what, step, "was not taken: rows that are held out go through what those that are trained on go "
                     "through.")  # fmt: skip


def _share(holdout: Any) -> str:
    return f"{holdout * 100:.4g} %" if isinstance(holdout, float) else f"{holdout:,}"
