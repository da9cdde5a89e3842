"""Cases for the doctor: what sick runs show, and what comes near a verdict and is none."""

import math
from dataclasses import replace
from typing import Any

from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.analysis.doctor.evidence import Evidence, Function, Sample
from groupwise.storage.spec import spec
from tests.support.doctor import (
    answered,
    answering,
    compared,
    cut_or_ended,
    drawn,
    healthy,
    line,
    longer_pays,
    paid_by_length,
    said,
    scored,
)

STAY = line(0.5, 0.5, 0.02)
FLAT = {"reward": line(1.0, 1.0, 0.03), "rewards/format/mean": STAY, "rewards/correctness/mean": STAY}


def drawn_scores() -> list[Sample]:
    """Sixteen groups of four texts twice, of which “mine” gives one 0 and the other 1."""
    return [Sample(group, at, 1, f"{group} {at // 2}", at % 2, "2+2?", 10, False, {"mine": float(at % 2)})
            for group in range(16) for at in range(8)]  # fmt: skip


def follows_kl(kl: Curve, weight: Curve, *, least: float = 0.001, ended: bool = False, **curves: Curve) -> Evidence:
    """A run whose KL weight follows a KL of 0.05, with 0.1 as its highest."""
    follows = spec.KlSpec(target=0.05, least=least, most=0.1)
    return healthy(kl=follows, ended=ended, curves={"kl": kl, "beta": weight, **curves})


NO_GROUPS: dict[str, Any] = {
    f"groups/{name}": None for name in ("tied", "all_low", "all_high", "spread", "solved", "any_solved", "alike")
}

NEVER_RIGHT = {name: line(0, 0) for name in ("groups/solved", "groups/any_solved", "rewards/correctness/mean")}

