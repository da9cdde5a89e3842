"""What a verdict suggests to change: settings of a new run that still make whole groups. Pure."""

import math
from typing import Any

from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.verdict import Change
from groupwise.storage.analysis.doctor.words import setting_text
from groupwise.storage.checks.kl import HEAVY
from groupwise.storage.library.models import learning_rates
from groupwise.storage.spec.words.number_words import count_words

KL_WEIGHT = 0.04  # DeepSeekMath's
MOST_KL_WEIGHT = 0.2  # beyond, it is not the KL's weight that is missing
DATA, REWARDS = "data.source", "rewards"  # fields of a new run
HARDER_PROMPTS = (Change("Harder prompts", field=DATA),)  # which a person chooses
SHORTEST = 64  # tokens: a short thought and an answer in tags
FOR_THE_COMPLETION = 0.75  # of what the model reads; the rest is for the prompt
USUAL_GROUP = 8  # GRPOConfig's default
COOL = 0.7  # a temperature
MOST_GROUP = 32  # completions of a group: more cost in proportion


def set_to(name: str, value: float) -> Change:
    """Set one training setting, by the name that the new run tells of it."""
    words = "KL weight" if name == "beta" else name.replace("_", " ")
    return Change(f"{words[:1].upper()}{words[1:]} {setting_text(value)}", {f"training.{name}": value})


def lower_rate(e: Evidence, factor: float) -> tuple[Change, ...]:
    """A learning rate lower by a factor and at most a usual one: from a rate that is far too high one click leads to
    one that works. None where it is as low as anyone trains with."""
    return _rate(e.usual_rates.lower(_rate_now(e), factor))


def higher_rate(e: Evidence, factor: float) -> tuple[Change, ...]:
    """A learning rate higher by a factor and at least a usual one. None where it is as high as is usual."""
    return _rate(e.usual_rates.higher(_rate_now(e), factor))


def _rate(value: float | None) -> tuple[Change, ...]:
    return () if value is None else (set_to("learning_rate", value),)


def _rate_now(e: Evidence) -> float:
    rate = e.number("learning_rate")
    return learning_rates.DEFAULT if rate is None else rate


def rate_far_off(e: Evidence) -> float | None:
    """The learning rate, where it is so far above a usual one that no other change can help; None where not."""
    rate = e.number("learning_rate")
    return rate if rate is not None and e.usual_rates.is_far_off(rate) else None


def rate_first(e: Evidence, others: tuple[Change, ...]) -> tuple[Change, ...]:
    """These changes; where the rate is far too high, a usual one alone, as none of the others can work before it."""
    return others if rate_far_off(e) is None else usual_steps(e)


def usual_steps(e: Evidence) -> tuple[Change, ...]:
    """A usual learning rate; in the same click a usual KL weight where it is so heavy that, at such a rate, nothing
    would be learned."""
    slower = lower_rate(e, 1.0)
    if not slower or e.kl.target is not None or (e.number("beta") or 0.0) < HEAVY:
        return slower
    rate, lighter = slower[0], set_to("beta", KL_WEIGHT)
    return (Change(f"{rate.label}, {lighter.label}", rate.settings | lighter.settings),)


def lighter_kl(e: Evidence) -> tuple[Change, ...]:
    """Less weight on the KL, which holds the model; where the rate is high, with a usual one, as what was held would
    run away."""
    if not e.usual_rates.is_high(_rate_now(e)):
        return set_to("beta", KL_WEIGHT), less_anchor(e)
    return usual_steps(e) if e.kl.target is None else (*lower_rate(e, 1.0), less_anchor(e))


def smaller_steps(e: Evidence, factor: float) -> tuple[Change, ...]:
    """A lower rate, or the KL's pull; where the rate is far off, only that."""
    return rate_first(e, (*lower_rate(e, factor), *anchor(e)))


def anchor(e: Evidence) -> tuple[Change, ...]:
    """A greater weight on the KL, where it has not much already; where the weight follows a target, a lower one."""
    if e.kl.target is not None:
        return (follow_kl(e.kl.target / 2),)
    beta = e.number("beta") or 0.0
    if beta >= MOST_KL_WEIGHT:
        return ()
    value = float(f"{max(KL_WEIGHT, 2 * beta):.2g}")
    return (set_to("beta", value),)


def less_anchor(e: Evidence) -> Change:
    """No KL; where its weight follows a target, twice that: at 0 there is nothing to follow it by."""
    return set_to("beta", 0.0) if e.kl.target is None else follow_kl(e.kl.target * 2)


def follow_kl(value: float) -> Change:
    """Another KL for the weight to follow."""
    return Change(f"KL target {value:g}", {"kl.target": value})


def usual_group(e: Evidence) -> tuple[Change, ...]:
    """Groups of eight, and a device batch that holds whole ones."""
    batch = e.number("per_device_train_batch_size") or USUAL_GROUP
    changed = {"training.num_generations": USUAL_GROUP}
    if batch % USUAL_GROUP:
        changed["training.per_device_train_batch_size"] = math.ceil(batch / USUAL_GROUP) * USUAL_GROUP
    return (Change(f"Groups of {USUAL_GROUP}", changed),)


