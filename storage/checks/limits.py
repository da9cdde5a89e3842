"""Numbers that TRL takes and no run can work with: said before a run fails at its first step. Pure."""

import math
from collections.abc import Callable
from typing import Any

from groupwise.storage.checks.values import default_fix
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models import learning_rates
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import WARNING, Fix, Problem

# Setting → the least that makes sense, and whether that itself is too little.
LEAST: dict[str, tuple[float, bool]] = {
    "learning_rate": (0, False), "beta": (0, False), "epsilon": (0, False), "max_grad_norm": (0, False),
    "weight_decay": (0, False), "warmup_steps": (0, False), "num_iterations": (1, False), "save_steps": (0, True),
    "logging_steps": (0, True), "eval_steps": (0, True), "max_completion_length": (1, False), "top_p": (0, True),
    "top_k": (0, False),
}  # fmt: skip
SEEDS, MOST_SEED = ("seed", "data_seed"), 2**32 - 1  # numpy's, which transformers sets, too
USUAL_SEED = 42  # TrainingArguments' own
TOO_LARGE = "should be below"  # by which such a problem is known
MOST = 10**9  # steps, tokens or epochs: from here on it is a slip of the hand, and nothing is counted with it
# Shares, and from where to where above 1 they are per cent: a top_p of 2 is none that anybody means.
SHARES = {
    "training.top_p": ("should be above 0 and at most 1", 50, 100),
    "training.min_p": ("should be between 0 and 1", 1, 50),
    "lora.lora_dropout": ("should be at least 0 and below 1", 1, 99),
}
# How often something is done, in steps: the setting that says whether steps are counted, and TRL's own value of it.
EVERY = {
    "save_steps": ("save_strategy", "steps"), "logging_steps": ("logging_strategy", "steps"),
    "eval_steps": ("eval_strategy", "no"),
}  # fmt: skip
# Of LoRA: what a number has to be, in words, and whether one is that.
LORA: dict[str, tuple[str, Callable[[float], bool]]] = {
    "r": ("should be at least 1.", lambda value: value >= 1), "lora_alpha": ("should be above 0.", lambda v: v > 0),
    "lora_dropout": ("should be at least 0 and below 1.", lambda value: 0 <= value < 1),
}  # fmt: skip
EPSILON = 0.2  # TRL's own
USUAL_BETA = 0.02  # as the preflight advises


def usual_fixes_of(path: str, spec: RunSpec) -> tuple[Fix, ...]:
    """What is offered in place of a setting's default, where that says nothing to a person; empty of any other."""
    if path == "training.max_steps":
        return (Fix("Use 60", {path: 60}, fallback=True), Fix("Leave it to the epochs", {}, (path,)))
    if path == "training.learning_rate":
        parameters = learning_rates.parameters_of(spec.model, None)
        rate = learning_rates.usual_rates(bool(spec.lora), parameters).usual
        return (Fix(f"Use {learning_rates.as_typed(rate)}", {path: rate}, fallback=True),)
    return ()


def check_limits(spec: RunSpec, offer: Offer) -> list[Problem]:
    """What is below the least, or beyond all measure."""
    found = [_problem(name, value, spec, offer) for name, value in spec.training.items() if _is_number(value)]
    return [problem for problem in [*found, *_length(spec), _clip_range(spec), *_lora(spec, offer)] if problem]


def _lora(spec: RunSpec, offer: Offer) -> list[Problem]:
    """What PEFT refuses of LoRA's numbers, in its own words, or what would train nothing."""
    found = []
    for name, (words, is_fit) in LORA.items():
        value, path = (spec.lora or {}).get(name, math.nan), f"lora.{name}"
        if _is_number(value) and not (math.isnan(value) or is_fit(value)):
            default = default_fix(path, (offer.lora or {}).get(name) or {})
            found.append(_share(path, value, (default,)) or Problem(path, words, fixes=(default,)))
    return found


