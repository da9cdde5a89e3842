"""What the charts show: curated panels over TRL's own metric names, and small inline drawings. Pure."""

import functools
import html
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis.tie_words import NO_ANSWER, NONE_RIGHT, TIE_WORDS, tie_words
from groupwise.storage.spec.words.number_words import count_words, join_words

# What the metrics of groups that Groupwise works out (storage/record/group_metrics.py) are called in lists of metrics.
_GROUP_METRICS = {
    "groups/tied": "tied groups",
    "groups/all_low": f"tied groups: {NONE_RIGHT}, or {TIE_WORDS['all_low']}",
    "groups/all_high": f"tied groups: {TIE_WORDS['all_high']}",
    "groups/tied_other": f"tied groups: {TIE_WORDS['other']}",
    "groups/no_answer": f"tied groups: {NO_ANSWER}",
    "groups/bearing": "groups with a learning signal",
    "groups/spread": "reward spread within groups",
    "groups/best": "best reward of each group",
    "groups/worst": "worst reward of each group",
    "groups/solved": "solved completions",
    "groups/any_solved": "groups with ≥ 1 solved",
    "groups/alike": "identical completions within groups",
    "groups/repetition": "repetition in long completions",
}

# A panel draws the metrics of `keys` (or all that match `pattern`, with * for one name), each as one line.
Panel = dict[str, Any]

NEVER = (None, False, "no")  # an eval_strategy or logging_strategy; YAML reads a bare no as false
# Their sum is the reward only where each of them has scored all completions.
BY_FUNCTION = "unweighted, over the completions that each scored"
LOGGING_STEPS = 10  # GRPOConfig's default, for where the worker has not said it


class Right(NamedTuple):
    """Of the charts of what is right: what stands under their title and in their place, and `teller`, as in `panel`;
    `by`: the reward function that says it, empty where there are several or none is known."""

    note: str
    instead: str
    teller: str
    by: str = ""


def panel(
    title: str, keys: list[str | tuple[str, ...]], labels: list[str] | None = None, *, pattern: str = "",
    note: str = "", unit: str = "", instead: str = "", wait: str = "", smooth: bool = True,
    spread: tuple[str, ...] = (), stack: bool = False, colours: tuple[str | None, ...] = (), teller: str = "",
    rare: tuple[str, ...] = (), span: str = "", functions: Sequence[str] = (), log_every: int | None = None,
) -> Panel:  # fmt: skip
    """One chart. A key that is several names is the first of them that the record has.

    `note` stands under its title, `unit` behind its latest value (“%” also multiplies by 100); `instead` replaces a
    chart that can never have data, `wait` says what it waits for beyond the first step, and `missed` takes its place
    where the run is over; what has no noise is drawn without a smoothed line. `spread`: the metric that says how far
    the values lie around the line. `stack`: the metrics after the first are the parts that make it up. `colours`: CSS
    variables, in place of the usual ones. `functions`: the reward functions whose colours the first metrics have.
    `teller`: the reward function that says what is right, where a run may not bear that out. `rare`: the metrics that
    are drawn and named only where one of their values is above 0. `span`: what a point is the mean of, before the logs
    themselves tell it. `log_every`: after how many steps TRL first logs these, which it does not as training stops.
    """
    names = [[key] if isinstance(key, str) else list(key) for key in keys]
    return {
        "title": title, "keys": names, "labels": labels or [either[0] for either in names], "pattern": pattern,
        "note": note, "unit": unit, "instead": instead, "wait": wait, "missed": NEVER_EVALUATED if wait else "",
        "smooth": smooth, "spread": list(spread), "stack": stack, "colours": list(colours), "teller": teller,
        "rare": list(rare), "span": span, "functions": list(functions), "log_every": log_every,
    }  # fmt: skip


def metric_label(name: str) -> str:
    """What a person calls a metric that Groupwise works out of groups; "" of any other, which has its own name."""
    label = _GROUP_METRICS.get(name.removeprefix("eval_"), "")
    return f"held-out: {label}" if label and name.startswith("eval_") else label


NEVER_EVALUATED = "This run ended before its first evaluation."
NOTHING_RIGHT = "No reward function of this run checks the answer: all look at form or length."


def sections(
    training: dict[str, Any] | None,
    *,
    steps: int = 0,
    kl_target: bool = False,
    weights_move: bool = False,
    scored_by: Sequence[str] | None = None,
    teller: str = "",
    tells_right: bool = True,
) -> list[dict[str, Any]]:
    """The board's sections for a run with these settings (GRPOConfig's names); None: not known.
    `steps`: how many it has, or is to have, 0: not known; `kl_target`: its beta follows the KL; `weights_move`: weights
    of reward functions change while it trains; `scored_by`: its reward functions that say what is right, of each stage,
    None where that is not known; `teller`: the only one, where a run may not bear that out; `tells_right`: it does, as
    far as is known."""
    span = "the steps since the point before" if training is None else span_of_log(training, steps)
    seldom = None if training is None else first_log(training)
    beta = 1 if training is None else training.get("beta") or 0
    training = training or {}
    wait = ""
    instead = NOTHING_RIGHT if scored_by == () else ""
    by = scored_by[0] if scored_by and len(scored_by) == 1 else ""
    right = Right("" if instead else solved_words(scored_by or ()), instead, teller, by)
    if training.get("eval_strategy") not in NEVER:
        wait = f"Waiting for the first evaluation{first_evaluation(training)}."
    made = {
        "Learning": learning_panels(wait, right, span, weights_move),
        "Held-out evaluation": held_out_panels(wait, right) if wait else [],
        "Stability": stability_panels(beta == 0, kl_target, tells_right, seldom),
        "Length": length_panels(), "Speed": speed_panels(seldom),
    }  # fmt: skip
    return [{"title": title, "panels": panels} for title, panels in made.items() if panels]


