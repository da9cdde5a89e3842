"""The group and batch arithmetic of GRPOConfig: what does not fit, in words, and the nearest settings that do. Pure."""

import math
from collections.abc import Callable
from typing import Any

from groupwise.storage.checks.held_out import check_held_out
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.number_words import count_words
from groupwise.storage.spec.words.problem import Fix, Problem

# What decides how completions are batched: with one of them wrong the arithmetic cannot be judged.
BATCH_FIELDS = (
    "num_generations", "num_generations_eval", "per_device_train_batch_size", "per_device_eval_batch_size",
    "gradient_accumulation_steps", "steps_per_generation", "generation_batch_size",
)  # fmt: skip


MOST = 10**6  # completions at once: beyond, it is a slip of the hand
FAR = 1000  # how far from the group size that was asked for another is looked for
USUAL_GROUP = 8  # GRPOConfig's default num_generations


def check_batch(spec: RunSpec, offer: Offer, rows: int | None = None) -> list[Problem]:
    """What of the batch arithmetic does not fit. Silent while TRL's defaults are not known.

    Source: GRPOConfig.__post_init__. A generation makes per-device batch × processes × steps_per_generation
    completions (or generation_batch_size), in whole groups of num_generations. `rows`: of the data, as a page counted
    them.
    """
    if offer.training is None:
        return []
    processes, value = spec.launch.processes, _value_of(spec, offer)
    size, device_batch = value("num_generations"), value("per_device_train_batch_size")
    per_generation = value("steps_per_generation") or value("gradient_accumulation_steps")
    held_out = check_held_out(spec, offer, rows)
    if low := check_batch_values(spec, offer):
        return low + held_out
    if not all(isinstance(number, int) for number in (size, device_batch, per_generation)):
        return held_out
    batch = _batch_of(value, processes)
    if value("generation_batch_size") and value("steps_per_generation"):
        path = "training.generation_batch_size"
        fixes = (
            Fix("Remove it", {}, (path,)),
            Fix("Remove steps_per_generation", {}, ("training.steps_per_generation",)),
        )
        return [Problem(path, "cannot be given together with steps_per_generation.", fixes=fixes), *held_out]
    found = held_out
    at_once, given = device_batch * processes, value("generation_batch_size")
    if given and given % at_once:
        message = f"should be a multiple of the {count_words(at_once, 'completion')} that all devices take at once."
        found.append(
            Problem("training.generation_batch_size", message, fixes=_multiple("generation_batch_size", given, at_once))
        )
    if batch % size:
        unsaid = (
            "" if spec.training.get("num_generations") is not None else f"is not set: TRL's default is {size}, and "
        )
        message = (
            f"{unsaid}each generation makes {count_words(batch, 'completion')} "
            f"({_product(device_batch, processes, per_generation)}), "
            f"which groups of {size} do not divide. {_nearest_sizes(batch, size)}"
        )
        found.append(
            Problem(
                "training.num_generations", message, fixes=_whole_groups(batch, size, device_batch, written=bool(given))
            )
        )
    return [*found, *_evaluation(spec, value, size)]


def group_for(batch: int) -> int:
    """The group size nearest to the usual one that divides a batch of so many completions; the usual one if none does.
    What a group that is none becomes by one click, and is judged as until then."""
    return min(_fitting(batch, USUAL_GROUP), key=lambda size: abs(size - USUAL_GROUP), default=USUAL_GROUP)


def check_batch_values(spec: RunSpec, offer: Offer) -> list[Problem]:
    """What of the settings of the arithmetic is too little or too much, each by itself, whatever the others are."""
    if offer.training is None:
        return []
    value, found = _value_of(spec, offer), list[Problem]()
    others: tuple[str, ...] = BATCH_FIELDS
    size = value("num_generations")
    if isinstance(size, int) and size < 2:
        others, usual = BATCH_FIELDS[1:], group_for(_batch_of(value, spec.launch.processes))
        fix = Fix(f"Use groups of {usual}", {"training.num_generations": usual}, fallback=True)
        words = "a group needs at least 2 completions to be compared."
        found.append(Problem("training.num_generations", words, fixes=(fix,)))
    return found + [
        Problem(f"training.{name}", words, fixes=(Fix("Use the default", {}, (f"training.{name}",), fallback=True),))
        for name in others
        if isinstance(value(name), int) and (words := _out_of_reach(value(name)))
    ]