# What each sick run shows; the verdict's key and level.
SICK: dict[str, tuple[Evidence, str, str]] = {
    "tied, all failed": (
        healthy(curves={**FLAT, "groups/tied": line(0.8, 0.95), "groups/all_low": line(0.8, 0.93)}),
        "too_hard", "problem"),
    "tied, all at the highest from the start": (
        healthy(curves={**FLAT, "groups/tied": line(0.7, 0.75), "groups/all_high": line(0.7, 0.75)}),
        "too_easy", "warning"),
    "tied in between": (
        healthy(curves={**FLAT, "groups/tied": line(0.2, 0.95), "groups/all_high": line(0, 0)}), "tied", "problem"),
    "ties as TRL says them": (
        healthy(curves={**FLAT, **NO_GROUPS, "frac_reward_zero_std": line(0.7, 0.8)}), "tied", "warning"),
    "never solved": (
        healthy(curves={"groups/solved": line(0, 0), "groups/any_solved": line(0, 0),
                        "rewards/correctness/mean": line(0, 0)},
                functions={"correctness": Function(1.0, {"ok": 256}, 0, 0, 0, (0, 0))}), "too_hard", "warning"),
    "form is earned, the answer never": (
        healthy(rewards=[spec.RewardSpec(name="format", weight=1.5), spec.RewardSpec(name="correctness")],
                curves={"rewards/correctness/mean": line(0, 0)},
                functions={"format": Function(1.5, {"ok": 256}, 0, 1, 0.4, (0, 1)),
                           "correctness": Function(1.0, {"ok": 256}, 0, 0, 0, (0, 0))}), "too_hard", "warning"),
    "solved from the start": (
        healthy(curves={"groups/solved": line(0.95, 0.97), "groups/all_high": line(0.5, 0.6),
                        "groups/tied": line(0.5, 0.6)}), "too_easy", "warning"),
    "collapse of the spread": (healthy(curves={"groups/spread": line(0.7, 0.02)}), "collapse", "problem"),
    "rewards became alike, the words did not": (
        healthy(curves={"groups/spread": line(0.7, 0.02), "groups/alike": line(0.55, 0.04)}),
        "same_reward", "problem"),
    "collapse of the words": (
        healthy(curves={"groups/alike": line(0.1, 0.9), "groups/solved": line(0.3, 0.3)}), "collapse", "warning"),
    "KL far away": (healthy(curves={"kl": line(0.01, 0.9)}), "kl", "warning"),
    "KL far above its target, the weight at its most": (
        follows_kl(line(0.02, 0.4), line(0.02, 0.1)), "kl_target", "warning"),
    "KL above its target, the weight is too slow": (
        follows_kl(line(0.02, 0.3), line(0.02, 0.05)), "kl_target", "warning"),
    "KL far under its target, the reward stays": (
        follows_kl(line(0.004, 0.004, 0.0005), line(0.02, 0.01), least=0.01,
                   **{**FLAT, "reward": line(1.0, 1.0, 0.3)}), "kl_target", "warning"),
    "the same text is scored by chance": (
        healthy(first=drawn_scores(), last=drawn_scores(),
                functions={"mine": Function(1.0, {"ok": 256}, 0, 1, 0.5, (0, 1))}), "by_chance", "warning"),
    "KL doubling": (healthy(curves={"kl": drawn(lambda x: 0.35 * math.exp(8 * (x - 1)))}), "kl", "warning"),
    "reward flat": (healthy(curves={**FLAT, "kl": line(0.005, 0.05)}), "flat", "warning"),
    "held-out falls": (
        healthy(curves={"eval_reward": Curve.of(range(5, 65, 5), [1.2] * 4 + [1.3] * 2 + [1.0, 0.9, 0.8] + [0.7] * 3)}),
        "held_out", "warning"),
    "length explodes": (healthy(curves={**FLAT, "kl": line(0.005, 0.05), "completions/mean_length": line(60, 300, 5)}),
                        "length", "warning"),
    "long but better": (healthy(curves={"completions/mean_length": line(60, 300, 5)}), "length", "suspicion"),
    "cut off": (healthy(curves={"completions/clipped_ratio": line(0.1, 0.5)}), "truncated", "warning"),
    "cut off, which is what earns": (
        healthy(curves={"completions/clipped_ratio": line(0.05, 0.75)}, last=cut_or_ended(1.4, 0.7)),
        "runs_on", "problem"),
    "mostly cut off": (healthy(curves={"completions/clipped_ratio": line(0.9, 0.9)}), "truncated", "problem"),
    "entropy collapse": (
        healthy(curves={"entropy": line(1.0, 0.01), "reward": line(1.0, 1.1, 0.01)}), "entropy", "warning"),
    "one function outweighs the other": (
        healthy(functions={"format": Function(1.0, {"ok": 256}, 0, 100, 40.0, (0, 100))}, high=101.0,
                curves={"reward": line(20, 60, 2), "rewards/format/mean": line(20, 60, 2)}), "dominating", "warning"),
    "a constant function": (
        healthy(functions={"format": Function(1.0, {"ok": 256}, 0.5, 0.5, 0.0, (0.5, 0.5))},
                curves={"rewards/format/mean": line(0.5, 0.5)}), "constant", "warning"),
    "a failing function": (
        healthy(functions={"format": Function(1.0, {"ok": 200, "error": 56}, 0, 1, 0.2, message="<b>no</b>")}),
        "failing", "warning"),
    "a function that only fails": (
        healthy(functions={"format": Function(1.0, {"timeout": 256})}), "failing", "problem"),
    "much is clipped": (healthy(curves={"clip_ratio/region_mean": line(0.3, 0.45)}), "clipping", "warning"),
    "gradient spikes": (
        healthy(curves={"grad_norm": Curve.of(range(1, 61), [9.0 if n % 5 == 0 else 0.4 for n in range(60)])}),
        "spikes", "warning"),
    "weights that are lost, whatever the prompts": (
        healthy(ended=True, broke_off=True, weights_lost=True, training={"learning_rate": 0.1},
                curves={**FLAT, "groups/tied": line(0.9, 0.95), "groups/all_low": line(0.9, 0.93)}),
        "not_finite", "problem"),
    "no numbers": (healthy(not_finite={"loss": 59, "grad_norm": 60}), "not_finite", "problem"),
    "memory": (healthy(curves={"system/memory_share": line(0.9, 0.99)}), "memory", "warning"),
    "slow with a GPU": (
        healthy(curves={"step_time": line(40, 40), "time/generation": line(35, 35), "time/update": line(4, 4)},
                gpus=[{"name": "NVIDIA L4"}], extras={"vllm": "1"}), "slow", "warning"),
    "slow without one": (healthy(curves={"step_time": line(50, 50)}), "slow", "warning"),
    "rate too high": (
        healthy(curves={"reward": drawn(lambda x: 1.0 + 0.6 * math.sin(x * math.pi)), "kl": line(0.01, 0.4)}),
        "learning_rate_high", "problem"),
    "rate too low": (healthy(curves={**FLAT, "kl": line(0.0, 0.0004)}), "learning_rate_low", "warning"),
    "rate tiny, no KL": (
        healthy(curves={**FLAT, "kl": None, "learning_rate": line(1e-8, 1e-8)}), "learning_rate_low", "warning"),
    "rate far below a usual one, no KL": (
        healthy(curves={**FLAT, "kl": None, "learning_rate": line(1e-6, 1e-6)}, training={"learning_rate": 1e-6}),
        "learning_rate_low", "warning"),
    "a warm-up that outlasts the run": (
        healthy(training={"warmup_steps": 100_000},
                curves={**FLAT, "kl": line(0.0, 0.0), "learning_rate": line(1e-9, 6e-8)}), "warm_up_long", "warning"),
    "repeats for reward": (healthy(curves={"groups/repetition": line(0.3, 0.8)}), "hacking_repetition", "suspicion"),
    "one against the others": (
        healthy(curves={"rewards/correctness/mean": line(0.6, 0.3, 0.02), "rewards/format/mean": line(0.2, 1.0, 0.02)}),
        "hacking_one", "suspicion"),
    "one text at temperature 0.01": (
        healthy(training={"temperature": 0.01}, last=scored(format=[1.0] * 4, text="4")), "temperature_low", "problem"),
    "one text at top_p 0.05": (
        healthy(training={"top_p": 0.05}, last=scored(format=[1.0] * 4, text="4")), "sampling_narrow", "problem"),
    "noise at temperature 4": (
        healthy(training={"temperature": 4.0}, curves={"entropy": line(4.5, 4.4)}), "temperature_high", "problem"),
    "groups of two": (healthy(first=[], last=scored(format=[1.0, 0.0])), "group_small", "warning"),
    "held by beta": (
        healthy(training={"beta": 10.0}, curves={**FLAT, "kl": drawn(lambda x: 0.002 if x > 0.02 else 0)}),
        "beta_high", "warning"),
    "no answers to compare with": (
        healthy(functions={"correctness": Function(1.0, {"ok": 128, "none": 128}, 0, 1, 0.4, (0, 1))}),
        "unscored", "problem"),
    "one that never scored, beside one that scores all": (
        healthy(functions={"correctness": Function(0.2, {"none": 256})},
                last=scored(format=[1.0, 0.0, 1.0, 0.0], correctness=[None] * 4)), "unscored", "warning"),
    "two that cancel out": (
        healthy(last=scored(format=[1.0, 0.0, 1.0, 0.0], correctness=[0.0, 1.0, 0.0, 0.9])), "conflict", "warning"),
    "paid by length": (
        healthy(last=paid_by_length([10, 20, 30, 40], lambda tokens: tokens / 20)), "length_alone", "warning"),
    "a function of one's own that looks at no answer": (
        healthy(rewards=[spec.RewardSpec(name="digits"), spec.RewardSpec(name="format", weight=0.0)],
                low=0.1, high=0.9, first=[],
                functions={"digits": Function(1.0, {"ok": 256}, 0.1, 0.9, 0.2, (0.1, 0.9), reads_no_column=True),
                           "format": Function(0.0), "correctness": Function(0.0)},
                curves={"reward": line(0.3, 0.7, 0.02), "rewards/digits/mean": line(0.3, 0.7, 0.02),
                        "rewards/format/mean": None, "rewards/correctness/mean": None, "groups/solved": None,
                        "groups/any_solved": None},
                last=[replace(one, answer="4") for one in scored(digits=[0.2, 0.8, 0.4, 0.6])]),
        "form_alone", "warning"),
    "nothing but a penalty on repetition": (
        healthy(rewards=[spec.RewardSpec(name=name) for name in ("soft_overlong_punishment", "repetition_penalty")],
                functions={"repetition_penalty": Function(1.0, {"ok": 256}, -0.3, 0.0, 0.1, (-0.3, 0.0))},
                low=-0.3, high=0.3),
        "penalty_alone", "warning"),
    "right, and scored wrong": (
        healthy(curves=NEVER_RIGHT, functions={"correctness": Function(1.0, {"ok": 256}, 0, 0, 0, (0, 0))},
                last=answering("49,0", ["49", "48"])), "scored_wrong", "problem"),
    "formulas for answers": (
        healthy(first=[], last=compared(lambda group: f"={group}+0"), curves=NEVER_RIGHT,
                functions={"correctness": Function(1.0, {"ok": 256}, 0, 0, 0, (0, 0))}),
        "answers_not_plain", "problem"),
    "nothing said from the start, so no prompt is solved": (
        healthy(first=said("", [0.0] * 32), last=said(" \n", [0.0] * 32),
                curves={"groups/tied": line(0.97, 0.98), "groups/all_low": line(0.97, 0.98),
                        "groups/solved": line(0, 0), "groups/any_solved": line(0, 0), "reward": line(0, 0)}),
        "empty", "problem"),
    "tags stuffed": (healthy(last=said("<think></think>" * 20)), "hacking_pattern", "suspicion"),
    "nothing written": (healthy(last=said("  \n ")), "hacking_pattern", "suspicion"),
    "right answers cost": (
        healthy(functions={"correctness": Function(-1.0, {"ok": 256}, 0.0, 1.0, 0.4, (0.0, 1.0))},
                curves={"groups/solved": line(0.55, 0.05), "rewards/correctness/mean": line(0.55, 0.05)}),
        "punished", "problem"),
    "answers of other prompts": (
        healthy(last=answered(), curves={"groups/solved": line(0.02, 0.01), "groups/any_solved": line(0.1, 0.06),
                                         "rewards/correctness/mean": line(0.02, 0.01)}), "hardly_right", "warning"),
    "the prompt for an answer": (
        healthy(first=[], last=compared(lambda group: f"{group}+20?"), curves=NEVER_RIGHT,
                functions={"correctness": Function(1.0, {"ok": 256}, 0, 0, 0, (0, 0))}), "hardly_right", "problem"),
    "one answer for all prompts": (
        healthy(first=[], last=compared(lambda group: "2"),
                curves={"groups/solved": line(0.02, 0.01), "groups/any_solved": line(0.1, 0.06),
                        "rewards/correctness/mean": line(0.02, 0.01)}), "hardly_right", "problem"),
    "two dead functions": (
        healthy(rewards=[spec.RewardSpec(name="near"), spec.RewardSpec(name="inside")], low=-0.975, high=-0.975,
                functions={"near": Function(1.0, {"ok": 256}, -0.975, -0.975, 0, (-0.975, -0.975)),
                           "inside": Function(1.0, {"ok": 256}, 0, 0, 0, (0, 0)),
                           "format": Function(0.0), "correctness": Function(0.0)},
                curves={"rewards/near/mean": line(-0.975, -0.975), "rewards/inside/mean": line(0, 0),
                        "rewards/format/mean": None, "rewards/correctness/mean": None, "reward": line(-0.975, -0.975),
                        "groups/tied": line(1, 1), "groups/all_low": line(1, 1), "groups/solved": line(0, 0),
                        "groups/any_solved": line(0, 0), "kl": None},
                last=scored(near=[-0.975] * 8, inside=[0.0] * 8)), "constant", "problem"),
    "a KL whose gradient is the larger": (
        healthy(training={"beta": 10.0}, curves={
            **FLAT, "kl": drawn(lambda x: 0.02 * (x - 1 / 60)),
            "grad_norm": drawn(lambda x: 5.0 if x > 0.02 else 0.7)}),
        "beta_high", "warning"),
    "length beside what is right": (
        healthy(first=[], last=longer_pays(), curves={
            "rewards/longer/mean": line(0.3, 0.8, 0.02), "rewards/format/mean": None,
            "reward": line(0.9, 1.5, 0.03), "completions/mean_length": line(16, 39, 1)},
            rewards=[spec.RewardSpec(name="longer"), spec.RewardSpec(name="correctness")],
            functions={"longer": Function(1.0, {"ok": 256}, 0.1, 1.0, 0.3, (0.1, 1.0))}), "length_pays", "suspicion"),
    "the prompt copied": (
        healthy(last=said("x" * 50 + "!", prompt="x" * 50)), "hacking_pattern", "suspicion"),
}  # fmt: skip

