"""The Statistics of a run: ties, solve rates, distributions and agreement of its groups, one panel after the other."""

import math
from collections.abc import Callable
from typing import Any

import gradio as gr

from groupwise.app.pages.run import statistics_panels as panels
from groupwise.app.pages.run.empty_state import why_empty
from groupwise.app.pages.run.solver import solved_criterion
from groupwise.app.pages.run.statistics_panels import Asked
from groupwise.app.ui.live import Payload, Unanswerable, answer, is_ongoing, live, record_of, run_of, text
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis.statistics import reading
from groupwise.storage.analysis.statistics.reading import Statistics
from groupwise.storage.registry import registry

MODES = ("train", "eval")
POLL, POLL_ENDED = 2000, 10_000  # ms
PANELS: dict[str, Callable[[Statistics, Asked], dict[str, Any]]] = {
    "ties": panels.tie_shares,
    "spread": panels.group_spread,
    "pass": panels.pass_at_k_curves,
    "best": panels.best_mean_worst,
    "prompts": panels.prompt_table,
    "reward": panels.reward_histograms,
    "advantage": panels.advantage_histograms,
    "scores": panels.score_histograms,
    "lengths": panels.length_against_reward,
    "correlation": panels.score_correlation,
    "share": panels.variance_share,
}
SECTIONS = (
    ("Learning signal", (
        ("ties", "tied groups", "Groups whose completions all scored the same give no learning signal. Few is good; "
         "none right, or all at lowest score (the lowest seen in the run): too hard; all at top score (the highest "
         "seen, where scores differ): too easy, where no more can be earned; tied otherwise: neither."),
        ("spread", "spread within groups", "How far apart the rewards of one group are (standard deviation). Above 0.1 "
         "is good; falling to 0, no learning signal is left."),
    )),
    ("Solving", (
        ("pass", "pass@k", "The chance that at least one of k completions is right. Rising is good; where a large k is "
         "far above k = 1, the model can, but not yet reliably."),
        ("best", "best, mean and worst of a group", "The reward of each group's best, mean and worst completion, "
         "averaged. The mean nearing the best is good."),
        ("prompts", "solve rate by prompt", "The share of a prompt's completions that are right, over time. "
         "A click opens this prompt over time."),
    )),
    ("Distributions", (
        ("reward", "rewards over the steps", "Each column is what the completions of those steps got. Good: more "
         "of them in higher rows over time. A click finds its completions."),
        ("advantage", "advantages over the steps", "How far above or below its group each completion is. A wide column "
         "is good; only 0: no learning signal. A click finds those steps' completions."),
        ("scores", "scores by function", "What each function gave in the newest groups. Several values are good: a "
         "function that always gives the same gives no learning signal. A click finds the completions."),
        ("lengths", "length against reward", "The newest completions by tokens and reward. A slope: longer ones score "
         "higher or lower, as a function scores length, or for what they hold, such as the format. A click finds the "
         "completions."),
    )),
    ("Functions", (
        ("correlation", "agreement of functions", "Correlation of two functions' scores: 1 they agree, 0 they are "
         "unrelated, below 0 they disagree."),
        ("share", "share of the reward's variance", "Whose scores the differences in reward come from; together 100 %. "
         "One near 100 % decides alone; below 0 it works against the rest."),
    )),
)  # fmt: skip
# What the title of a section and the words under a panel's are for groups that nothing is learnt from.
HELD_OUT = {
    "Learning signal": "Ties",
    "ties": "Groups whose completions all scored the same. None right, or all at lowest score: these prompts are "
    "still too hard; all at top score (the highest seen, where scores differ): nothing to gain, where no more can be "
    "earned; tied otherwise: neither.",
    "spread": "How far apart the rewards of one group are (standard deviation): near 0, it always answers alike.",
    "pass": "The chance that at least one of k completions is right, at each evaluation. Rising is good; where a large "
    "k is far above k = 1, the model can, but not yet reliably.",
    "reward": "Each column is what the completions of an evaluation got. Good: more of them in higher rows over time. "
    "A click finds its completions.",
    "advantage": "How far above or below its group each completion is. A click finds those of this evaluation.",
    "scores": "What each function gave in the last evaluation. A click finds the completions.",
    "lengths": "The completions of the last evaluation by tokens and reward. A slope: longer ones score higher or "
    "lower, as a function scores length, or for what they hold, such as the format. A click finds the completions.",
}
ORDERS = {"hardest": "hardest", "easiest": "easiest", "improved": "most improved", "forgotten": "forgotten"}


@answer
def statistics_summary(payload: Payload) -> dict[str, Any]:
    """What there is to draw: `mark` changes when something new was recorded, and when the run ends; `wait` says why
    there is nothing."""
    run, mode = run_of(payload), mode_of(payload)
    alive = is_ongoing(run)
    out: dict[str, Any] = {"poll": POLL if alive else POLL_ENDED, "wait": "", "mark": ""}
    try:
        record = record_of(run)
    except Unanswerable:
        return out | {"wait": why_no_statistics(run, mode)}
    with reading.open_statistics(record, mode) as statistics:
        mark = statistics.mark()
        functions = [name for _, name, _ in statistics.functions()]
    if mark is None:
        return out | {"wait": why_no_statistics(run, mode)}
    name, threshold = solved_criterion(run, functions)
    choices = [*([] if name else [["", "no function"]]), *([one, visible_text(one)] for one in functions)]
    return out | {
        "mark": mark if alive else f"{mark} over",
        "functions": choices,
        "solved": {"name": name, "threshold": threshold},
    }