def _value_of(spec: RunSpec, offer: Offer) -> Callable[[str], Any]:
    """What gives a setting as it is, or else TRL's default."""
    fields = offer.training or {}

    def value(name: str) -> Any:
        given = spec.training.get(name)
        return given if given is not None else fields.get(name, {}).get("default")

    return value


def _batch_of(value: Callable[[str], Any], processes: int) -> int:
    """The completions of a generation; those of a usual group where a number that decides them is none."""
    per_generation = value("steps_per_generation") or value("gradient_accumulation_steps")
    numbers = (value("per_device_train_batch_size"), per_generation, value("generation_batch_size") or 1)
    if not all(isinstance(number, int) for number in numbers):
        return USUAL_GROUP
    return value("generation_batch_size") or numbers[0] * processes * numbers[1]


def _out_of_reach(number: int) -> str:
    return "should be at least 1." if number < 1 else f"more than {MOST:,} fit no machine." if number > MOST else ""


def _evaluation(spec: RunSpec, value: Any, size: int) -> list[Problem]:
    if value("eval_strategy") not in ("steps", "epoch"):
        return []
    found = []
    batch, group = value("per_device_eval_batch_size") * spec.launch.processes, value("num_generations_eval") or size
    if batch % group:
        message = f"an evaluation batch of {batch} does not hold whole groups of {group}: use a multiple of {group}."
        whole = math.lcm(group, spec.launch.processes)
        fitting = -(-batch // whole) * whole
        name = "per_device_eval_batch_size"
        fix = Fix(f"Use {fitting // spec.launch.processes}", {f"training.{name}": fitting // spec.launch.processes})
        found.append(Problem(f"training.{name}", message, fixes=(fix,)))
    return found


def _multiple(name: str, given: int, of: int) -> tuple[Fix, ...]:
    """The multiples on both sides of what was given."""
    below, above = given // of * of, -(-given // of) * of
    return tuple(Fix(f"Use {n}", {f"training.{name}": n}) for n in (below, above) if n)


def _whole_groups(batch: int, size: int, device_batch: int, *, written: bool) -> tuple[Fix, ...]:
    """Group sizes that divide the batch, and a batch that holds whole groups; `written`: whether generation_batch_size
    is set, which that one takes the place of."""
    sizes = [Fix(f"Use groups of {n}", {"training.num_generations": n}) for n in _fitting(batch, size)]
    fitting = -(-device_batch // size) * size
    settings = {"training.per_device_train_batch_size": fitting}
    label = f"Use {count_words(fitting, 'completion')} per device"
    if written:
        return (*sizes, Fix(f"{label} and remove generation_batch_size", settings, ("training.generation_batch_size",)))
    return (*sizes, Fix(label, settings))


def _fitting(batch: int, size: int) -> list[int]:
    """The two group sizes nearest to `size` that divide a batch."""
    around = (n for far in range(FAR) for n in {size - far, size + far})
    return sorted(list(dict.fromkeys(n for n in around if 2 <= n <= batch and batch % n == 0))[:2])


def _product(device_batch: int, processes: int, per_generation: int) -> str:
    parts = [f"{device_batch} a device", f"{processes} processes" if processes > 1 else "",
             f"{per_generation} steps" if per_generation > 1 else ""]  # fmt: skip
    return " × ".join(part for part in parts if part)


def _nearest_sizes(batch: int, size: int) -> str:
    fitting = _fitting(batch, size)
    return f"Use groups of {' or '.join(map(str, fitting))}." if fitting else "Use a larger batch."