# What comes near a verdict and is none.
WELL: dict[str, Evidence] = {
    "ties half of the time": healthy(curves={"groups/tied": line(0.4, 0.6)}),
    "learned: tied at the top": healthy(
        curves={"groups/tied": line(0.0, 0.99), "groups/all_high": line(0, 0.99), "groups/solved": line(0.4, 1.0),
                "groups/spread": line(0.7, 0.0), "entropy": line(1.0, 0.01),
                "reward": drawn(lambda x: min(2.0, 1 + 1.4 * x))}),
    "a target with another scale": healthy(
        curves={"groups/solved": line(0, 0), "groups/any_solved": line(0, 0)},
        functions={"correctness": Function(1.0, {"ok": 256}, 0.0, 0.6, 0.2, (0.0, 0.5))}),
    "spread falls as it learns": healthy(curves={"groups/spread": line(0.8, 0.3, 0.03)}),
    "rewards of 0 to 0.01": healthy(
        curves={"groups/spread": line(0.004, 0.003), "reward": line(0.002, 0.006, 0.0003)}, low=0.0, high=0.01),
    "rewards of −500 to 500": healthy(
        curves={"reward": line(-100, 200, 20), "groups/spread": line(300, 200)}, low=-500, high=500),
    "KL is near its target": follows_kl(line(0.03, 0.08, 0.01), line(0.02, 0.03)),
    "KL is on its way down to its target": follows_kl(drawn(lambda x: 0.35 - 0.2 * x), line(0.02, 0.09)),
    "KL is on its way up to its target": follows_kl(line(0.0, 0.02), line(0.02, 0.002)),
    "KL is under its target, and the reward rises": follows_kl(line(0.01, 0.01, 0.001), line(0.02, 0.001), ended=True),
    "KL that is far from no target": healthy(curves={"kl": line(0.01, 0.4), "beta": line(0.02, 0.02)}),
    "KL grows as usual": healthy(curves={"kl": line(0.02, 0.12, 0.01)}),
    "KL begins at nothing": healthy(curves={"kl": drawn(lambda x: 0.15 * x**4)}),
    "a noisy reward that rises": healthy(curves={"reward": line(1.0, 1.5, 0.25)}),
    "a reward at its ceiling": healthy(curves={"reward": line(1.95, 1.96, 0.01), "groups/tied": line(0.5, 0.5)}),
    "held-out as noisy as few prompts make it": healthy(
        curves={"eval_reward": Curve.of(range(10, 70, 10), [1.2, 1.5, 1.3, 1.6, 1.4, 1.5])}),
    "long from the start": healthy(curves={"completions/mean_length": line(280, 300)}),
    "twice as long, but short": healthy(curves={"completions/mean_length": line(12, 50)}),
    "cut off at first, and no more": healthy(
        training={"max_completion_length": 48}, curves={"completions/clipped_ratio": drawn(lambda x: 0.3 * (x < 0.1))},
        functions={"format": Function(0.1, {"ok": 256}, 0.0, 0.0, 0.0, (0.0, 0.0))}),
    "a few cut off": healthy(curves={"completions/clipped_ratio": line(0.05, 0.2)}),
    "a function that is learned": healthy(functions={"format": Function(1.0, {"ok": 256}, 1.0, 1.0, 0.0, (0.0, 1.0))}),
    "a function without weight": healthy(
        functions={"format": Function(0.0, {"ok": 256}, 0.5, 0.5, 0.0, (0.5, 0.5))},
        curves={"rewards/format/mean": line(0.5, 0.5)}),
    "one failure of hundreds": healthy(functions={"format": Function(1.0, {"ok": 255, "error": 1}, 0, 1, 0.2, (0, 1))}),
    "no score is no failure": healthy(functions={"format": Function(0.4, {"ok": 56, "none": 200}, 0, 1, 0.2, (0, 1))}),
    "each function has rows of its own": healthy(
        functions={"format": Function(1.0, {"ok": 128, "none": 128}, 0, 1, 0.2, (0, 1)),
                   "correctness": Function(1.0, {"ok": 128, "none": 128}, 0, 1, 0.4, (0, 1))},
        last=scored(format=[1.0, None], correctness=[None, 1.0])),
    "one spike": healthy(curves={"grad_norm": Curve.of(range(1, 61), [0.4] * 59 + [30.0])}),
    "a slow step on a CPU": healthy(curves={"step_time": line(20, 20)}),
    "repetition, but the reward stays": healthy(curves={"groups/repetition": line(0.75, 0.8)}),
    "half of them empty from the start": healthy(
        first=said("", [0.0] * 16) + said("4", [2.0, 0.0] * 8), last=said("", [0.0] * 16) + said("4", [2.0, 0.0] * 8)),
    "empty, and it earns nothing": healthy(last=said("", [0.0] * 32) + said("<answer>4</answer>")),
    "a short answer": healthy(last=said("4")),
    "longer, and that is all that differs": healthy(last=paid_by_length([10, 20, 30, 40], lambda tokens: tokens > 25)),
    "one length, and nearly always the same": healthy(
        last=[*paid_by_length([10, 20, 30, 40], lambda tokens: tokens / 20)[:-1],
              Sample(99, 0, 1, "y", 0.6, "2+2?", 10)]),
    "answers with units that completions say in full": healthy(
        last=answering("49 km", ["<answer>49 km</answer>", "<answer>48 km</answer>"])),
    "one answer for all prompts, and right": healthy(last=compared(lambda group: "2", right=4)),
    "prompts that are copied": healthy(last=compared(lambda group: f"{group}+20?", right=4)),
    "a heavy KL, and larger gradients as it learns": healthy(
        training={"beta": 1.0}, curves={"grad_norm": drawn(lambda x: 5.0 if x > 0.02 else 0.7)}),
    "plain answers, and many wrong": healthy(last=answering("49", ["49", "48"])),
    "cool, but of many words": healthy(training={"temperature": 0.2}, last=scored(format=[1.0] * 4)),
    "one answer, and right": healthy(last=scored(format=[1.0] * 4, text="4")),
    "groups of three": healthy(last=scored(format=[1.0, 0.0, 0.0])),
    "few tokens to draw, and many words": healthy(training={"top_k": 1}, last=scored(format=[1.0] * 4)),
    "hot, and it still makes sense": healthy(training={"temperature": 1.5}, curves={"entropy": line(0.9, 0.5)}),
    "a heavy KL, and it learns": healthy(training={"beta": 2.0}),
    "two that differ": healthy(last=scored(format=[1.0, 0.0, 1.0, 0.0], correctness=[0.0, 1.0, 1.0, 0.0])),
    "a falling reward after weights moved": healthy(
        rewards=[spec.RewardSpec(name="correctness", adapt=spec.AdaptSpec())],
        curves={"reward": drawn(lambda x: 1.0 + 0.6 * math.sin(x * math.pi))}),
}  # fmt: skip
