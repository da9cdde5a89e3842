"""The modules of Compare, without a dashboard: who is best among which runs, and where prompts stand."""

from __future__ import annotations

import itertools
import re
from typing import Any

from playwright.sync_api import Page

from tests.browser.conftest import bring
from tests.conftest import REPOSITORY

RUNS = [
    {"id": "a", "name": "a", "there": True, "kind": "ok", "label": "Finished", "alike": {"reward": "x", "solved": "s"},
     "final": {"reward": 1.0, "solved": 0.5, "held_out": None}},
    {"id": "b", "name": "b", "there": True, "kind": "ok", "label": "Finished", "alike": {"reward": "x", "solved": "s"},
     "final": {"reward": 2.0, "solved": 0.25, "held_out": None}},
    {"id": "c", "name": "c", "there": True, "kind": "bad", "label": "Failed", "alike": {"reward": "y", "solved": "s"},
     "reason": "no memory", "brief": "no memory", "final": {"reward": 9.0, "solved": 0.75, "held_out": None}},
]  # fmt: skip


# Of as many completions each, that may be off by a few points; of held-out prompts another is the best.
OFF = {"solved": 0.027, "held_out": 0.02}
MEASURED = [
    {**RUNS[0], "id": name, "name": name,
     "final": {"reward": 1.0, "solved": solved, "step": 20, "held_out": held_out, "errors": OFF}}
    for name, solved, held_out in (("a", 0.65, 1.48), ("b", 0.60, 1.59), ("c", 0.29, 0.70))
]  # fmt: skip


def test_a_best_is_marked_only_among_runs_with_the_same_rewards(bare_page: Page) -> None:
    bring(bare_page, "pages/compare/tables.js", "drawFinals")
    page = bring(bare_page, "pages/compare/measure.js", "apartWords", "bestWords", "differWords", "shortWords")
    marked = """runs => { const table = document.createElement("table"); drawFinals(table, runs, "", () => {});
      return [...table.querySelectorAll(".best")].map(cell => [cell.closest("tr").dataset.run, cell.cellIndex,
        cell.querySelector("span").title]) }"""
    assert page.evaluate(marked, RUNS) == [
        ["b", 3, "the best of the 2 runs here that are measured alike at the end"],
        ["c", 5, "the best of these runs at the end"],
    ]  # fmt: skip
    said = page.evaluate("runs => differWords(runs)", RUNS)
    functions = "reward functions (which, weights, parameters or code)"
    some = "total rewards can be compared only among runs that are alike in that"
    differ = f"These runs differ in {functions}, so {some}."
    assert said == differ
    assert page.evaluate("runs => bestWords(runs)", RUNS) == (
        "▲ the best at the end among runs that are measured alike, where that is more than chance"
    )
    apart = "runs => runs.map(run => apartWords(runs, run))"
    assert page.evaluate(apart, RUNS) == ["", "", "reward not compared: other reward functions"]
    assert page.evaluate(apart, RUNS[:2]) == ["", ""]
    assert page.evaluate("runs => bestWords(runs)", RUNS[:2]) == "▲ the best at the end, where that is more than chance"
    assert page.evaluate("runs => differWords(runs)", RUNS[:2]) == ""
    assert page.evaluate(marked, RUNS[:2]) == [
        ["a", 5, "the best of these runs at the end"],
        ["b", 3, "the best of these runs at the end"],
    ]
    alone = [RUNS[0], {**RUNS[2], "alike": {}}]
    assert page.evaluate(marked, alone) == [], "of unknown rewards: like no other's"
    unread = "The settings of “c” cannot be read, so its figures cannot be compared."
    assert page.evaluate("runs => differWords(runs)", alone) == unread
    beside = [*RUNS, {**RUNS[2], "id": "d", "alike": {}}]
    others = differ.replace("These runs", "The others")
    assert page.evaluate("runs => differWords(runs)", beside) == f"{unread} {others}"
    assert page.evaluate("runs => bestWords(runs)", alone) == "", "nothing is marked, so there is nothing to explain"
    unknown = [*RUNS[:2], alone[1]]
    assert page.evaluate(apart, unknown) == ["", "", "not compared: its settings cannot be read"]
    assert page.evaluate("runs => shortWords(runs)", RUNS) == [
        "Solved at the end, best first: “c”: 75\u202f%, “a”: 50\u202f%, “b”: 25\u202f%.",
        differ,
    ]  # fmt: skip
    assert page.evaluate("runs => shortWords(runs)", MEASURED) == [
        "Held-out reward, on prompts that are not trained on, best first: “b”: 1.59, “a”: 1.48, “c”: 0.70.",
        "Solved in training at the end, best first: “a”: 65\u202f%, “b”: 60\u202f%, “c”: 29\u202f%. "
        "“a” may be ahead of “b” by chance.",
    ]  # fmt: skip
    level = [{**RUNS[n], "final": {**MEASURED[n]["final"], "solved": solved, "held_out": None}}
             for n, solved in enumerate((0.0081, 0.0119))]  # fmt: skip
    assert page.evaluate("runs => shortWords(runs)", level) == [
        "Solved at the end: “a”: 1\u202f%, “b”: 1\u202f%. There is no difference to see."
    ], "in the order of the table"
    for run in level:
        run["final"]["errors"] = {}
    third = {**RUNS[0], "id": "c", "name": "c", "final": {**MEASURED[2]["final"], "solved": 0.001, "held_out": None}}
    third["final"]["errors"] = {}
    assert page.evaluate("runs => shortWords(runs)", [*level, third])[0] == (
        "Solved at the end, best first: “a”: 1\u202f%, “b”: 1\u202f%, “c”: <1\u202f%. "
        "Between “a” and “b” there is no difference to see."
    )
    ahead = [["b", 4, "the best of these runs at the end"]]
    assert page.evaluate(marked, [MEASURED[0], MEASURED[1]]) == ahead, "no sign where the sentence says chance"
    halves = [{**MEASURED[n], "final": {**MEASURED[n]["final"], "solved": solved}}
              for n, solved in enumerate((0.7796875, 0.7703125, 0.29))]  # fmt: skip
    groups = [{"label": "rate 1", "ids": ["a", "b"]}, {"label": "rate 2", "ids": ["c"]}]
    assert page.evaluate("([runs, groups]) => shortWords(runs, groups)", [halves, groups])[:2] == [
        "Held-out reward, on prompts that are not trained on, mean of each group, best first: "
        "“rate 1”: 1.54 ± 0.078 (2 runs), “rate 2”: 0.70 (1 run).",
        "Solved in training at the end, mean of each group, best first: "
        "“rate 1”: 78\u202f% ± 1\u202f% (2 runs), “rate 2”: 29\u202f% (1 run).",
    ]  # fmt: skip