def solved_words(names: Sequence[str]) -> str:
    """What “solved” is the share of, by these functions."""
    if not names:
        return "scored correct by the reward function that checks the answer"
    by = join_words([f"“{visible_text(name)}”" for name in names])
    return f"scored correct by {'each stage’s own function: ' if len(names) > 1 else ''}{by}"


def learning_panels(wait: str, right: Right, span: str, weights_move: bool = False) -> list[Panel]:
    """`wait`: what held-out reward waits for; empty in a run that never evaluates. `right`: what is said of the share
    solved, and what of it in its place. `span`: what a point of the reward is the mean of."""
    panels = [
        panel(
            "reward", ["reward"], note="shaded: ± the spread within its groups", span=span,
            spread=("groups/spread", "reward_std"),
        ),
        panel("rewards by function", [], pattern="rewards/*/mean", note=BY_FUNCTION),
        solved_panel("solved", "", right),
    ]  # fmt: skip
    if wait:
        note = "on prompts that are not trained on"
        panels.append(panel("held-out reward", ["eval_reward"], ["held-out"], note=note, wait=wait))
    if weights_move:
        note = "what each of these counts in the reward"
        panels.append(panel("weights", [], pattern="rewards/*/weight", note=note, smooth=False))
    return panels


def solved_panel(title: str, mode: str, right: Right, wait: str = "") -> Panel:
    """Draw the share solved, in the colour of the function that says it; that of groups then in one that no function
    has. `mode`: what the metrics' names begin with."""
    return panel(
        title, [f"{mode}groups/solved", f"{mode}groups/any_solved"], ["completions", "groups with ≥ 1 solved"],
        unit="%", wait=wait, note=right.note, instead=right.instead, teller=right.teller,
        functions=(right.by,) if right.by else (), colours=(None, "--ink-2") if right.by else (),
    )  # fmt: skip


def first_log(training: dict[str, Any]) -> int | None:
    """The step of the first log that is one by these settings; None where that is not known, or not by steps."""
    if (training.get("logging_strategy") or "steps") != "steps":
        return None
    return 1 if training.get("logging_first_step") else every(training, "logging_steps", training.get("max_steps"))


def span_of_log(training: dict[str, Any], most: int = 0) -> str:
    """What a log is of, as these settings say: “a step”, “10 steps”, “an epoch”; of no more steps than there are
    (`most`; 0: not known), as TRL logs when it stops, too."""
    strategy = training.get("logging_strategy") or "steps"
    if strategy == "epoch":
        return "an epoch"
    steps = every(training, "logging_steps", training.get("max_steps"))
    if steps is None:
        return "the steps since the point before"
    steps = min(steps, most or steps)
    return count_words(steps, "step") if steps > 1 else "a step"


def held_out_panels(wait: str, right: Right) -> list[Panel]:
    """Draw what evaluations log. `wait`: what they wait for; `right`: as for `learning_panels`."""
    return [
        panel("held-out rewards by function", [], pattern="eval_rewards/*/mean", note=BY_FUNCTION, wait=wait),
        solved_panel("held-out solved", "eval_", right, wait),
        panel(
            "held-out length", ["eval_completions/mean_length", "eval_completions/mean_terminated_length"],
            ["all", "terminated"], note="tokens", wait=wait,
        ),
    ]  # fmt: skip


def stability_panels(
    no_kl: bool, kl_target: bool = False, tells_right: bool = True, log_every: int | None = None
) -> list[Panel]:
    """`no_kl`: beta is 0; `kl_target`: it follows the KL, towards a target; `tells_right`: a reward function says what
    is right; `log_every`: as in `panel`."""
    instead = "beta is 0, so there is no reference model and TRL logs no KL." if no_kl else ""
    return [
        panel(
            "KL", ["kl", "kl/target"] if kl_target else ["kl"], ["KL", "target"] if kl_target else None,
            instead=instead, note="distance from the reference model",
        ),
        *([panel("beta", ["beta"], note="the KL weight: it follows the KL", smooth=False)] if kl_target else []),
        panel("entropy", ["entropy"], note="near 0: always the same answer"),
        panel(
            "tied groups",
            [
                ("groups/tied", "frac_reward_zero_std"), "groups/all_low", "groups/all_high", "groups/tied_other",
                "groups/no_answer",
            ],
            ["tied", *tie_words(tells_right=tells_right).values()], unit="%",
            note="all rewards alike: no learning signal; top score: the highest seen, where scores differ", stack=True,
            colours=("--ink-2", "--low", "--high", "--ink-3", "--r4"), rare=("groups/no_answer",),
        ),
        panel(
            "gradient norm", ["grad_norm"], note="how large the gradient is; jumps are a warning", log_every=log_every
        ),
        panel(
            "clip ratio", ["clip_ratio/region_mean", "clip_ratio/low_mean", "clip_ratio/high_mean"],
            ["either", "low", "high"], unit="%", note="updates held back by clipping",
        ),
        panel("loss", ["loss"], note="near 0 is normal in GRPO", log_every=log_every),
    ]  # fmt: skip


