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

LEAST_APART = 15.5  # in CIEDE2000, with which two colours side by side are just told apart at 1 or 2
NEAR = 22.0  # nearer ones need another mark: people mixed up two purples at 13, and two greens at 17
NEIGHBOURS_APART = {1: 26.0, 4: 22.0, 7: 18.0}  # of runs launched up to so many one after the other
HUES_APART = 18.5  # degrees between a colour's hue in the light and in the dark theme
LEAST_CONTRAST = 3.0  # of a line against its panel and the page, as WCAG asks of graphics
LIGHTNESS = {"light": (0.45, 0.75), "dark": (0.58, 0.9)}  # OKLab's lightness in which a thin line's colour is seen

Lab = tuple[float, float, float]  # lightness, green to red, blue to yellow


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


def test_each_colour_has_one_kind_of_line() -> None:
    assert [dash_of(f"--r{place}") for place in (1, 8, 9, 14, 15, 20)] == [*["solid"] * 2, *["dash"] * 2, *["dot"] * 2]
    assert dash_of(NONE) == "solid" and len(DASHES) == PALETTE == 20


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


def oklab(colour: str) -> Lab:
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


def cielab(colour: str) -> Lab:
    rows = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.072175), (0.0193339, 0.119192, 0.9503041))
    seen = [sum(w * c for w, c in zip(row, linear(colour), strict=True)) for row in rows]
    x, y, z = (
        part ** (1 / 3) if part > 216 / 24389 else (24389 / 27 * part + 16) / 116
        for part in (part / white for part, white in zip(seen, (0.95047, 1.0, 1.08883), strict=True))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one: str, other: str) -> float:
    return ciede2000(cielab(one), cielab(other))


def ciede2000(one: Lab, other: Lab) -> float:
    """How unlike two colours look."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    grey = ((math.hypot(a1, b1) + math.hypot(a2, b2)) / 2) ** 7
    stretch = 1.5 - 0.5 * math.sqrt(grey / (grey + 25**7))
    c1, c2 = math.hypot(a1 * stretch, b1), math.hypot(a2 * stretch, b2)
    h1, h2 = math.degrees(math.atan2(b1, a1 * stretch)), math.degrees(math.atan2(b2, a2 * stretch))
    turn = (h2 - h1 + 180) % 360 - 180
    lightness, chroma, hue = (l1 + l2) / 2, (c1 + c2) / 2, h1 + turn / 2
    weight = 1 + sum(w * math.cos(math.radians(n * hue + at)) for w, n, at in
                     ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63)))  # fmt: skip
    by_l = (l2 - l1) / (1 + 0.015 * (lightness - 50) ** 2 / math.sqrt(20 + (lightness - 50) ** 2))
    by_c = (c2 - c1) / (1 + 0.045 * chroma)
    by_h = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2)) / (1 + 0.015 * chroma * weight)
    blue = math.radians(60 * math.exp(-(((hue % 360 - 275) / 25) ** 2)))
    tilt = -2 * math.sqrt(chroma**7 / (chroma**7 + 25**7)) * math.sin(blue)
    return math.sqrt(by_l**2 + by_c**2 + by_h**2 + tilt * by_c * by_h)


def hue(colour: str) -> float:
    _, green_red, blue_yellow = oklab(colour)
    return math.degrees(math.atan2(blue_yellow, green_red))


def palette_of(theme: str) -> list[str]:
    return [tokens(theme)[f"--r{place}"] for place in range(1, PALETTE + 1)]


def test_distances_are_those_that_ciede2000_was_published_with() -> None:
    published: list[tuple[Lab, Lab, float]] = [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.49, -0.001), (50.0, -2.49, 0.0011), 7.2195),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ]
    assert all(ciede2000(one, other) == pytest.approx(apart, abs=1e-4) for one, other, apart in published)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_colour_can_be_seen_and_told_from_every_other(theme: str) -> None:
    known, palette = tokens(theme), palette_of(theme)
    behind = (known["--panel"], known["--bg"])
    assert all(contrast(colour, back) >= LEAST_CONTRAST for colour in palette for back in behind)
    dull = [colour for colour in palette if not LIGHTNESS[theme][0] <= oklab(colour)[0] <= LIGHTNESS[theme][1]]
    assert not dull, "near black, near white or faint: a thin line's hue is not seen"
    apart = {(a, b): distance(a, b) for a, b in itertools.combinations([*palette, known[NONE]], 2)}
    assert min(apart.values()) >= LEAST_APART, min(apart, key=apart.__getitem__)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_in_which_something_is_written_can_be_read(theme: str) -> None:
    known = tokens(theme)
    behind = [known[name] for name in ("--panel", "--bg", "--sunken")]
    assert all(contrast(colour, back) >= 4.5 for colour in palette_of(theme)[:8] for back in behind)
    assert all(contrast(known["--bad"], back) >= 4.5 for back in (*behind, known["--accent-soft"])), "errors of a log"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_of_runs_launched_one_after_the_other_differ_clearly(theme: str) -> None:
    palette = palette_of(theme)
    for (place, colour), (most, least) in itertools.product(enumerate(palette), NEIGHBOURS_APART.items()):
        near = [distance(colour, palette[(place + further) % PALETTE]) for further in range(1, most + 1)]
        assert min(near) >= least, f"--r{place + 1} and the next {most}"


def test_a_colour_is_of_one_hue_in_both_themes() -> None:
    turns = [(hue(a) - hue(b) + 180) % 360 - 180 for a, b in zip(palette_of("light"), palette_of("dark"), strict=True)]
    assert max(map(abs, turns)) <= HUES_APART, turns


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_runs_of_near_colours_have_different_lines_whatever_runs_are_compared(theme: str) -> None:
    rng, known = random.Random(19), tokens(theme)
    for _ in range(500):
        colours = colours_of(some_runs(rng, rng.randint(2, 8))).values()
        for one, other in itertools.combinations(colours, 2):
            if distance(known[one], known[other]) < NEAR:
                assert dash_of(one) != dash_of(other), (one, other)


def test_a_run_keeps_its_colour_until_another_that_is_shown_has_it() -> None:
    runs = [Numbered("a", 0), Numbered("b", 3), Numbered("c", 20)]
    colours = colours_of(runs)
    assert [has_its_own(run, colours[run.id]) for run in runs] == [True, True, False]
    assert colours["b"] == own_colour(runs[1]) and colours["c"] == "--r2"