def why_no_statistics(run: registry.Run, mode: str) -> str:
    """Why there is nothing to count."""
    stored = "No group is stored in this run's record, so there is nothing to count."
    ended = "This run ended before its first group was scored, so there is nothing to count. Its log says why."
    return why_empty(run, mode, stored, ended)


@answer
def draw_panel(payload: Payload) -> dict[str, Any]:
    """One panel (`panel`, a name of PANELS), as plain data: `says` in words, `wait` where it has nothing yet."""
    run, mode = run_of(payload), mode_of(payload)
    draw = PANELS.get(text(payload, "panel"))
    if draw is None:
        raise Unanswerable("There is no such panel.")
    with reading.open_statistics(record_of(run), mode) as statistics:
        return draw(statistics, read_request(run, mode, statistics, payload))


def mode_of(payload: Payload) -> str:
    """The mode that a payload names, a name of MODES; train where it names none."""
    mode = text(payload, "mode")
    return mode if mode in MODES else "train"


def read_request(run: registry.Run, mode: str, statistics: Statistics, payload: Payload) -> Asked:
    """What is asked of a panel; a function or a threshold that is none is the run's own."""
    functions = {name: number for number, name, _ in statistics.functions()}
    name, threshold = solved_criterion(run, list(functions))
    wanted, _, limit = text(payload, "solved").rpartition(":")
    if wanted in functions:
        name, threshold = wanted, _number(limit, threshold)
    order = text(payload, "order")
    return Asked(
        mode, functions.get(name), name, threshold, order if order in ORDERS else "hardest", not is_ongoing(run)
    )


def _number(words: str, default: float) -> float:
    try:
        value = float(words)
    except ValueError:
        return default
    return value if math.isfinite(value) else default


def figure(name: str, title: str, about: str) -> str:
    """One panel's place. Its picture is described by the words beneath its title."""
    more = _orders() if name == "prompts" else ""
    return (
        f'<figure class="panel chart {name}" data-panel="{name}"><figcaption><span class="about"><h3>{title}</h3>'
        f"{by_mode('span', about, HELD_OUT.get(name, about), 'xs mut')}</span></figcaption>"
        f'<p class="s says"></p>{more}'
        f'<p class="wait s mut">Counting…</p><div class="drawn"></div></figure>'
    )


def by_mode(tag: str, train: str, held_out: str, classes: str = "") -> str:
    """Words that differ between training and held-out; statistics.js shows those of what is chosen."""
    if train == held_out:
        return f'<{tag} class="{classes}">{train}</{tag}>'
    return (
        f'<{tag} class="{classes}" data-of="train">{train}</{tag}>'
        f'<{tag} class="{classes}" data-of="eval" hidden>{held_out}</{tag}>'
    )


def _orders() -> str:
    buttons = "".join(
        f'<button data-order="{key}" aria-pressed="false">{words}</button>' for key, words in ORDERS.items()
    )
    return f'<span class="switch s orders" role="group" aria-label="Which prompts first">{buttons}</span>'


def template() -> str:
    """The part's HTML: each section with its panels."""
    sections = "".join(
        f"<section>{by_mode('h2', title, HELD_OUT.get(title, title))}"
        f'<div class="grid two">{"".join(figure(*one) for one in of)}</div></section>'
        for title, of in SECTIONS
    )
    return (
        '<div class="row tools"><span class="switch s" role="group" aria-label="Which groups">'
        '<button data-mode="train" aria-pressed="true">training</button>'
        '<button data-mode="eval" aria-pressed="false">held-out</button></span>'
        '<span class="row tight s solved" hidden '
        'title="A completion counts as right where this reward function gives it this score or more"'
        '><label for="gw-solved">A completion is right if</label>'
        '<select class="input" id="gw-solved" aria-label="Reward function that says whether a completion is right">'
        '</select> gives at least <input class="input" type="text" inputmode="decimal" autocomplete="off" '
        'aria-label="Score from which on it is right" aria-describedby="gw-no-score">'
        '<span class="problem" role="alert" id="gw-no-score" hidden></span>'
        '<button class="btn s meant" hidden></button>'
        '<button class="link usual" hidden>as the run counts it</button></span></div>'
        f'<p class="s mut nothing" role="status"></p><div class="sections" hidden>{sections}</div>'
    )


def statistics() -> gr.HTML:
    """The Statistics part of a run's page."""
    return live(
        "pages/run/statistics", statistics_summary, draw_panel, template=template(),
        elem_id="part-statistics", elem_classes=["gw-part", "gw-part-statistics"],
    )  # fmt: skip
