"""Evidence made for the doctor's tests: a run that is well, and what a test changes of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.analysis.doctor.evidence import Evidence, Function, Sample
from groupwise.storage.library.models.learning_rates import STARTER_PARAMETERS
from groupwise.storage.spec.spec import RewardSpec

STEPS = 60
REWARDS = (RewardSpec(name="format"), RewardSpec(name="correctness", weight=1.0))
TRAINING = {
    "learning_rate": 1e-4, "beta": 0.02, "num_generations": 8, "per_device_train_batch_size": 64,
    "gradient_accumulation_steps": 1, "max_completion_length": 48, "temperature": 1.0, "max_grad_norm": 1.0,
    "bf16": False, "gradient_checkpointing": False,
}  # fmt: skip


def line(start: float, end: float, noise: float = 0.0, *, steps: int = STEPS, seed: int = 0) -> Curve:
    """A straight line with some noise, logged at every step."""
    rng = random.Random(seed)
    return drawn(lambda share: start + (end - start) * share + rng.gauss(0, noise), steps)


def drawn(of: Callable[[float], float], steps: int = STEPS) -> Curve:
    """A curve by the share of the run that is done."""
    return Curve.of(range(1, steps + 1), [of(step / steps) for step in range(1, steps + 1)])


def healthy(**changed: Any) -> Evidence:
    """What a quickstart that learns looks like. `curves` and `functions` are added to its own (a curve of None goes);
    anything else replaces."""
    rate = changed.get("training", {}).get("learning_rate", TRAINING["learning_rate"])
    curves: dict[str, Curve | None] = {
        "reward": line(1.0, 1.7, 0.08), "kl": line(0.005, 0.03, 0.003), "entropy": line(0.11, 0.035, 0.004),
        "loss": line(0.0, 0.003, 0.001), "grad_norm": line(0.5, 0.45, 0.08), "learning_rate": line(rate, rate),
        "completions/mean_length": line(18, 40, 1), "completions/clipped_ratio": line(0.002, 0.002),
        "clip_ratio/region_mean": line(0, 0.01), "step_time": line(0.5, 0.5, 0.02), "groups/tied": line(0, 0.2, 0.05),
        "groups/all_low": line(0, 0), "groups/all_high": line(0, 0.18, 0.04), "groups/spread": line(0.76, 0.41, 0.04),
        "groups/solved": line(0.55, 0.75, 0.05), "groups/any_solved": line(0.95, 0.98), "groups/alike": line(0.7, 0.82),
        "rewards/format/mean": line(0.5, 0.95, 0.03), "rewards/correctness/mean": line(0.5, 0.75, 0.05),
        "system/memory_share": line(0.4, 0.45), "time/generation": line(0.3, 0.3), "time/update": line(0.2, 0.2),
        "time/rewards": line(0.001, 0.001), **changed.pop("curves", {}),
    }  # fmt: skip
    functions = {
        "format": Function(1.0, {"ok": 256}, 0.0, 1.0, 0.22, (0.0, 1.0)),
        "correctness": Function(1.0, {"ok": 256}, 0.0, 1.0, 0.43, (0.0, 1.0)),
    } | changed.pop("functions", {})
    known: dict[str, Any] = {
        "training": TRAINING | changed.pop("training", {}), "rewards": REWARDS, "functions": functions, "low": 0.0,
        "high": 2.0, "step": STEPS, "total": STEPS,
        "parameters": STARTER_PARAMETERS, "first": said("4"), "last": said("<think>4</think>"), **changed,
    }  # fmt: skip
    return Evidence(curves={name: curve for name, curve in curves.items() if curve is not None}, **known)


def said(text: str, rewards: Sequence[float] = (2.0, 0.0) * 16, prompt: str = "2+2?") -> list[Sample]:
    """Completions that all say this."""
    return [Sample(1, index, 1, text, reward, prompt) for index, reward in enumerate(rewards)]


def scored(*, groups: int = 16, text: str = "", **scores: Sequence[float | None]) -> list[Sample]:
    """Groups of completions with these scores of each function, those of a group one after the other; a reward is
    their sum. `text`: what all of them say, if not each something else."""
    size = len(next(iter(scores.values())))
    found = []
    for at in range(groups * size):
        given = {name: values[at % size] for name, values in scores.items()}
        some = [value for value in given.values() if value is not None]
        reward = sum(some) if some else None
        found.append(Sample(at // size, at % size, 1, text or f"{at}", reward, "2+2?", 10, False, given))
    return found


def paid_by_length(lengths: Sequence[int], pays: Callable[[int], float]) -> list[Sample]:
    """Sixteen groups of completions of these lengths, each of which earns what its length does."""
    return [
        Sample(group, at, 1, "x" * tokens, pays(tokens), "2+2?", tokens)
        for group in range(16)
        for at, tokens in enumerate(lengths)
    ]


def cut_or_ended(of_cut: float, of_ended: float) -> list[Sample]:
    """Sixteen groups in which every other completion is cut off, with what those earn and the others."""
    return [
        Sample(group, at, 1, f"{group} {at}", (of_cut, of_ended)[at % 2] + at / 100, "2+2?", 48, at % 2 == 0)
        for group in range(16)
        for at in range(8)
    ]


def answering(answer: str, texts: Sequence[str]) -> list[Sample]:
    """Sixteen groups of completions that say these in turn, where this is the answer; “correctness” gives 1 to those
    whose text has it, as it stands."""
    return [
        Sample(group, at, 1, text, float(answer in text) + group % 2 * at / 100, "48+1?", 10, False,
               {"correctness": float(answer in text)}, answer)
        for group in range(16)
        for at, text in enumerate([*texts] * 2)
    ]  # fmt: skip


def answered(agree: int = 6) -> list[Sample]:
    """Sixteen groups of eight completions, of which so many end in the same answer: another one in each group."""
    return [
        Sample(group, at, 1, f"<think>{at}</think><answer>{20 + group if at < agree else at}</answer>", at % 2, "2+2?")
        for group in range(16)
        for at in range(8)
    ]


def longer_pays() -> list[Sample]:
    """Sixteen groups in which “longer” pays by the length alone, and “correctness” by something else."""
    found = []
    for sample in paid_by_length([10, 15, 20, 25, 30, 35, 40, 45], lambda tokens: tokens / 45):
        right = float((sample.grp + sample.idx) % 3 == 0)
        scores = {"longer": sample.reward, "correctness": right}
        found.append(replace(sample, reward=(sample.reward or 0.0) + right, scores=scores))
    return found


def compared(answer: Callable[[int], str], right: int = 0) -> list[Sample]:
    """Sixteen groups of eight completions whose row's answer is this of their number, each a sum; “correctness” calls
    so many of a group right."""
    return [
        replace(one, prompt=f"{one.grp}+20?", answer=answer(one.grp), scores={"correctness": float(one.idx < right)})
        for one in answered()
    ]