def length_panels() -> list[Panel]:
    """Draw how long completions are, and how many are cut off."""
    return [
        panel(
            "length", ["completions/mean_length", "completions/mean_terminated_length"],
            ["all", "terminated"], note="tokens of a completion",
        ),
        panel("truncated", ["completions/clipped_ratio"], unit="%", note="completions cut off at the length limit"),
    ]  # fmt: skip


def speed_panels(log_every: int | None = None) -> list[Panel]:
    """Draw what a step's time goes to, and what it takes of the machine. `log_every`: as in `panel`."""
    return [
        panel(
            "step time", ["step_time", "time/generation", "time/rewards", "time/update"],
            ["a step", "generation", "rewards", "update"], unit=" s", stack=True,
            colours=("--ink-2", "--r1", "--r5", "--r3"),
        ),
        panel("tokens per second", ["time/tokens_per_second"], note="completion tokens, while generating"),
        panel("memory", ["system/memory_share"], unit="%", note="in use at most; the GPU's, if any"),
        panel("learning rate", ["learning_rate"], smooth=False, log_every=log_every),
    ]  # fmt: skip


def every(training: dict[str, Any], name: str, total: Any = 0) -> int | None:
    """Steps between two logs (`logging_steps`) or evaluations (`eval_steps`); None where that is not known.

    As transformers.TrainingArguments has it: no eval_steps means logging_steps, under 1 is a share of the `total`.
    """
    value = training.get(name)
    if name == "eval_steps" and not value:
        return every(training, "logging_steps", total)
    value = LOGGING_STEPS if value is None else value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        return None
    if value >= 1:
        return int(value)
    return math.ceil(value * total) if isinstance(total, int) and total > 0 else None


def first_evaluation(training: dict[str, Any]) -> str:
    """“, at step 20”: when the first evaluation comes; empty where that is not known."""
    if training.get("eval_on_start"):
        return ", before the first step"
    delay = training.get("eval_delay") or 0
    delay = delay if isinstance(delay, (int, float)) and delay < math.inf else 0
    if training.get("eval_strategy") == "epoch":
        epoch = math.ceil(delay)
        return f", at the end of {'the first epoch' if epoch <= 1 else f'epoch {epoch}'}"
    steps = every(training, "eval_steps", training.get("max_steps"))
    return f", at step {steps * max(1, math.ceil(delay / steps))}" if steps else ""


def first_metrics(training: dict[str, Any], total: int, running: bool) -> str:
    """When a run that has done steps logs its first metrics, or why it ended with none; empty where not known."""
    strategy = training.get("logging_strategy", "steps")
    if strategy in NEVER:
        return "No metrics are logged while it trains: logging_strategy is no."
    steps = every(training, "logging_steps", total)
    if strategy == "epoch":
        often, first = "at the end of each epoch", "with the first"
    elif steps is not None and steps > 1 and not training.get("logging_first_step"):
        often, first = f"every {steps} steps", f"at step {steps}"
    else:
        return ""
    if running:
        return f"Metrics are logged {often}; the first come {first}."
    return f"Training ended before the first metrics: they are logged {often}."


def sparkline(values: Iterable[float | None], colour: str, width: int = 120, height: int = 26) -> str:
    """A small inline SVG of a curve; an empty string where fewer than two points are known."""
    return _draw_sparkline(tuple(value for value in values if value is not None), colour, width, height)


# What a small curve spans at least, as a share of its largest value: it has no axis, so that a reward which falls from
# 1.99 to 1.96 would read as a crash if it went from top to bottom.
LEAST_SPAN = 0.1


@functools.lru_cache(maxsize=2048)  # a list of many runs is drawn again and again, and few of their curves change
def _draw_sparkline(points: tuple[float, ...], colour: str, width: int, height: int) -> str:
    if len(points) < 2:
        return ""
    least, most = min(points), max(points)
    spread = max(most - least, LEAST_SPAN * max(abs(least), abs(most))) or 1.0
    low = (least + most - spread) / 2
    across, up = width / (len(points) - 1), height - 6
    path = " ".join(
        f"{index * across:.1f},{height - 3 - (value - low) / spread * up:.1f}" for index, value in enumerate(points)
    )
    label = html.escape(f"reward from {points[0]:.2f} to {points[-1]:.2f}")
    return (
        f'<svg class="spark" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{label}"><polyline points="{path}" fill="none" stroke="var({colour})" stroke-width="1.5" '
        f'stroke-linejoin="round"/></svg>'
    )
