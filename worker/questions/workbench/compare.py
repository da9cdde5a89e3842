"""A run's history, old against new: two sets of rewards and advantages over the same groups, on plain arrays."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from groupwise.storage.spec.words.number_words import count_part, with_digits, write_number
from groupwise.worker.questions.workbench import analysis
from groupwise.worker.questions.workbench.analysis import SAME, Floats, Ints

BUCKETS = 500  # points of a curve over the steps
PAIRS = 2_000_000  # pairs of completions that are compared at once
FLAT = 1e-6  # an advantage no larger has no sign: what rounding leaves of 0
UNSEEN = 0.005  # advantages are shown with two digits: what moves less has not moved, as a run keeps them rounded


def compare_totals(old: Floats, new: Floats) -> dict[str, Any]:
    """{edges, old, new: counts, old_mean, new_mean, old_std, new_std}."""
    edges = analysis.edges(old, new)
    old_mean, old_std = analysis.mean_and_std(old)
    new_mean, new_std = analysis.mean_and_std(new)
    return {
        "edges": edges, "old": analysis.count_in_bins(old, edges), "new": analysis.count_in_bins(new, edges),
        "old_mean": old_mean, "old_std": old_std, "new_mean": new_mean, "new_std": new_std,
    }  # fmt: skip


def flips(old: Floats, new: Floats) -> dict[str, Any]:
    """{total, flipped, share, gained, lost}: advantages that change sign; that were 0 and now say something; and the
    reverse."""
    was, becomes = (np.where(np.abs(each) > FLAT, np.sign(each), 0.0) for each in (old, new))
    flipped = int((was * becomes < 0).sum())
    return {
        "total": len(old), "flipped": flipped, "share": flipped / len(old) if len(old) else 0.0,
        "gained": int(((was == 0) & (becomes != 0)).sum()), "lost": int(((was != 0) & (becomes == 0)).sum()),
    }  # fmt: skip


def ranks(old: Floats, new: Floats, starts: Ints) -> dict[str, Any]:
    """{pairs, swapped, share, parted, merged} over all pairs of one group: those that both ways have an order, those of
    them whose order turns round; pairs that were even and are told apart now; and the reverse."""
    both = swapped = parted = merged = 0
    for rows in _groups_by_size(starts, len(old)):
        was, becomes = (np.sign(_pair_differences(each[rows])) for each in (old, new))
        given = ~(np.isnan(was) | np.isnan(becomes))
        was, becomes = was[given], becomes[given]
        ordered = (was != 0) & (becomes != 0)
        both += int(ordered.sum())
        swapped += int((was[ordered] != becomes[ordered]).sum())
        parted += int(((was == 0) & (becomes != 0)).sum())
        merged += int(((was != 0) & (becomes == 0)).sum())
    return {"pairs": both, "swapped": swapped, "share": swapped / both if both else 0.0, "parted": parted,
            "merged": merged}  # fmt: skip


def _groups_by_size(starts: Ints, rows: int) -> Iterator[Ints]:
    """Row numbers as (groups, size): groups of one size together, as many as may be compared at once."""
    sizes = np.diff(np.append(starts, rows))
    for size in np.unique(sizes):
        if size < 2:
            continue
        first = starts[sizes == size]
        most = max(1, PAIRS // int(size * size))
        for begin in range(0, len(first), most):
            yield first[begin : begin + most, None] + np.arange(size)


def _pair_differences(values: Floats) -> Floats:
    """(groups, pairs): each pair's difference, 0 where they are as good as even."""
    a, b = np.triu_indices(values.shape[1], k=1)
    found = values[:, a] - values[:, b]
    return np.where(np.abs(found) <= SAME, 0.0, found)