def test_figures_that_are_means_of_fewer_steps_are_not_ranked_with_others(bare_page: Page) -> None:
    """Of runs that differ in logging_steps alone, means of steps 16–25 were ranked with those of 21–25."""
    names = "bestOf", "canBeAveraged", "differWords", "lineCanBeAveraged", "shortWords"
    page = bring(bare_page, "pages/compare/measure.js", *names)

    def runs(first: int) -> list[dict[str, Any]]:
        spans = zip(RUNS[:2], (16, first), strict=True)
        return [{**run, "final": {**run["final"], "step": 25, "means_of": [begin, 25]}} for run, begin in spans]

    other, alike = runs(21), runs(16)
    differ = (
        "These runs differ in how many steps their figures are means of (10 and 5), so total rewards and shares solved "
        "cannot be compared."
    )
    assert page.evaluate("runs => shortWords(runs)", other) == [differ]
    assert page.evaluate("runs => ['reward', 'solved'].map(key => bestOf(runs, key).size)", other) == [0, 0]
    assert page.evaluate("runs => [canBeAveraged(runs, 'reward'), lineCanBeAveraged(runs, 'reward')]", other) == [
        False, True,
    ]  # fmt: skip
    assert page.evaluate("runs => ['reward', 'solved'].map(key => bestOf(runs, key).size)", alike) == [1, 1]
    assert page.evaluate("runs => differWords(runs)", alike) == ""


def test_it_is_said_in_what_runs_differ_where_solved_is_something_else(bare_page: Page) -> None:
    page = bring(bare_page, "pages/compare/measure.js", "differWords")
    parts = {"function": "right", "code": "a", "parameters": "b", "score": 1.0}

    def said(**other: Any) -> str:
        found = {**parts, **other}
        alike = [{"reward": "x", "solved": str(one), "solved_by": one["function"], "solved_of": one}
                 for one in (parts, found)]  # fmt: skip
        runs = [{**run, "alike": one} for run, one in zip(RUNS, alike, strict=False)]
        return str(page.evaluate("runs => differWords(runs)", runs))

    assert said() == ""
    end = ", so shares solved cannot be compared."
    begin = "These runs differ in what counts as solved"
    assert said(function="exact", code="c") == f"{begin} (by “right” and “exact”){end}"
    assert said(code="c") == f"{begin} (the code of “right”){end}"
    both = "the parameters of “right” and the least score that counts: 1 and 0.5"
    assert said(parameters="c", score=0.5) == f"{begin} ({both}){end}"


