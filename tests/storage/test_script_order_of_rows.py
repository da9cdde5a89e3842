"""A run filters, shuffles, limits and holds out, in this order. What a script does in another one is said, or is a
slice of the split, which comes before all else."""

from __future__ import annotations

import itertools

import pytest

from groupwise.storage.checks.script_reader import read_script
from tests.storage.test_script_nothing_dropped import read, script

STEPS = {  # by the place that each has in a run
    "filter": [".filter(lambda r: r['n'] > 3)", ".filter(good)"],
    "shuffle": [".shuffle(seed=3)"],
    "limit": [".select(range(900))", ".take(800)"],
    "sort": [".sort('n')"],
    "split": [".train_test_split(test_size=50)['train']"],
}
RANKS = ["filter", "shuffle", "limit", "split"]
ORDERS = [order for count in (2, 3) for order in itertools.permutations(STEPS, count)]


@pytest.mark.parametrize("source", ["'a/b', split='train'", "'json', data_files='x.jsonl', split='train'"])
@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_a_step_that_comes_after_another_one_than_here_is_said(order: tuple[str, ...], source: str):
    for steps in itertools.product(*(STEPS[each] for each in order)):
        found = read_script(script(data=f"load_dataset({source}){''.join(steps)}"))
        said, data = "\n".join(found.notes), found.raw["data"]
        for first, second in itertools.combinations(range(len(order)), 2):
            if not {order[first], order[second]} <= {*RANKS}:
                continue
            if RANKS.index(order[second]) > RANKS.index(order[first]):
                continue
            cut = order[first] == "limit" and "[" in data.get("split", "")
            lost = f"{steps[first][1:5]}" in said and "was not taken, as sort(…) before it" in said
            name = steps[second][1:].partition("(")[0]
            assert cut or lost or f"{name}(…) (line 9) comes after" in said, (steps, said)


@pytest.mark.parametrize(
    ("steps", "order"),
    [
        (".shuffle(seed=42){}", "in the order of data.shuffle, 42"),
        ("{}.shuffle(seed=7)", "in the order of data.shuffle, 7"),
        (".shuffle(){}", "unshuffled"),
        ("{}", "unshuffled"),
    ],
)
def test_which_rows_are_held_out_without_a_seed_is_said_by_all_that_shuffles(steps: str, order: str):
    _, said = read(script(data=f"load_dataset('a/b', split='train'){steps.format(STEPS['split'][0])}"))
    assert f"train_test_split(…) (line 9) has no seed: the first rows are held out here, {order}." in said