def by_step(steps: Ints, old: Floats, new: Floats, starts: Ints) -> dict[str, Any]:
    """{step, old, new: mean rewards, old_bearing, new_bearing: share of groups that teach}, at most BUCKETS points;
    `steps` is one a group, ascending in the main; a point's step is the first of its bucket."""
    order = np.unique(steps)
    width = -(-len(order) // BUCKETS) if len(order) else 1
    bucket = np.searchsorted(order, steps) // width
    means = [analysis.mean_of(each, starts) for each in (old, new)]
    bearing = [np.array([kind is None for kind in analysis.ties(each, starts)[1]], float) for each in (old, new)]
    count = int(bucket.max()) + 1 if len(bucket) else 0

    def average(values: Floats) -> list[float | None]:
        some = ~np.isnan(values)
        total = np.bincount(bucket[some], weights=values[some], minlength=count)
        number = np.bincount(bucket[some], minlength=count)
        return [float(t / n) if n else None for t, n in zip(total, number, strict=True)]

    return {
        "step": [int(step) for step in order[::width]], "old": average(means[0]), "new": average(means[1]),
        "old_bearing": average(bearing[0]), "new_bearing": average(bearing[1]),
    }  # fmt: skip


def most_changed(old: Floats, new: Floats, starts: Ints, count: int) -> list[tuple[int, float]]:
    """(number of the group, mean absolute change of its advantages) of those that change most; none that is shown as
    it was."""
    changes = analysis.mean_of(np.abs(np.nan_to_num(new) - np.nan_to_num(old)), starts)
    order = np.argsort(-changes, kind="stable")[:count]
    return [(int(number), float(changes[number])) for number in order if changes[number] >= UNSEEN]


def total_sentence(names: list[str], used: Floats, asked: Floats) -> str:
    """Which functions the new total is made of, each with its weight, and which have none in it. `used`, `asked`:
    (groups, functions), the weights in the run and now, NaN where a function does not count."""
    told = [f"{name} ({_say_weights(used[:, k], asked[:, k])})" for k, name in enumerate(names)]
    counts = [bool(np.nan_to_num(asked[:, k]).any()) for k in range(len(names))]
    inside = [words for words, is_in in zip(told, counts, strict=True) if is_in]
    outside = [words for words, is_in in zip(told, counts, strict=True) if not is_in]
    said = f"The new total counts {', '.join(inside) or 'no function'}"
    return f"{said}; not {', '.join(outside)}." if outside else f"{said}."


def _say_weights(used: Floats, asked: Floats) -> str:
    """weight 2; weight 0.5 instead of 1; of one that moved while the run trained: weight 0.2 to 1, as it changed in
    training."""
    before, now = _range_words(used), _range_words(asked)
    if np.array_equal(used, asked, equal_nan=True):
        return f"weight {now}{', as it changed in training' if ' to ' in now else ''}"
    return f"weight {now} instead of {before}" if before else f"weight {now}"


def _range_words(weights: Floats) -> str:
    """0.2 to 1, or 2 where all are the same; “” where there is none."""
    some = weights[~np.isnan(weights)]
    if not len(some):
        return ""
    low, high = f"{some.min():.3g}", f"{some.max():.3g}"
    return low if low == high else f"{low} to {high}"


def _share_words(share: float) -> str:
    """A share in percent, of little with a digit more, as the figures beside it (app/pages/rewards/rescored.js)."""
    return f"{with_digits(100 * share, 1 if 0 < share < 0.0995 else 0)} %"


def _mean_sentence(old: float, new: float) -> str:
    """The means as the figure below writes them; two that it writes alike are one."""
    was, becomes = write_number(old), write_number(new)
    return f"The mean reward {f'stays at {was}' if was == becomes else f'goes from {was} to {becomes}'}."


def is_unchanged(rewards: tuple[Floats, Floats], advantages: tuple[Floats, Floats]) -> bool:
    """Whether every completion keeps its reward, where there are any, and its advantage; each old, then new."""
    old, new = (np.isnan(each) for each in rewards)
    if old.all() or (old != new).any():
        return False
    paid, moved = (np.abs(np.nan_to_num(after) - np.nan_to_num(before)) for before, after in (rewards, advantages))
    return bool((paid <= SAME).all() and (moved < UNSEEN).all())


def sentences(found: dict[str, Any]) -> list[str]:
    """What the comparison showed, in words; `unchanged`: nothing."""
    if found["unchanged"]:
        return ["Nothing changes: every completion keeps its reward and its advantage."]
    said, flipped, pairs = [], found["advantages"], found["ranks"]
    old, new = found["totals"]["old_mean"], found["totals"]["new_mean"]
    if old is not None and new is not None:
        said.append(_mean_sentence(old, new))
    if old is None:
        now = "" if new is None else f" The new mean reward is {write_number(new)}."
        said.append(f"The run has no scores to compare with: none of its completions was scored.{now}")
    else:
        said.append(
            f"{count_part(flipped['flipped'], flipped['total'], 'advantage').capitalize()} "
            f"({_share_words(flipped['share'])}) "
            f"{'changes its' if flipped['flipped'] == 1 else 'change their'} sign."
            if flipped["flipped"] else "No advantage changes its sign."
        )  # fmt: skip
    if pairs["swapped"]:
        said.append(f"{_share_words(pairs['share'])} of the pairs within a group change their order.")
    before, after = found["ties"]["old"], found["ties"]["new"]
    if before["bearing"] != after["bearing"]:
        groups = count_part(after["bearing"], after["groups"], "group").capitalize()
        said.append(f"{groups} would have a learning signal, instead of {before['bearing']:,}.")
    return said