def larger_group(e: Evidence) -> tuple[Change, ...]:
    """Twice the group, at least a usual one, and the device batch with it where whole groups need it."""
    group, batch = e.number("num_generations") or 8, e.number("per_device_train_batch_size") or 8
    if group * 2 < USUAL_GROUP:
        return usual_group(e)
    if group * 2 > MOST_GROUP:
        return ()
    changed = {"training.num_generations": int(group * 2)}
    if batch % (group * 2):
        changed["training.per_device_train_batch_size"] = int(batch * 2)
    return (Change(f"Groups of {int(group * 2)}", changed),)


def harder(e: Evidence, *, never: bool = False) -> tuple[Change, ...]:
    """For prompts that are too hard: more tries a prompt, where some are ever solved; easier ones, or, where none are,
    a stronger model, which a person chooses; first of all a warmer sampling, where it is cool; of the starter, which
    was not made for them, another model alone. `never`: it is known that none are."""
    cooler = warmer(e) if is_cool(e) else ()
    easier, partial = Change("Easier prompts", field=DATA), Change("A reward with partial credit", field=REWARDS)
    if e.beyond_starter:
        rewritten = [
            Change(fix.label, {**fix.settings, **dict.fromkeys(fix.removed)})
            for fix in (e.other_writing.fixes if e.other_writing else ())
        ]
        return (*rewritten, Change("Another model", field="model.id"), Change("A built-in task", field=DATA))
    if never or not e.is_ever_solved:
        return (*cooler, easier, Change("A stronger model", field="model.id"), partial)
    return (*cooler, *larger_group(e), easier, partial)


def tell_apart(e: Evidence) -> tuple[Change, ...]:
    """For groups that tie: more tries, more different ones, or finer scores."""
    return (*larger_group(e), *warmer(e)) or (Change("A reward with more grades", field=REWARDS),)


def weigh_double(e: Evidence, name: str, least: float = 0.0) -> Change:
    """Twice the weight for a reward function; no less than `least`."""
    place, weight = e.place(name), max(2 * e.weight(name), least)
    return Change(f"Weight {weight:g} for {name}", {f"{place}.weight": weight} if place else {})


def add_reward(e: Evidence, name: str, **parameters: Any) -> Change:
    """One more reward function, one that ships."""
    place = f"rewards.{len(e.rewards)}"
    given = {f"{place}.parameters.{key}": value for key, value in parameters.items()}
    return Change(f"Also {name}", {place: name, **given})


def warmer(e: Evidence) -> tuple[Change, ...]:
    """Sampling at temperature 1, where it was cooler."""
    temperature = e.number("temperature")
    return (set_to("temperature", 1.0),) if temperature is not None and temperature < 1 else ()


def is_cool(e: Evidence) -> bool:
    """Whether sampling is so cool that the completions of a group differ little."""
    temperature = e.number("temperature")
    return temperature is not None and temperature <= COOL


def usual_temperature() -> tuple[Change, ...]:
    """Sampling at temperature 1, GRPOConfig's default."""
    return (set_to("temperature", 1.0),)


def diverse(e: Evidence) -> tuple[Change, ...]:
    """Against collapse: hold it nearer to the reference model, larger groups, a warmer sampling."""
    return rate_first(e, (*anchor(e), *warmer(e), *larger_group(e))[:2])


def longer(e: Evidence) -> tuple[Change, ...]:
    """Twice the tokens that a completion may have, and enough for a thought and an answer, where the model can read so
    many beside a prompt; where the tags that “format” wants have no room, what New run proposes for them."""
    tokens = float(e.tags.usual) if lacks_room_for_tags(e) and e.tags else max(longest(e) * 2, SHORTEST)
    if e.room and tokens > e.room * FOR_THE_COMPLETION:
        return (Change("A model that reads more", field="model.id"),)
    return (_longest(tokens),)


def lacks_room_for_tags(e: Evidence) -> bool:
    """Whether no completion can hold the tags that “format” wants."""
    return e.tags is not None and longest(e) < e.tags.least


def leaves_no_room(e: Evidence, name: str) -> bool:
    """Whether it is known that what a function wants does not fit into a completion."""
    return name == "format" and lacks_room_for_tags(e)


def shorter(e: Evidence) -> tuple[Change, ...]:
    """Half of them, where there is something left to halve."""
    return (_longest(longest(e) / 2),) if longest(e) >= 128 else ()


def _longest(tokens: float) -> Change:
    return Change(f"Max completion length {int(tokens)} tokens", {"training.max_completion_length": int(tokens)})


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
    label = f"{count_words(int(batch / 2), 'completion')} per device, accumulation {int(accumulation * 2)}"
    return (Change(label, {f"training.{name}": value for name, value in changed.items()}),)