def test_what_to_look_at_first_is_a_short_list_with_problems_before_warnings(bare_page: Page) -> None:
    """As it was seen of twelve runs: a paragraph of four lines, with errors that the table has, too."""
    page = bring(bare_page, "pages/compare/measure.js", "firstLines")
    ill = [{**RUNS[n], "name": f"{n}", "kind": kind, "label": kind} for n, kind in ((0, "warn"), (2, "bad"))]
    first = "runs => firstLines(runs)"
    assert page.evaluate(first, [*ill, RUNS[1]]) == ["“2”: bad", "“0”: warn"]
    assert page.evaluate(first, [*ill * 2, RUNS[1]]) == ["“2”: bad", "“2”: bad", "“0”: warn", "“0”: warn"]
    assert page.evaluate(first, [*ill * 3, RUNS[1]]) == ["“2”: bad"] * 3 + ["“0”: warn", "and 2 more"]
    assert page.evaluate(first, RUNS[:2]) == [] == page.evaluate(first, ill), "where all are named, none is first"


LONG = "qwen2.5-0.5b-gsm8k-lr-1e-5-group-16-length-512-temperature-0.7 · 3f2a"


def test_a_long_name_keeps_its_end_in_a_hover_label_and_in_a_sentence(bare_page: Page) -> None:
    bring(bare_page, "pages/compare/charts.js", "CompareChart")
    page = bring(bare_page, "pages/compare/tables.js", "withNames")
    hover = """([label, width, group]) => { const chart = new CompareChart({ name: "kl", title: "kl" }, () => {});
      chart.node.style.width = `${width}px`; document.body.append(chart.node);
      const said = chart.hoverName({ label, group }); chart.node.remove(); return said }"""
    for width, most in ((600, 28), (340, 18)):
        said = page.evaluate(hover, [LONG, width, False])
        assert len(said) <= most and said.startswith("qwen") and "…" in said and said.endswith(" · 3f2a"), said
    assert page.evaluate(hover, ["lr 1e-05 seed 1", 340, False]) == "lr 1e-05 seed 1"
    assert (
        page.evaluate(hover, ["Learning rate 1e-05, Group size 8", 600, True]) == "Learning rate 1e-05<br>Group size 8"
    )
    said = """([words, names]) => { const node = document.createElement("p");
      node.append(...withNames(words, names.map(name => ({ name })))); document.body.append(node);
      return [node.textContent, [...node.querySelectorAll("[title]")].map(one => one.title),
              node.querySelectorAll(".kept-end").length] }"""
    words = f"Best first: “{LONG}”: 1.5, “a”: 1.0. “{LONG}” may be ahead of “a” by chance."
    short = words.replace(LONG, "qwen2.5-0.5b-gsm…-0.7 · 3f2a")
    assert page.evaluate(said, [words, ["a", LONG]]) == [short, [LONG, "a", LONG, "a"], 0], "shown in full four times"


def test_a_held_out_reward_says_when_it_was_and_counts_for_nothing_from_before_training(bare_page: Page) -> None:
    bring(bare_page, "pages/compare/tables.js", "drawFinals")
    page = bring(bare_page, "pages/compare/measure.js", "meanOf", "shortWords")
    peak = {"reward": 1.0, "solved": 0.5, "step": 60, "held_out": 0.9, "held_out_at": 40}
    cells = """runs => { const table = document.createElement("table"); drawFinals(table, runs, "", () => {});
      return [...table.rows].slice(1).map(row => row.cells[4].textContent) }"""
    told = [{**RUNS[0], "final": peak}, {**RUNS[1], "final": {**peak, "held_out_at": 60}}]
    assert page.evaluate(cells, told) == ["0.90 step 40", "0.90"], "an evaluation before the end says when it was"
    killed = {**RUNS[1], "final": {**peak, "step": 11, "held_out": 9, "held_out_at": 0}}
    assert page.evaluate(cells, [told[0], killed]) == ["0.90 step 40", "9.00 before training"]
    assert not any("Held-out" in words for words in page.evaluate("runs => shortWords(runs)", [told[0], killed]))
    mean = page.evaluate("runs => meanOf(runs, 'held_out')", [told[0], killed])
    assert (mean["n"], mean["mean"]) == (1, 0.9), "nor is it part of its group's mean"


