"""The group and batch arithmetic of GRPOConfig: what does not fit, in words, and the nearest settings that do. Pure."""

import math
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from groupwise.storage.checks.held_out import check_held_out
from groupwise.storage.checks.values import default_fix
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.number_words import count_words
from groupwise.storage.spec.words.problem import UNSET, Fix, Problem

# What decides how completions are batched: with one of them wrong the arithmetic cannot be judged.
BATCH_FIELDS = (
    "num_generations", "num_generations_eval", "per_device_train_batch_size", "per_device_eval_batch_size",
    "gradient_accumulation_steps", "steps_per_generation", "generation_batch_size",
)  # fmt: skip


MOST = 10**6  # completions at once: beyond, it is a slip of the hand
FAR = 1000  # how far from the group size that was asked for another is looked for
GENERATION = "generation_batch_size"
FEW, MANY = 4, 32  # completions in a group: fewer are too few to compare, more cost more than they tell
USUAL_GROUP = 8  # GRPOConfig's default num_generations


def check_batch(spec: RunSpec, offer: Offer, rows: int | None = None, refused: Collection[str] = ()) -> list[Problem]:
    """What of the batch arithmetic does not fit. Silent while TRL's defaults are not known.

    Source: GRPOConfig.__post_init__. A generation makes per-device batch × processes × steps_per_generation
    completions (or generation_batch_size), in whole groups of num_generations. `rows`: of the data, as a page counted
    them. `refused`: the settings that have a problem already, with which nothing is counted.
    """
    if offer.training is None:
        return []
    low = [one for one in check_batch_values(spec, offer) if one.field.removeprefix("training.") not in refused]
    unsound = {*refused, *(one.field.removeprefix("training.") for one in low)}
    found = _check_arithmetic(spec, offer, unsound)
    fitted = [_keep_fixes_that_hold(one, found, spec, offer, unsound) for one in found]
    return [*low, *check_held_out(spec, offer, rows), *fitted]


def _check_arithmetic(spec: RunSpec, offer: Offer, unsound: Collection[str]) -> list[Problem]:
    """What does not fit, of all that can be counted without the settings that are `unsound`."""
    value, processes = _value_of(spec, offer), spec.launch.processes

    def sound(*names: str) -> bool:
        return not any(name in unsound for name in names) and all(isinstance(value(name), int) for name in names)

    size, device_batch, given = map(value, ("num_generations", "per_device_train_batch_size", GENERATION))
    found: list[Problem] = []
    both = [name for name in (GENERATION, "steps_per_generation") if value(name) is not None]
    if len(both) == 2:  # whatever they are: told where nothing else is wrong with one of them
        found += [_both_given(name) for name in both if name not in unsound][:1]
    elif given and sound(GENERATION, "per_device_train_batch_size") and given % (device_batch * processes):
        groups = size if sound("num_generations") else 1
        found.append(_between_batches(given, device_batch * processes, groups))
    elif sound("num_generations", *_batch_decided_by(value)) and _batch_of(value, processes) % size:
        found.append(_broken_groups(spec, value))
    return [*found, *_evaluation(spec, value, size, sound)]


def _batch_decided_by(value: Callable[[str], Any]) -> tuple[str, ...]:
    """The settings by which so many completions are a generation's."""
    if value(GENERATION):
        return (GENERATION,)
    steps = "steps_per_generation" if value("steps_per_generation") else "gradient_accumulation_steps"
    return ("per_device_train_batch_size", steps)


def _keep_fixes_that_hold(
    problem: Problem, found: list[Problem], spec: RunSpec, offer: Offer, unsound: Collection[str]
) -> Problem:
    """Without the fixes that lead to another problem of the arithmetic, where others lead to none; where all do, each
    does what puts that right as well."""
    others = [one.field for one in found if one is not problem]

    def led_to(fix: Fix) -> list[Problem]:
        gone = {path.removeprefix("training.") for path in fix.removed}
        training = {name: value for name, value in spec.training.items() if name not in gone}
        training |= {path.removeprefix("training."): value for path, value in fix.settings.items()}
        after = spec.model_copy(update={"training": training})
        return [one for one in _check_arithmetic(after, offer, unsound) if one.field not in others]

    leading = {fix.label: led_to(fix) for fix in problem.fixes}
    kept = tuple(fix for fix in problem.fixes if not leading[fix.label])
    joined = tuple(both for fix in problem.fixes for both in _join_fixes(fix, leading[fix.label]) if not led_to(both))
    return replace(problem, fixes=kept or joined or problem.fixes)


