"""What was measured at the checkpoints of a run, of which steps that tells, and which checkpoint is the best by it.
Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from groupwise.app.core import format
from groupwise.storage.library.rewards.names import quote_name
from groupwise.storage.record.metric_buckets import Span
from groupwise.storage.record.span_means import Told
from groupwise.storage.spec.words.number_words import join_words

MEANS = ("reward", "KL")
MEASURED = {"reward": "reward", "KL": "kl", "held-out reward": "eval_reward"}  # columns, and the metrics in them
HELD_OUT = "held-out reward"
JUDGES = (HELD_OUT, "reward")  # by which a checkpoint is the best: by the first that there is
COMPARABLE = 0.5  # of the steps that the longest mean is of: one of fewer is not compared (checkpoints.py says so)


def columns_of(rows: Sequence[dict[str, Any]]) -> list[str]:
    """What was measured of any of these checkpoints."""
    return [name for name in MEASURED if any(row["values"].get(name) for row in rows)]


def say_unlogged(rows: Sequence[dict[str, Any]]) -> str:
    """What it means that some of these have no reward or no KL, where others have one."""
    means = [name for name in columns_of(rows) if name in MEANS]
    lacking = [name for name in means if any(row["whole"] and not row["values"].get(name) for row in rows)]
    if not lacking:
        return ""
    return f"“–”: no {' and no '.join(lacking)} was logged in those steps (logging_steps sets how often). "


def say_spans(over: Mapping[str, Span]) -> str:
    """Of which steps a checkpoint's figures are the means, by their names, beside it: other figures are of other
    steps."""
    if not over:
        return ""
    if len(set(over.values())) == 1:
        return f"{'means' if len(over) > 1 else 'mean'} of {format.step_range(next(iter(over.values())))}"
    return "\n".join(f"{name}: mean of {format.step_range(span)}" for name, span in over.items())


def say_moved_weights(names: Sequence[str]) -> str:
    """That rewards of different steps are not alike, as what these functions count changed; “” where it did not."""
    if not names:
        return ""
    return f"{_weights_words(names)} changed in training: the best checkpoint is judged at those of the last one. "


def say_moved_meanwhile(names: Sequence[str]) -> str:
    """The same behind two held-out rewards of one model."""
    return f" {_weights_words(names)} changed meanwhile, which moves it, too." if names else ""


def _weights_words(names: Sequence[str]) -> str:
    weights = "The weight of" if len(names) == 1 else "The weights of"
    return f"{weights} {join_words([quote_name(name) for name in names])}"


def by_column(values: Mapping[str, Told]) -> dict[str, Told]:
    """What was measured, of these metrics, by the names of the columns."""
    return {name: values[key] for name, key in MEASURED.items() if key in values}


def figures_of(told: Mapping[str, Told]) -> dict[str, Any]:
    """What was measured, in words: the `values`, and of which steps they are (`over`)."""
    spans = {name: figure.over for name, figure in told.items() if figure.over}
    return {
        "values": {name: format.number(figure.value) for name, figure in told.items()}, "over": say_spans(spans)
    }  # fmt: skip


def with_best(
    rows: list[dict[str, Any]],
    at_equal_weights: Mapping[int, Mapping[str, float]] | None = None,
    may_be_chance: Callable[[Mapping[int, float]], bool] = lambda worth: False,
) -> list[dict[str, Any]]:
    """The rows, of which the whole one with the highest reward is named, where there are several to choose from and no
    other reads the same. `at_equal_weights`: what the rewards come to, by step, where weights changed. `may_be_chance`:
    whether held-out rewards of two steps differ by no more than that."""
    for by in JUDGES:
        compared = _comparable(rows, by)
        if at_equal_weights is None:
            worth = {row["step"]: row["measured"][by].value for row in compared}
        else:
            worth = {
                row["step"]: known for row in compared if (known := at_equal_weights[row["step"]].get(by)) is not None
            }
        said = {step: format.number(value) for step, value in worth.items()}
        if len(set(said.values())) > 1:
            best = max(worth, key=worth.__getitem__)
            where = " at equal weights" if at_equal_weights is not None else ""
            for row in compared:
                if row["step"] == best and list(said.values()).count(said[best]) == 1:
                    pairs = ({best: worth[best], step: worth[step]} for step in worth if step != best)
                    doubtful = by == HELD_OUT and any(may_be_chance(pair) for pair in pairs)
                    row["best"] = f"highest {by}, may be chance" if doubtful else f"best {by}{where}"
            break
    return [{name: value for name, value in row.items() if name != "measured"} for row in rows]


def _comparable(rows: Sequence[dict[str, Any]], by: str) -> list[dict[str, Any]]:
    """The whole ones of which this was measured. A mean of few steps, as where a run was stopped soon after it saved
    one, is more by chance than those of many."""
    measured = [row for row in rows if row["whole"] and by in row["measured"]]
    steps = [last - first + 1 for first, last in (row["measured"][by].over or (0, 0) for row in measured)]
    return [row for row, count in zip(measured, steps, strict=True) if count >= COMPARABLE * max(steps)]