def test_what_runs_can_earn_at_most_is_said_where_it_differs(bare_page: Page) -> None:
    bring(bare_page, "pages/compare/tables.js", "drawFinals")
    page = bring(bare_page, "pages/compare/measure.js", "mostsWords")
    cells = """runs => { const table = document.createElement("table"); drawFinals(table, runs, "", () => {});
      return [...table.rows].slice(1).map(({ cells }) =>
        [...cells].slice(3, 6).map(cell => cell.textContent).join("|")) }"""
    runs = [{**run, "most": most} for run, most in zip(RUNS, (3, 1.2, None), strict=True)]
    assert page.evaluate(cells, runs) == ["1.00 of at most 3|–|50\u202f%", "▲ 2.00 of at most 1.2|–|25\u202f%",
                                          "9.00|–|▲ 75\u202f%"]  # fmt: skip
    beside = "these runs can reach different rewards: at most 1.2 and 3"
    said = "runs => ['reward', 'eval_reward', 'kl'].map(name => mostsWords(runs, name))"
    assert page.evaluate(said, runs) == [beside, beside, ""]
    alike = [{**run, "most": 3} for run in RUNS[:2]] + [RUNS[2]]
    assert page.evaluate(cells, alike)[0].startswith("1.00|"), "where all that are known are one, nothing is said"
    assert page.evaluate(said, alike) == ["", "", ""]


def test_the_share_solved_is_said_by_each_runs_function(bare_page: Page) -> None:
    page = bring(bare_page, "pages/compare/measure.js", "solvedWords")
    said = "([names, metric]) => solvedWords(names.map((name) => ({ alike: { solved_by: name } })), metric)"
    assert page.evaluate(said, [["a", "a", None], "groups/solved"]) == "scored correct by “a”"
    several = "scored correct by each run’s own function: “a” and “b”"
    assert page.evaluate(said, [["a", "b"], "groups/solved"]) == several
    assert page.evaluate(said, [["a", "b"], "reward"]) == page.evaluate(said, [[None], "groups/solved"]) == ""


def test_prompts_keep_their_places_and_a_run_without_one_says_so(bare_page: Page) -> None:
    page = bring(bare_page, "pages/compare/prompts.js", "drawPrompt", "drawTable", "keepPlaces")
    places = "([rows, before]) => keepPlaces(rows, before).map(row => row.hash).join('')"
    rows = [{"hash": one} for one in "cxab"]
    assert page.evaluate(places, [rows, [{"hash": one} for one in "abdc"]]) == "abcx"
    assert page.evaluate(places, [rows, []]) == "cxab"

    end = {"group": 3, "step": 58, "mean": 1.5, "solved": 0.75}
    once = {"first": end, "last": end, "groups": 1, "held_out": False, "number": 1, "latest": None, "best": None}
    twice = once | {"first": end | {"group": 1, "step": 2, "solved": 0.25}, "groups": 2}
    found = [once, twice, once | {"held_out": True}, None]
    cells = """([runs, found]) => { const table = document.createElement("table");
      drawTable(table, runs, [{hash: "h", prompt: "1+1?", runs: found}], "", () => {});
      return [...table.querySelectorAll("td")].map(cell => cell.textContent) }"""
    runs = [{**RUNS[0], "id": f"{n}"} for n in range(4)]
    assert page.evaluate(cells, [runs, found]) == [
        "75\u202f%", "25\u202f% → 75\u202f%", "75\u202f% held out", "not in this run",
    ]  # fmt: skip
    # the first stage of a run may have nothing that says what is right, or the last
    unknown = end | {"group": 1, "step": 2, "mean": 0.13, "solved": None}
    staged = [once | {"first": one, "last": other} for one, other in
              ((unknown, end), (end, unknown), (unknown, end | {"solved": None}))]  # fmt: skip
    assert page.evaluate(cells, [runs, staged]) == ["– → 75\u202f%", "75\u202f% → –", "reward 0.13 → 1.50"]

    said = """([runs, found]) => { const node = document.createElement("div");
      drawPrompt(node, runs, {prompt: "1+1?", runs: found});
      return [...node.querySelectorAll(".ends")].map(ends => [...ends.children].map(one => one.textContent)) }"""
    last = "step 58: 75\u202f% solved, reward 1.50"
    assert page.evaluate(said, [runs, found]) == [
        [f"seen once, {last}"],
        ["first, step 2: 25\u202f% solved, reward 1.50", f"last, {last}", "2 groups"],
        [f"held out, evaluated once, {last}"],
    ]

    latest = {"group": 9, "step": 58, "idx": 4, "reward": 0.5, "of": 8, "tokens": 7, "html": "4", "cut": ""}
    best = {"group": 7, "step": 40, "idx": 1, "reward": 3.0}
    found = [twice | {"latest": latest, "best": best}, twice | {"latest": latest | {"of": 2}}]
    said = """([runs, found]) => { const node = document.createElement("div");
      drawPrompt(node, runs, {prompt: "1+1?", runs: found});
      return [...node.querySelectorAll("article")].map(card => [card.querySelector("header").textContent,
        card.querySelector("footer div").textContent, ...[...card.querySelectorAll("a")].map(a => a.textContent)]) }"""
    assert page.evaluate(said, [runs[:2], found]) == [
        ["alatest 0.50", "latest, step 58: the middle of 8 by reward · 7 tokens", "Its group", "best: step 40, 3.00",
         "Over time"],
        ["alatest 0.50", "latest, step 58: the lower of 2 by reward · 7 tokens", "Its group", "Over time"],
    ], "a run that fell does not look better than it ended"  # fmt: skip