def _join_fixes(fix: Fix, led_to: list[Problem]) -> list[Fix]:
    """A fix with one of that which it leads to."""
    more = [other for one in led_to for other in one.fixes[:1]] if len(led_to) == 1 else []
    return [
        Fix(f"{fix.label} and {other.label[0].lower()}{other.label[1:]}", {**fix.settings, **other.settings},
            tuple(dict.fromkeys((*fix.removed, *other.removed))))
        for other in more if not {*fix.settings, *fix.removed} & {*other.settings, *other.removed}
    ]  # fmt: skip


def _both_given(name: str) -> Problem:
    """Of generation_batch_size and steps_per_generation, said at that one of the `name`."""
    path, other = f"training.{name}", "steps_per_generation" if name == GENERATION else GENERATION
    fixes = (Fix("Remove it", {}, (path,)), Fix(f"Remove {other}", {}, (f"training.{other}",)))
    return Problem(path, f"cannot be given together with {other}.", fixes=fixes)


def _between_batches(given: int, at_once: int, size: int) -> Problem:
    """Of a generation that is no multiple of what the devices take: the ones beside it that are, in whole groups."""
    path, whole = f"training.{GENERATION}", math.lcm(at_once, size)
    message = f"should be a multiple of the {count_words(at_once, 'completion')} that all devices take at once"
    message += f", in whole groups of {size}." if whole != at_once else "."
    below, above = given // whole * whole, -(-given // whole) * whole
    fixes = (*(Fix(f"Use {n}", {path: n}) for n in dict.fromkeys((below, above)) if n), Fix("Remove it", {}, (path,)))
    return Problem(path, message, fixes=fixes)


def _broken_groups(spec: RunSpec, value: Callable[[str], Any]) -> Problem:
    """Of a generation that the groups do not divide."""
    size, device_batch, given = map(value, ("num_generations", "per_device_train_batch_size", GENERATION))
    batch = _batch_of(value, spec.launch.processes)
    unsaid = f"{UNSET}TRL's default is {size}, and " if spec.training.get("num_generations") is None else ""
    per_generation = value("steps_per_generation") or value("gradient_accumulation_steps")
    made = "" if given else f" ({_product(device_batch, spec.launch.processes, per_generation)})"
    message = (
        f"{unsaid}each generation makes {count_words(batch, 'completion')}{made}, "
        f"which groups of {size} do not divide. {_nearest_sizes(batch, size)}"
    )
    fixes = _whole_groups(batch, size, device_batch, written=bool(given))
    return Problem("training.num_generations", message, fixes=fixes)


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
        Problem(f"training.{name}", words, fixes=(default_fix(f"training.{name}", offer.training.get(name) or {}),))
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
    return "should be at least 1." if number < 1 else f"more than {MOST:,} fit on no machine." if number > MOST else ""


def _evaluation(spec: RunSpec, value: Callable[[str], Any], size: int, sound: Callable[..., bool]) -> list[Problem]:
    name, group = "per_device_eval_batch_size", value("num_generations_eval") or size
    decided = (name, "num_generations_eval" if value("num_generations_eval") else "num_generations")
    if value("eval_strategy") not in ("steps", "epoch") or not sound(*decided):
        return []
    batch = value(name) * spec.launch.processes
    if batch % group == 0:
        return []
    message = f"an evaluation batch of {batch} does not hold whole groups of {group}: use a multiple of {group}."
    whole = math.lcm(group, spec.launch.processes)
    fitting = -(-batch // whole) * whole
    fix = Fix(f"Use {fitting // spec.launch.processes}", {f"training.{name}": fitting // spec.launch.processes})
    return [Problem(f"training.{name}", message, fixes=(fix,))]


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
    """The two group sizes nearest to `size` that divide a batch, of those that nothing is advised against where there
    are any."""
    around = (n for far in range(FAR) for n in (size - far, size + far))
    whole = list(dict.fromkeys(n for n in around if 2 <= n <= batch and batch % n == 0))
    usual = [n for n in whole if FEW <= n <= max(MANY, size)]
    return sorted((usual or whole)[:2])


def _product(device_batch: int, processes: int, per_generation: int) -> str:
    parts = [f"{device_batch} a device", f"{processes} processes" if processes > 1 else "",
             f"{per_generation} steps" if per_generation > 1 else ""]  # fmt: skip
    return " × ".join(part for part in parts if part)


def _nearest_sizes(batch: int, size: int) -> str:
    fitting = _fitting(batch, size)
    return f"Use groups of {' or '.join(map(str, fitting))}." if fitting else "Use a larger batch."
