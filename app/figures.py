"""What the charts show: curated panels over TRL's own metric names, and small inline drawings. Pure."""

from __future__ import annotations

import html
import math
import zlib
from collections.abc import Iterable
from typing import Any

# A panel draws the metrics of `keys` (or all that match `pattern`, with * for one name), each as one line.
Panel = dict[str, Any]

COLOURS = 8  # --r1 … --r8 of style.css
NEVER = (None, False, "no")  # an eval_strategy or logging_strategy; YAML reads a bare no as false
LOGGING_STEPS = 10  # GRPOConfig's default, for where the worker has not said it


def panel(
    title: str, keys: list[str], labels: list[str] | None = None, *, pattern: str = "", note: str = "", unit: str = "",
    instead: str = "", wait: str = "", smooth: bool = True,
) -> Panel:  # fmt: skip
    """One chart. `note` stands under its title, `unit` behind its latest value (“%” also multiplies by 100);
    `instead` replaces a chart that can never have data, `wait` says what it waits for beyond the first step; what has
    no noise is drawn without a smoothed line."""
    return {
        "title": title, "keys": keys, "labels": labels or keys, "pattern": pattern, "note": note, "unit": unit,
        "instead": instead, "wait": wait, "smooth": smooth,
    }  # fmt: skip


def sections(training: dict[str, Any] | None) -> list[dict[str, Any]]:
    """The board's sections for a run with these settings (GRPOConfig's names); None: not known."""
    beta = 1 if training is None else training.get("beta") or 0
    training = training or {}
    evaluates = training.get("eval_strategy") not in NEVER
    no_kl = "beta is 0, so there is no reference model and TRL logs no KL." if beta == 0 else ""
    learning = [
        panel("reward", ["reward"], note="mean over all completions of a step"),
        panel("rewards by function", [], pattern="rewards/*/mean", note="unweighted"),
    ]
    if evaluates:
        wait = f"Waiting for the first evaluation{first_evaluation(training)}."
        learning.append(
            panel("eval_reward", ["eval_reward"], ["held-out"], note="reward on held-out prompts", wait=wait)
        )
    return [
        {"title": "Learning", "panels": learning},
        {
            "title": "Stability",
            "panels": [
                panel("kl", ["kl"], instead=no_kl, note="distance from the reference model"),
                panel("entropy", ["entropy"], note="near 0: always the same answer"),
                panel(
                    "frac_reward_zero_std", ["frac_reward_zero_std"], unit="%", note="tied groups, which teach nothing"
                ),
                panel("grad_norm", ["grad_norm"]),
                panel(
                    "clip_ratio/region_mean", ["clip_ratio/region_mean"], unit="%", note="updates held back by clipping"
                ),
                panel("loss", ["loss"], note="near 0 is normal in GRPO"),
            ],
        },
        {
            "title": "Length",
            "panels": [
                panel(
                    "completions/mean_length",
                    ["completions/mean_length", "completions/mean_terminated_length"],
                    ["all", "terminated"],
                    note="tokens",
                ),
                panel(
                    "completions/clipped_ratio", ["completions/clipped_ratio"], unit="%", note="truncated at the limit"
                ),
            ],
        },
        {
            "title": "Speed",
            "panels": [
                panel("step_time", ["step_time"], unit=" s"),
                panel("num_tokens", ["num_tokens"], note="tokens seen so far", smooth=False),
                panel("learning_rate", ["learning_rate"], smooth=False),
            ],
        },
    ]


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


def identity(run_id: str) -> str:
    """The CSS variable of a run's colour: the same on every page, for ever."""
    return f"--r{zlib.crc32(run_id.encode('utf-8', 'replace')) % COLOURS + 1}"


def sparkline(values: Iterable[float | None], colour: str, width: int = 120, height: int = 26) -> str:
    """A small inline SVG of a curve; an empty string where fewer than two points are known."""
    points = [value for value in values if value is not None]
    if len(points) < 2:
        return ""
    low, high = min(points), max(points)
    spread = (high - low) or 1.0
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


def median(values: list[float]) -> float | None:
    """The middle value, or the mean of the two in the middle; None of nothing."""
    if not values:
        return None
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