def test_an_axis_reads_as_the_table_and_a_run_without_a_value_is_below_it(bare_page: Page) -> None:
    bring(bare_page, "pages/compare/axis_keyboard_nav.js", "AxisKeyboardNav")
    bring(bare_page, "pages/compare/axes.js", "axes", "place")
    page = bring(bare_page, "pages/compare/parallel.js", "through")
    runs = [{**RUNS[n], "final": {"reward": 1.5, "solved": solved}} for n, solved in enumerate((0.61, 0.0008, None))]
    weights = [{"words": f"{weight}", "number": weight} for weight in (0.5, 1)]
    fields = [{"name": "rewards.brief.weight", "label": "Weight of brief", "values": [*weights, None]}]
    drawn = """([runs, fields]) => axes(runs, fields).map(axis =>
      [axis.title, axis.words, place(axis).y, place(axis).ticks.map(([, words]) => words)])"""
    weight, _, solved = page.evaluate(drawn, [runs, fields])
    assert weight == ["Weight of brief", ["0.5", "1", "no value"], [0, 1, -0.16], ["0.5", "1"]]
    assert solved == ["solved", ["61\u202f%", "<1\u202f%", "no value"], [1, 0, -0.16], ["<1\u202f%", "61\u202f%"]]
    keyed = """([runs, fields]) => { const [axis] = axes(runs, fields);
      const ends = AxisKeyboardNav.moved(axis, undefined, 1, true);
      return through(runs, [axis], new Map([[axis.full, ends]])).map(({ id }) => id) }"""
    assert page.evaluate(keyed, [runs, fields]) == ["a", "b"], "the lowest place of all is that of no value"
    gone = [*runs[:2], {**runs[2], "there": False}]
    assert page.evaluate(drawn, [gone, fields])[0][2] == [0, 1, None]


def test_runs_that_all_finished_with_a_verdict_are_told_of_by_it_alone(bare_page: Page) -> None:
    page = bring(bare_page, "pages/compare/measure.js", "verdictsAlone", "firstLines")
    fell = {"state": "finished", "verdict": "the reward fell", "label": "Finished · verdict: the reward fell"}
    flat = {"state": "finished", "verdict": "the reward is flat", "label": "Finished · verdict: the reward is flat"}
    stopped = {"state": "stopped", "verdict": "the reward fell", "label": "Stopped · verdict: the reward fell"}
    fine = {"state": "finished", "verdict": "", "label": "Finished"}
    words = "runs => runs.map(verdictsAlone(runs))"
    assert page.evaluate(words, [fell, flat]) == ["the reward fell", "the reward is flat"]
    for mixed in ([fell, fine], [fell, stopped], [fell]):
        assert page.evaluate(words, mixed) == [one["label"] for one in mixed]
    ill = [{**RUNS[0], "kind": "bad", **fell}, {**RUNS[1], "kind": "warn", **flat}, RUNS[2], RUNS[1]]
    assert page.evaluate("runs => firstLines(runs)", ill) == [
        "“a”: the reward fell", "“c”: Failed", "“b”: the reward is flat"
    ]  # fmt: skip


def test_a_verdict_stands_below_the_pill_that_says_the_state(bare_page: Page) -> None:
    page = bring(bare_page, "pages/compare/tables.js", "drawFinals")
    against = "verdict: the learning rate is too high: the reward fell"
    fell = {**RUNS[0], "short": "Finished", "against": against, "label": f"Finished · {against}"}
    cells = """runs => { const table = document.createElement("table"); drawFinals(table, runs, "", () => {});
      return [".pill", ".against"].map(which => [...table.querySelectorAll(which)].map(one => one.textContent)) }"""
    others = [{**one, "short": one["label"], "against": ""} for one in RUNS[1:]]
    assert page.evaluate(cells, [fell, *others]) == [["Finished", "Finished", "Failed"], [against]]


