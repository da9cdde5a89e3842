"""What each run of the corpus is trained with, drawn by its kind and number: the kind is the one thing that is wrong.

Every run begins from settings that are sound (`_sound`), drawn anew for each; its kind then changes what makes it sick,
and nothing else. The same kind and number are always the same settings.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from typing import Any

STEPS = 30
COMPLETIONS = 32  # a step
Plain = dict[str, Any]  # a spec as plain values

# Own reward functions, as people write them.
CONSTANT = '''
def steady(completions, *, value: float = 1.0, **kwargs):
    """Gives every completion the same."""
    return [value for _ in completions]
'''
FLAKY = '''
import random

def flaky(completions, answer, *, failing: float = 0.5, seed: int = 0, **kwargs):
    """Whether the answer is right; raises in some calls."""
    step = kwargs["trainer_state"].global_step
    if random.Random(f"{seed} {step}").random() < failing:
        raise ValueError("could not read the answer")
    return [float(str(right) in text_of(completion)) for completion, right in zip(completions, answer)]

def text_of(completion):
    return completion if isinstance(completion, str) else completion[-1]["content"]
'''
OWN = {"steady": CONSTANT, "flaky": FLAKY}


def _choose(rng: random.Random, *among: Any) -> Any:
    """Of the random module only random() is promised to stay the same over versions of Python."""
    return among[int(rng.random() * len(among))]


def _between(rng: random.Random, low: float, high: float) -> float:
    """A number from a range, in three digits, each factor as likely as another."""
    return float(f"{low * (high / low) ** rng.random():.3g}")


def _sound(rng: random.Random) -> Plain:
    """A run that nothing is wrong with."""
    lora = rng.random() < 0.25
    rewards = [{"name": "format", "weight": _between(rng, 0.5, 1.5)}, {"name": "correctness"}]
    training = {
        "per_device_train_batch_size": COMPLETIONS,
        "num_generations": _choose(rng, 4, 8, 8, 16),
        "max_completion_length": _choose(rng, 48, 48, 56, 64),
        "learning_rate": _between(rng, 3e-4, 1e-3) if lora else _between(rng, 4e-5, 2.5e-4),
        "lr_scheduler_type": _choose(rng, "constant", "constant", "linear", "cosine"),
        "beta": _choose(rng, 0.0, 0.001, 0.02, 0.04),
        "temperature": _choose(rng, 0.8, 0.9, 1.0, 1.0, 1.0, 1.1, 1.2),
        "loss_type": _choose(rng, "dapo", "dapo", "grpo", "dr_grpo", "bnpo"),
        "scale_rewards": _choose(rng, "group", "group", "batch"),
        "epsilon": 0.2,
        "num_iterations": 1,
        "max_grad_norm": 1.0,
        "max_steps": STEPS,
        "logging_steps": 1,
        "save_strategy": "no",
        "bf16": False,
        "gradient_checkpointing": False,
        "seed": int(rng.random() * 1000),
    }
    rank = _choose(rng, 8, 16, 32)
    adapter = {"r": rank, "lora_alpha": 2 * rank, "target_modules": "all-linear"} if lora else None
    data = {"source": "task:arithmetic", "limit": 2000}
    return {"rewards": rewards, "training": training, "lora": adapter, "data": data, "launch": {"reward_failures": 0}}


def _train(plain: Plain, **settings: Any) -> None:
    plain["training"] |= settings


def healthy(plain: Plain, rng: random.Random) -> None:
    """Nothing."""


def rate_high(plain: Plain, rng: random.Random) -> None:
    """A learning rate tens of times too high."""
    plain["lora"] = None
    _train(plain, learning_rate=_between(rng, 4e-3, 4e-2))


def rate_raised(plain: Plain, rng: random.Random) -> None:
    """A learning rate two to five times the highest usual one."""
    plain["lora"] = None
    _train(plain, learning_rate=_between(rng, 7e-4, 1.5e-3), beta=_choose(rng, 0.0, 0.02, 0.04, 0.1))


def rate_low(plain: Plain, rng: random.Random) -> None:
    """A learning rate at which nothing moves."""
    _train(plain, learning_rate=_between(rng, 1e-8, 7e-7), beta=_choose(rng, 0.001, 0.02, 0.04, 0.0))


def beta_high(plain: Plain, rng: random.Random) -> None:
    """A KL weight (beta) of 2 to 30."""
    _train(plain, beta=_between(rng, 2.0, 30.0))


def constant_reward(plain: Plain, rng: random.Random) -> None:
    """A function that gives every completion the same, alone or beside others."""
    value = _choose(rng, 0.5, 1.0, 2.0, -1.0)
    steady: Plain = {"name": "steady", "weight": _between(rng, 0.5, 2), "parameters": {"value": value}}
    never: Plain = {"name": "keywords", "parameters": {"forbidden": ["sorry"]}}
    chosen = _choose(rng, steady, steady, never)
    plain["rewards"] = _choose(rng, [chosen], [chosen], [chosen, {"name": "correctness"}])


def too_hard(plain: Plain, rng: random.Random) -> None:
    """Sums and products that the model has never seen."""
    plain["data"] |= {"source": _choose(rng, "file:products.jsonl", "file:hundreds.jsonl")}
    plain["rewards"] = plain["rewards"] if rng.random() < 0.4 else [{"name": "correctness"}]


def too_easy(plain: Plain, rng: random.Random) -> None:
    """Answers that may be off by 1 to 3: nearly all are right from the start."""
    right = {"name": "correctness", "parameters": {"tolerance": _choose(rng, 1.0, 2.0, 3.0)}}
    plain["rewards"] = [right]


def temperature_low(plain: Plain, rng: random.Random) -> None:
    """A temperature below 0.1."""
    _train(plain, temperature=_between(rng, 0.005, 0.08))


def temperature_high(plain: Plain, rng: random.Random) -> None:
    """A temperature of 2.5 to 8."""
    _train(plain, temperature=_between(rng, 2.5, 8))


def length_alone(plain: Plain, rng: random.Random) -> None:
    """A reward for length and nothing else."""
    longer = {"mode": "longer", "low": _choose(rng, 0, 1, 2), "high": _choose(rng, 48, 64, 96)}
    shorter = {"mode": "shorter", "low": _choose(rng, 0, 1, 2), "high": _choose(rng, 44, 56, 64)}
    target = {"mode": "target", "target": _choose(rng, 16, 24, 48), "tolerance": _choose(rng, 40, 60)}
    plain["rewards"] = [{"name": "length", "parameters": _choose(rng, longer, longer, shorter, target)}]


def group_small(plain: Plain, rng: random.Random) -> None:
    """Groups of two."""
    _train(plain, num_generations=2)


def limit_short(plain: Plain, rng: random.Random) -> None:
    """A limit of 3 to 20 tokens, in which the form that is rewarded does not fit."""
    _train(plain, max_completion_length=_choose(rng, 3, 4, 5, 6, 8, 12, 16, 20))


def failing(plain: Plain, rng: random.Random) -> None:
    """A function that raises in many of its calls."""
    flaky = {"failing": _between(rng, 0.25, 1.0), "seed": int(rng.random() * 1000)}
    function: Plain = {"name": "flaky", "parameters": flaky}
    plain["rewards"] = _choose(rng, [function], [plain["rewards"][0], function])


def conflict(plain: Plain, rng: random.Random) -> None:
    """Two functions that reward opposites."""
    tags = {"name": "format", "weight": _between(rng, 0.9, 1.1)}
    bare = {"name": "keywords", "parameters": {"forbidden": ["<think>"], "whole_words": False}}
    short = {"name": "length", "parameters": {"mode": "shorter", "low": 3, "high": _choose(rng, 40, 44)}}
    plain["rewards"] = [tags, _choose(rng, bare, short)]
    if rng.random() < 0.4:
        plain["rewards"].append({"name": "correctness", "weight": 0.2})


def drowned(plain: Plain, rng: random.Random) -> None:
    """One function that weighs 50 to 300 times as much as the other."""
    heavy = int(rng.random() * 2)
    plain["rewards"][heavy]["weight"] = _between(rng, 50, 300)
    plain["rewards"][1 - heavy]["weight"] = 1.0


def unscored(plain: Plain, rng: random.Random) -> None:
    """Rows without an answer to compare with."""
    plain["data"] |= {"source": _choose(rng, "file:unanswered.jsonl", "file:half_answered.jsonl")}
    plain["rewards"] = plain["rewards"] if rng.random() < 0.7 else [{"name": "correctness"}]


Draw = Callable[[Plain, random.Random], None]
# kind → what changes the settings, and the verdict that names it; None: none may be said.
KINDS: dict[str, tuple[Draw, str | None]] = {
    "healthy": (healthy, None),
    "rate_high": (rate_high, "learning_rate_high"),
    "rate_raised": (rate_raised, "learning_rate_high"),
    "rate_low": (rate_low, "learning_rate_low"),
    "beta_high": (beta_high, "beta_high"),
    "constant_reward": (constant_reward, "constant"),
    "too_hard": (too_hard, "too_hard"),
    "too_easy": (too_easy, "too_easy"),
    "temperature_low": (temperature_low, "temperature_low"),
    "temperature_high": (temperature_high, "temperature_high"),
    "length_alone": (length_alone, "length_alone"),
    "group_small": (group_small, "group_small"),
    "limit_short": (limit_short, "truncated"),
    "failing": (failing, "failing"),
    "conflict": (conflict, "conflict"),
    "drowned": (drowned, "dominating"),
    "unscored": (unscored, "unscored"),
}
EACH, HEALTHY = 6, 32  # runs of each kind of sickness, and without one


def drawn(kind: str, number: int) -> Plain:
    """The spec of a run, as plain values."""
    rng = random.Random(f"{kind} {number}")
    plain = _sound(rng)
    KINDS[kind][0](plain, rng)
    return {"name": f"{kind}-{number}", "model": {"id": "starter"}, **plain}


def all_runs() -> list[tuple[str, int]]:
    """(kind, number) of each run of the corpus: every kind once before any comes again."""
    sick = [kind for kind in KINDS if kind != "healthy"]
    rounds = [[(kind, number) for kind in sick] for number in range(EACH)]
    well = [("healthy", number) for number in range(HEALTHY)]
    share = -(-HEALTHY // EACH)
    return [run for at, part in enumerate(rounds) for run in [*part, *well[at * share : (at + 1) * share]]]


def is_held_out(kind: str, number: int) -> bool:
    """Whether a run is of the half that no rule is tuned by: of each kind, the half with the lowest hashes."""
    count = HEALTHY if kind == "healthy" else EACH

    def digest(one: int) -> str:
        return hashlib.sha256(f"{kind}-{one}".encode()).hexdigest()

    return number in sorted(range(count), key=digest)[: count // 2]
