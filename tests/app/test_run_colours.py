"""The colours of runs: no two that are seen together have the same, whatever runs they are, and one sees that."""

from __future__ import annotations

import itertools
import math
import random
import re
from dataclasses import dataclass

import pytest

from groupwise.app.ui.run_colours import DASHES, NONE, PALETTE, colours_of, dash_of, has_its_own, own_colour
from groupwise.app.ui.theme import TOKENS

LEAST_APART = 0.09  # in OKLab; two colours are just told apart at 0.02
NEIGHBOURS_APART = 0.16  # of runs that were launched one after the other, which are compared most often
LEAST_CONTRAST = 3.0  # of a line against its panel and the page, as WCAG asks of graphics
HUES = {"light": (0.45, 0.75), "dark": (0.58, 0.9)}  # OKLab's lightness in which a thin line's colour is seen


@dataclass(frozen=True)
class Numbered:
    """A run, as far as its colour hangs on it."""

    id: str
    number: int


def some_runs(rng: random.Random, count: int) -> list[Numbered]:
    """Runs of a home of any age: in a row, from a sweep, all over it, or with one number, as copied homes have them."""
    kind = rng.choice(["row", "sweep", "anywhere", "same"])
    first = rng.randrange(1000)
    numbers = {
        "row": range(first, first + count), "sweep": range(first, first + 20 * count, 20),
        "anywhere": [rng.randrange(1000) for _ in range(count)], "same": [first] * count,
    }[kind]  # fmt: skip
    return [Numbered(f"run-{rng.random()}", number) for number in numbers]


def test_no_two_runs_that_are_compared_have_the_same_colour() -> None:
    rng = random.Random(17)
    for _ in range(500):
        runs = some_runs(rng, rng.randint(1, PALETTE))
        colours = colours_of(runs)
        assert len(set(colours.values())) == len(runs) and NONE not in colours.values()


def test_a_run_has_the_same_colour_in_the_table_and_in_compare() -> None:
    rng = random.Random(18)
    for _ in range(300):
        table = some_runs(rng, rng.randint(1, 200))
        chosen = rng.sample(table, rng.randint(0, min(PALETTE, len(table))))
        compared = colours_of(rng.sample(chosen, len(chosen)))  # in whatever order the address names them
        seen = colours_of(chosen, table)
        assert {run.id: seen[run.id] for run in chosen} == compared
        coloured = [seen[run.id] for run in table if seen[run.id] != NONE]
        assert len(set(coloured)) == len(coloured) == min(PALETTE, len(table))


def test_twenty_runs_in_a_row_have_the_colours_that_they_have_alone() -> None:
    runs = [Numbered(str(number), number) for number in range(990, 1010)]
    assert colours_of(runs[::-1]) == {run.id: own_colour(run) for run in runs}
    assert len({own_colour(run) for run in runs}) == PALETTE


def test_a_colour_s_line_says_a_little_more() -> None:
    assert [dash_of(f"--r{place}") for place in (1, 8, 9, 16, 17, 20)] == [*["solid"] * 2, *["dash"] * 2, *["dot"] * 2]
    assert dash_of(NONE) == "solid" and len(DASHES) * 8 >= PALETTE


# --- what tokens.css has


def tokens(theme: str) -> dict[str, str]:
    """The colours of the light theme (`:root`), or of the dark one over them."""
    sheet = TOKENS.read_text(encoding="utf-8")
    light, dark = (re.search(rf"{where} {{(.*?)}}", sheet, re.DOTALL) for where in (":root", r"\.dark"))
    assert light and dark
    found = dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6});", light[1]))
    return found | (dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6});", dark[1])) if theme == "dark" else {})


def linear(colour: str) -> list[float]:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def contrast(one: str, other: str) -> float:
    """As WCAG 2 has it."""
    low, high = sorted(
        sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(x), strict=True)) for x in (one, other)
    )
    return (high + 0.05) / (low + 0.05)


def oklab(colour: str) -> tuple[float, float, float]:
    """Björn Ottosson's OKLab, in which equal distances look alike."""
    r, g, b = linear(colour)
    cone = [
        (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3),
        (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3),
        (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3),
    ]
    rows = ((0.2104542553, 0.793617785, -0.0040720468), (1.9779984951, -2.428592205, 0.4505937099),
            (0.0259040371, 0.7827717662, -0.808675766))  # fmt: skip
    lightness, green_red, blue_yellow = (sum(w * c for w, c in zip(row, cone, strict=True)) for row in rows)
    return lightness, green_red, blue_yellow


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_colour_can_be_seen_and_told_from_every_other(theme: str) -> None:
    known = tokens(theme)
    palette = [known[f"--r{place}"] for place in range(1, PALETTE + 1)]
    behind = (known["--panel"], known["--bg"])
    assert all(contrast(colour, back) >= LEAST_CONTRAST for colour in palette for back in behind)
    dull = [colour for colour in palette if not HUES[theme][0] <= oklab(colour)[0] <= HUES[theme][1]]
    assert not dull, "near black, near white or faint: a thin line's hue is not seen"
    apart = {(a, b): math.dist(oklab(a), oklab(b)) for a, b in itertools.combinations([*palette, known[NONE]], 2)}
    assert min(apart.values()) >= LEAST_APART, min(apart, key=apart.__getitem__)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_of_runs_launched_one_after_the_other_differ_clearly(theme: str) -> None:
    palette = [oklab(tokens(theme)[f"--r{place}"]) for place in range(1, PALETTE + 1)]
    for place, colour in enumerate(palette):
        assert math.dist(colour, palette[(place + 1) % PALETTE]) >= NEIGHBOURS_APART, f"--r{place + 1} and the next"


def test_a_run_keeps_its_colour_until_another_that_is_shown_has_it() -> None:
    runs = [Numbered("a", 0), Numbered("b", 3), Numbered("c", 20)]
    colours = colours_of(runs)
    assert [has_its_own(run, colours[run.id]) for run in runs] == [True, True, False]
    assert colours["b"] == own_colour(runs[1]) and colours["c"] == "--r2"