def test_what_was_logged_is_seen_beneath_its_smoothed_line_in_light_and_dark(bare_page: Page) -> None:
    """As it was seen: in dark it was almost invisible. What a bright colour cannot give on white is not asked of it."""
    page = bring(bare_page, "ui/charts/plots.js", "Plots")
    light, dark = (REPOSITORY / "app" / "ui" / "tokens.css").read_text(encoding="utf-8").split(".dark {")
    strength = "([hex, panel]) => Number(Plots.beneath(hex, panel).match(/,([^,]+)\\)/)[1])"
    found = {}
    for theme, tokens in (("light", light), ("dark", dark)):
        panel = re.findall(r"--panel: (#\w+)", tokens)[0]
        found[theme] = {hex: page.evaluate(strength, [hex, panel]) for hex in re.findall(r"--r[1-8]: (#\w+)", tokens)}
        assert len(found[theme]) == 8 and all(0.4 <= one <= 0.7 for one in found[theme].values())
    assert found["light"]["#3101f6"] == 0.5 and found["dark"]["#5c78ff"] == 0.7


def test_a_run_is_on_the_axes_of_only_those_metrics_in_which_the_table_compares_it(bare_page: Page) -> None:
    bring(bare_page, "pages/compare/axes.js", "axes", "place")
    page = bring(bare_page, "pages/compare/measure.js", "apartReasonOf")
    end = {"solved": 0.5, "held_out": 0.9, "held_out_at": 40, "step": 60, "kl": 0.1}
    runs = [{**RUNS[n % 2], "id": f"{n}", "final": {**end, "reward": n / 2}} for n in range(3)]
    runs[1]["final"] = {**end, "reward": 1, "held_out": 9, "held_out_at": 0}
    runs.append({**RUNS[2], "final": {**end, "reward": 99}})
    drawn = """runs => Object.fromEntries(axes(runs, []).map(axis =>
      [axis.full, axis.words.map((word, i) => place(axis).y[i] < 0 ? word : "drawn")]))"""
    found = page.evaluate(drawn, runs)
    assert found["reward"] == ["drawn"] * 3 + ["not compared"], "no 99 that presses the others together"
    assert found["held-out reward"] == ["drawn", "before training", "drawn", "not compared"]
    assert found["KL"] == ["drawn"] * 4
    said = page.evaluate("runs => runs.map(run => apartReasonOf(runs, run))", runs)
    assert said == ["", "", "", "other reward functions"]
    hidden = [{**run, "there": n > 0, "final": run["final"] if n > 0 else None} for n, run in enumerate(runs)]
    of_table = "([some, all]) => axes(some, [], [], all)[0].words"
    assert page.evaluate(of_table, [hidden, runs])[3] == "not compared", "as its table says, whichever runs are shown"


def test_what_was_varied_by_hand_is_on_an_axis_first_and_a_person_may_choose_others(bare_page: Page) -> None:
    page = bring(bare_page, "pages/compare/axes.js", "axes", "suggested")

    def field(name: str, *values: float) -> dict[str, object]:
        return {"name": name, "label": name, "values": [{"words": str(one), "number": one} for one in values]}

    fields = [
        field("training.num_generations", 8, 8, 4, 16), field("training.per_device_train_batch_size", 1, 2, 3, 4),
        field("training.gradient_accumulation_steps", 1, 1, 1, 2), field("training.learning_rate", 1, 2, 3, 4),
        field("training.beta", 0, 0, 0, 1), field("training.seed", 1, 2, 3, 4),
        field("rewards.brief.weight", 1, 1, 2, 3), field("training.max_steps", 5, 5, 5, 6),
        field("kl.target", 1, 1, 2, 2), field("training.run_name", 1, 2, 3, 4), field("training.top_k", 7, 7, 7, 7),
    ]  # fmt: skip
    runs = [{**RUNS[n % 2], "id": f"{n}", "final": None} for n in range(4)]
    order = page.evaluate("([runs, fields]) => suggested(runs, fields, 20)", [runs, fields])
    assert [name.split(".")[1] for name in order] == [
        "learning_rate", "num_generations", "target", "beta", "brief", "max_steps", "seed",
        "per_device_train_batch_size", "gradient_accumulation_steps",
    ]  # fmt: skip
    assert page.evaluate("([runs, fields]) => suggested(runs, fields, 2)", [runs, fields]) == order[:2]
    titles = "([runs, fields, chosen]) => axes(runs, fields, chosen).map(({ full }) => full)"
    chosen = ["training.seed", "training.gradient_accumulation_steps", "nothing"]
    assert page.evaluate(titles, [runs, fields, chosen]) == chosen[1::-1], "in the order of the table"
    assert page.evaluate(titles, [runs, fields, ["nothing"]])[0] == "training.num_generations"
    assert page.evaluate(titles, [runs, [fields[5]], []]) == [], "of runs that differ only in seeds"