def _share(path: str, value: float, otherwise: tuple[Fix, ...]) -> Problem | None:
    """Of a share above 1: what it is as per cent, where that is probably meant; None of any other setting."""
    if path not in SHARES or value <= 1:
        return None
    words, low, high = SHARES[path]
    if not low <= value <= high:
        return Problem(path, f"{words}.", fixes=otherwise)
    meant = value / 100
    return Problem(
        path, f"{words}; {value:g} % is {meant:g}.", fixes=(Fix(f"Use {meant:g}", {path: meant}), *otherwise)
    )


def _clip_range(spec: RunSpec) -> Problem | None:
    """A range that lets a probability rise less than it may fall."""
    high, low = spec.training.get("epsilon_high"), spec.training.get("epsilon", EPSILON)
    if not _is_number(high) or not _is_number(low) or high >= low:
        return None
    message = f"is below epsilon ({low:g}): a token may become less likely by more than it may become likelier."
    fixes = (Fix(f"Use {low:g}", {"training.epsilon_high": low}), Fix("Leave it out", {}, ("training.epsilon_high",)))
    return Problem("training.epsilon_high", message, level=WARNING, fixes=fixes)


def _usual_or_default(path: str, spec: RunSpec, offer: Offer) -> tuple[Fix, ...]:
    """Of beta first what holds the model near where it began: at the default nothing does, which is advised against."""
    field = (offer.training or {}).get(path.removeprefix("training."))
    default = default_fix(path, field) if field else Fix("Use the default", {}, (path,), fallback=True)
    if path == "training.beta":
        return (Fix(f"Use {USUAL_BETA:g}", {path: USUAL_BETA}, fallback=True), default)
    return usual_fixes_of(path, spec) or (default,)


def _problem(name: str, value: float, spec: RunSpec, offer: Offer) -> Problem | None:
    path, (least, excluded) = f"training.{name}", LEAST.get(name, (-math.inf, False))
    fix = _usual_or_default(path, spec, offer)
    if value < least or (excluded and value == least):
        return Problem(path, f"should be {'above' if excluded else 'at least'} {least:g}.", fixes=fix)
    if name in SEEDS and not 0 <= value <= MOST_SEED:
        return Problem(path, f"should be from 0 to {MOST_SEED:,}.", fixes=fix)
    if _is_between_steps(name, value, spec):
        near = tuple(Fix(f"Use {steps}", {path: steps}) for steps in (math.floor(value), math.ceil(value)))
        message = f"should be a whole number of steps, or a share of the run below 1, not {value:g}."
        return Problem(path, message, fixes=(*near, *fix))
    if share := _share(path, value, fix):
        return share
    if abs(value) >= MOST and name not in SEEDS:
        return Problem(path, f"{TOO_LARGE} {MOST:,}.", fixes=fix)
    return None


def _is_between_steps(name: str, value: float, spec: RunSpec) -> bool:
    """Whether it is neither steps nor a share of the run, where steps are counted (transformers' TrainingArguments)."""
    strategy, usual = EVERY.get(name, ("", ""))
    return spec.training.get(strategy, usual) == "steps" and 1 < value < MOST and value != int(value)


def _length(spec: RunSpec) -> list[Problem]:
    """How long a run lasts: so many steps, or so many epochs."""
    steps, epochs = spec.training.get("max_steps", -1), spec.training.get("num_train_epochs", 3.0)
    found = []
    if _is_number(steps) and steps != -1 and steps < 1:
        message = "should be at least 1, or −1 to leave it to the epochs."
        fixes = usual_fixes_of("training.max_steps", spec)
        found.append(Problem("training.max_steps", message, fixes=fixes))
    counted = _is_number(steps) and 1 <= steps < MOST  # or else the epochs count, at once or once that is put right
    if _is_number(epochs) and epochs <= 0 and not counted:
        fix = Fix("Use 1", {"training.num_train_epochs": 1.0})
        found.append(Problem("training.num_train_epochs", "should be above 0.", fixes=(fix,)))
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
