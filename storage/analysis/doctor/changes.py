"""What a verdict suggests to change: settings of a new run that still make whole groups. Pure."""

from typing import Any

from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.verdict import Change
from groupwise.storage.analysis.doctor.words import setting_text

USUAL_RATE = 1e-6  # GRPOConfig's default learning rate
KL_WEIGHT = 0.04  # DeepSeekMath's
DATA, REWARDS = "data.source", "rewards"  # fields of a new run
HARDER_PROMPTS = (Change("Harder prompts", field=DATA),)  # which a person chooses
FOR_THE_COMPLETION = 0.75  # of what the model reads; the rest is for the prompt
MOST_GROUP = 32  # completions of a group: more cost in proportion


def set_to(name: str, value: float) -> Change:
    """Set one training setting."""
    words = name.replace("_", " ")
    return Change(f"{words[:1].upper()}{words[1:]} {setting_text(value)}", {f"training.{name}": value})


def scale_learning_rate(e: Evidence, factor: float) -> tuple[Change, ...]:
    """Another learning rate, rounded to one figure."""
    now = e.number("learning_rate") or USUAL_RATE
    return (set_to("learning_rate", float(f"{now * factor:.1g}")),)


def anchor(e: Evidence) -> tuple[Change, ...]:
    """A greater weight on the KL."""
    beta = e.number("beta") or 0.0
    value = float(f"{max(KL_WEIGHT, 2 * beta):.2g}")
    return (Change(f"KL weight (beta) {setting_text(value)}", {"training.beta": value}),)


def larger_group(e: Evidence) -> tuple[Change, ...]:
    """Twice the group, and the device batch with it where whole groups need it."""
    group, batch = e.number("num_generations") or 8, e.number("per_device_train_batch_size") or 8
    if group * 2 > MOST_GROUP:
        return ()
    changed = {"training.num_generations": int(group * 2)}
    if batch % (group * 2):
        changed["training.per_device_train_batch_size"] = int(batch * 2)
    return (Change(f"Groups of {int(group * 2)}", changed),)


def harder(e: Evidence) -> tuple[Change, ...]:
    """For prompts that are too hard: more tries a prompt; or easier ones, which a person chooses."""
    partial = Change("A reward with partial credit", field=REWARDS)
    return (*larger_group(e), Change("Easier prompts", field=DATA), partial)


def tell_apart(e: Evidence) -> tuple[Change, ...]:
    """For groups that tie: more tries, more different ones, or finer scores."""
    return (*larger_group(e), *warmer(e)) or (Change("A reward with more grades", field=REWARDS),)


def add_reward(e: Evidence, name: str, **parameters: Any) -> Change:
    """One more reward function, one that ships."""
    place = f"rewards.{len(e.rewards)}"
    given = {f"{place}.parameters.{key}": value for key, value in parameters.items()}
    return Change(f"Also {name}", {place: name, **given})


def warmer(e: Evidence) -> tuple[Change, ...]:
    """Sampling at temperature 1, where it was cooler."""
    temperature = e.number("temperature")
    return (set_to("temperature", 1.0),) if temperature is not None and temperature < 1 else ()


def diverse(e: Evidence) -> tuple[Change, ...]:
    """Against collapse: hold it nearer to the reference model, larger groups, a warmer sampling."""
    return (*anchor(e), *warmer(e), *larger_group(e))[:2]


def longer(e: Evidence) -> tuple[Change, ...]:
    """Twice the tokens that a completion may have, where the model can read so many beside a prompt."""
    if e.room and longest(e) * 2 > e.room * FOR_THE_COMPLETION:
        return (Change("A model that reads more", field="model.id"),)
    return (_longest(longest(e) * 2),)


def shorter(e: Evidence) -> tuple[Change, ...]:
    """Half of them, where there is something left to halve."""
    return (_longest(longest(e) / 2),) if longest(e) >= 128 else ()


def _longest(tokens: float) -> Change:
    return Change(f"Longest completion {int(tokens)} tokens", {"training.max_completion_length": int(tokens)})


def longest(e: Evidence) -> float:
    """Tokens that a completion may have."""
    return e.number("max_completion_length") or 256


def smaller_batch(e: Evidence) -> tuple[Change, ...]:
    """Half the device batch and twice the accumulation: the same completions a step, whole groups still."""
    batch, accumulation = e.number("per_device_train_batch_size"), e.number("gradient_accumulation_steps") or 1
    group = e.number("num_generations") or 8
    if not batch or batch < 2 or batch % 2 or (batch * accumulation) % group:
        return ()
    changed = {"per_device_train_batch_size": int(batch / 2), "gradient_accumulation_steps": int(accumulation * 2)}
    label = f"{int(batch / 2)} completions per device, accumulation {int(accumulation * 2)}"
    return (Change(label, {f"training.{name}": value for name, value in changed.items()}),)