def test_each_value_on_an_axis_is_written_and_one_that_is_sick_presses_no_other_down(bare_page: Page) -> None:
    page = bring(bare_page, "pages/compare/axes.js", "isLog", "place")
    ticks = """(values, far) => { const axis = { values, words: values.map(String), far };
      const { y, ticks } = place(axis);
      return { log: isLog(axis), y, words: ticks.map(([, words]) => words), at: ticks.map(([, , at]) => at) } }"""

    def placed(*values: float, far: float | None = None) -> dict[str, Any]:
        found: dict[str, Any] = page.evaluate(f"([values, far]) => ({ticks})(values, far ?? Infinity)", [values, far])
        apart = [high - low for low, high in itertools.pairwise(found["at"])]
        assert min(apart, default=1) >= 0.085 - 1e-9 and -1e-9 <= found["at"][0] <= found["at"][-1] <= 1 + 1e-9
        return found

    assert placed(1, 2.98, 2.99, 3, 1.01, 2)["words"] == ["1", "1.01", "2", "2.98", "2.99", "3"]
    assert placed(0.5, 0.50001)["words"] == ["0.5", "0.50001"]
    assert placed(7, 7, 7) == {"log": False, "y": [0.5] * 3, "words": ["7"], "at": [0.5]}
    assert "0.0003" in placed(5e-6, 3e-4, 5e-5, 0.05, 2e-4, 0.002, 1e-3, far=20)["words"]
    many = placed(*range(40))["words"]
    assert many[0] == "0" and many[-1] == "39" and len(many) > 8
    kl = placed(2.73, 0.023, 0.04, 0.17, 0, far=100)
    assert kl["log"] and kl["y"][0] == 1 and kl["y"][4] == 0 and 0.1 < kl["y"][1] < kl["y"][2] - 0.05 < kl["y"][3] - 0.1
    assert not placed(0.4, 0.01, far=100)["log"] and not placed(-1, 0.01, 5, far=100)["log"]


def test_what_was_logged_is_seen_beside_its_smoothed_line(bare_page: Page) -> None:
    page = bring(bare_page, "pages/compare/charts.js", "CompareChart")
    alpha = """many => { const chart = new CompareChart({ name: "kl", title: "kl" }, () => {});
      document.documentElement.style.setProperty("--r1", "#1d4ed8");
      const values = Array.from({ length: 40 }, (_, i) => i % 3);
      chart.view = { x: "step", smooth: true }; chart.series = Array(many).fill({ lines: [] });
      const line = { x: values, y: values, smooth: values, of: 40, per: 1, a_log: 1, attempt: 1 };
      const [faint] = chart.line({ colour: "--r1", dash: "solid", label: "a", key: "a" }, line);
      return Number(faint.line.color.match(/([\\d.]+)\\)$/)[1]) }"""
    assert page.evaluate(alpha, 3) >= 0.45 and page.evaluate(alpha, 12) >= 0.3


def test_runs_on_other_data_or_sampled_otherwise_have_no_best(bare_page: Page) -> None:
    bring(bare_page, "pages/compare/tables.js", "drawFinals")
    page = bring(bare_page, "pages/compare/measure.js", "apartWords", "bestWords", "differWords", "shortWords")
    marks = {"reward": "x", "solved": "s", "data": "d", "sampling": "p", "held_out": "h", "temperature": 1, "limit": 64}

    def runs(*ways: dict[str, object]) -> list[dict[str, object]]:
        return [{"id": f"{n}", "name": f"Fragen {n}", "there": True, "alike": marks | way, "kind": "ok",
                 "final": {"reward": float(n), "solved": n / 4, "held_out": float(n), "step": way.get("step", 60)}}
                for n, way in enumerate(ways)]  # fmt: skip

    best = """runs => { const table = document.createElement("table"); drawFinals(table, runs, "", () => {});
      return table.querySelectorAll(".best").length }"""
    apart = runs({}, {"data": "e", "temperature": 0.05, "step": 12}, {"limit": 48, "step": 15})
    said = ["These runs differ in data, temperature (1 and 0.05), length limit (64 and 48 tokens) and steps "
            "(60, 12 and 15), so their figures cannot be compared."]  # fmt: skip
    assert page.evaluate("runs => shortWords(runs)", apart) == said and page.evaluate(best, apart) == 0
    assert page.evaluate("runs => differWords(runs)", apart) == said[0]
    assert page.evaluate("runs => bestWords(runs)", apart) == ""
    partly = runs({}, {"step": 12}, {"data": "e", "limit": 48})
    assert page.evaluate("runs => differWords(runs)", partly).endswith(
        "so their figures can be compared only among runs that are alike in that. They have trained for different "
        "numbers of steps (60 and 12)."
    )
    assert page.evaluate("runs => runs.map(run => apartWords(runs, run))", partly) == [
        "", "", "not compared: other data and length limit",
    ]  # fmt: skip
    means = """([runs, ids]) => { const table = document.createElement("table");
      drawFinals(table, runs, "", () => {}, [{label: "beta 0", ids, colour: "--r1", dash: "solid"}]);
      return table.querySelector(".means").rows[0].cells[1].textContent }"""
    assert page.evaluate(means, [partly, ["0", "1"]]) == "mean of 2 runs"
    assert page.evaluate(means, [partly, ["0", "2"]]) == (
        "mean of 2 runsnot comparable: they differ in data and length limit"
    )
    figures = means.replace("cells[1]", "cells[3]")
    assert page.evaluate(figures, [partly, ["0", "1"]]) == "0.50 ± 0.71"
    assert page.evaluate(figures, [partly, ["0", "2"]]) == "–", "no mean of what is not comparable"
    other = runs({}, {"reward": "y"})
    assert page.evaluate(means, [other, ["0", "1"]]).endswith("reward not comparable: they differ in reward functions")
    longer = runs({}, {"step": 12})
    assert page.evaluate("runs => shortWords(runs)", longer) == [
        "Held-out reward, on prompts that are not trained on, best first: “Fragen 1”: 1.00, “Fragen 0”: 0.",
        "Solved in training at the end, best first: “Fragen 1”: 25\u202f%, “Fragen 0”: 0\u202f%.",
        "These runs have trained for different numbers of steps (60 and 12).",
    ]  # fmt: skip
    assert page.evaluate(best, longer) == 0, "the one that trained for 12 of 60 steps is ahead, for now"
    assert page.evaluate(best, runs({"step": 12}, {})) == 0, "and has no other beside it that trained as long"
    three = runs({"step": 12}, {}, {"step": 58})
    assert page.evaluate(best, three) == 3
    assert page.evaluate("runs => bestWords(runs)", three) == (
        "▲ the best at the end among runs that trained as long, where that is more than chance"
    )
    assert page.evaluate(best, runs({}, {"held_out": "other rows"})) == 2


def test_lines_that_lie_on_one_another_are_each_seen(bare_page: Page) -> None:
    page = bring(bare_page, "pages/compare/coinciding.js", "dashOf", "places")
    x = list(range(1, 21))
    same = {"x": x, "y": [n / 7 for n in x]}
    parts = {"x": x, "y": [*same["y"][:5], *[9.0] * 15]}
    at_first = {"x": x, "y": [same["y"][0], *[8.0] * 19]}
    other, none = {"x": x, "y": [3.0] * 20}, {"x": [], "y": []}
    found = page.evaluate("lines => places(lines)", [same, other, same, parts, at_first, none])
    assert [(one["nth"], one["of"]) for one in found] == [(0, 3), (0, 1), (1, 3), (2, 3), (0, 1), (0, 1)]
    dashes = page.evaluate("places => places.map(dashOf)", found)
    assert dashes == ["solid", "solid", "0px,8px,8px,8px", "0px,16px,8px,0px", "solid", "solid"]


def test_what_is_known_behind_the_last_log_is_drawn_faint_and_answers_the_pointer(bare_page: Page) -> None:
    """Of one log of ten steps the line went on to step 17 at its mean, with no faint one beneath it."""
    page = bring(bare_page, "pages/compare/charts.js", "CompareChart")
    drawn = """() => { const chart = new CompareChart({ name: "groups/tied", title: "tied" }, () => {});
      document.documentElement.style.setProperty("--r1", "#1d4ed8");
      const steps = Array.from({ length: 17 }, (_, i) => i + 1);
      const made = { x: steps, y: steps, steps, logs: [[0, 10]], upto: 10, begins: [], of: 17, per: 1, a_log: 10 };
      chart.plot.hidden = true;
      const series = [{ colour: "--r1", dash: "solid", label: "a", key: "a", lines: [{ ...made, attempt: 1 }] }];
      chart.view = { x: "step", smooth: true, log: false, zoom: null, end: 17 };
      chart.series = series.map((one) => ({ ...one, lines: one.lines.map((line) => ({ ...line, whole: line })) }));
      chart.dashes = new Map();
      return chart.figure().data.map(({ x, y, line, hovertemplate }) =>
        [line.width, x[y.findIndex((v) => v !== null)], x[y.findLastIndex((v) => v !== null)], !!hovertemplate]) }"""
    assert page.evaluate(drawn) == [[1, 1, 11, False], [1.8, 1, 10, True], [1, 11, 17, True]]
