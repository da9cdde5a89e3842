"""What TRL calls the parts of a run, where a spec has it at the left edge: what it is called here, and the click that
writes it so. Pure."""

from collections.abc import Mapping
from typing import Any, TypeGuard

from groupwise.storage.spec.words.number_words import are_words, count_words, join_words
from groupwise.storage.spec.words.problem import Fix, Problem

_PARTS = {"args": "training", "training_args": "training", "grpo_config": "training", "peft_config": "lora",
          "lora_config": "lora"}  # fmt: skip
_FUNCTIONS = ("reward_funcs", "reward_functions", "reward_fns")
WEIGHTS = "reward_weights"
OWN_WEIGHTS = "each of the rewards has its own weight: write “weight: 2.0” under its name."
PAIRS = 4  # weights and rewards that a sentence names
_DATASETS = ("train_dataset", "dataset_name")
_FOLDERS = ("output_dir", "logging_dir")
_LABELS = ("tags", "tag", "note", "notes")
_SOURCES = ("hub:", "file:", "task:", "gym:")


def trl_problem(
    name: str, value: Any, given: Mapping[str, Any], line: int | None = None, *, under: str = ""
) -> Problem | None:
    """The problem of `name`, at the left edge or `under` a part (“training.”), that is TRL's word for something that
    has another here; None of one that is not. `given`: all that the spec holds. No click writes over what is set."""
    place, beside = under + name, given.get(under.rstrip("."), {}) if under else given
    if name in _FUNCTIONS:
        also = (f"{under}{WEIGHTS}",) if WEIGHTS in beside else ()
        return _called(place, "rewards", _weighed(value, beside), given, line, also=also)
    if name == WEIGHTS:
        return _weights_problem(place, value, given, beside, line)
    if name in _PARTS:
        return _called(place, _PARTS[name], value if isinstance(value, dict) else None, given, line)
    if name in _DATASETS:
        return _called(place, "data", {"source": source} if (source := _source_of(value)) else None, given, line)
    if name == "run_name" and "name" not in given:
        return _called(place, "name", value if isinstance(value, str) else None, given, line)
    if name in _FOLDERS:
        return Problem(place, "is not set here: each run has its own folder.", line,
                       fixes=(Fix("Remove it", {}, (place,)),))  # fmt: skip
    if name in _LABELS:
        return Problem(place, "is not set here: a run gets its tags and its note on its page and in Runs.", line,
                       fixes=(Fix("Remove it", {}, (place,)),))  # fmt: skip
    return None


def _weights_problem(
    place: str, value: Any, given: Mapping[str, Any], beside: Mapping[str, Any], line: int | None
) -> Problem:
    """Of the weights of all functions in one list. `beside`: what is set in the same part: with TRL's list of functions
    they go where those go; without it each goes to its reward, where none has a weight."""
    remove = Fix("Remove it", {}, (place,))
    under = place.removesuffix(WEIGHTS)
    named = next((name for name in _FUNCTIONS if name in beside), "")
    if functions := trl_problem(named, beside.get(named), given, under=under):
        taken = place in functions.fixes[0].removed
        return Problem(place, OWN_WEIGHTS, line, fixes=(*(functions.fixes[:1] if taken else ()), remove))
    listed = given.get("rewards")
    rewards = [one if isinstance(one, dict) else {} for one in (listed if isinstance(listed, list) else [])]
    names = [one["name"] for one in rewards if isinstance(one.get("name"), str)]
    if not (_are_numbers(value) and names and len(names) == len(rewards)):
        return Problem(place, OWN_WEIGHTS, line, fixes=(remove,))
    said = {one["name"]: one["weight"] for one in rewards if "weight" in one}
    message = _say_weights(value, names) + _say_set_already(said)
    if said or len(value) != len(names):
        return Problem(place, message, line, fixes=(remove,))
    whose = "it the weight" if len(names) == 1 else "them the weights"
    weights = {f"rewards.{n}.weight": float(weight) for n, weight in enumerate(value)}
    move = Fix(f"Make {whose} of {join_words(names, 3)}", weights, (place,))
    return Problem(place, message, line, fixes=(move, remove))


def _say_weights(weights: list[int | float], names: list[str]) -> str:
    """Which number is whose by their order, and what is left over where there are not as many."""
    pairs = [f"“weight: {float(weight)}” under “{name}”" for weight, name in zip(weights, names, strict=False)]
    write = f"write {join_words(pairs, PAIRS)}"
    said = "each of the rewards has its own weight"
    if len(weights) == len(names):
        return f"{said}: {write}."
    without, over = [f"“{name}”" for name in names[len(weights) :]], [str(one) for one in weights[len(names) :]]
    have = f"{join_words(without or over, PAIRS)} {'has' if len(without or over) == 1 else 'have'}"
    numbers, rewards = count_words(len(weights), "number"), count_words(len(names), "reward")
    said += f", and here {are_words(len(weights))} {numbers} for {rewards}"
    return f"{said}. By their order, {write}; {have} no {'number' if without else 'reward'}."


def _say_set_already(weights: Mapping[str, Any]) -> str:
    set_there = [f"{float(weight)} under “{name}”" for name, weight in weights.items() if _are_numbers([weight])]
    return f" Set already: {join_words(set_there, PAIRS)}." if set_there else ""


def _called(
    name: str, here: str, meant: Any, given: Mapping[str, Any], line: int | None, also: tuple[str, ...] = ()
) -> Problem:
    """“name” is TRL's word, ours is `here`. `meant`: what it says, as it is written here; None where that is not known.
    `also`: what is part of it now."""
    remove = Fix("Remove it", {}, (name,))
    inside = next(iter(meant)) if here == "data" and meant else ""
    place = f"{here}.{inside}".rstrip(".")
    part = given.get(here)
    taken = part is not None and (not inside or not isinstance(part, dict) or inside in part)
    if taken:
        return Problem(name, f"is TRL's word for “{place}”, which is set already.", line, fixes=(remove,))
    message = f"is TRL's word: here it is “{place}”."
    if meant is None:
        return Problem(name, message, line, fixes=(remove,))
    gone = (name, *also)
    value = meant[inside] if inside else meant
    label = f"Write it as “{place}: {value}”" if inside else f"Rename it to {here}"
    return Problem(name, message, line, fixes=(Fix(label, {place: value}, gone), remove))


def _weighed(functions: Any, beside: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The functions that are named as entries of `rewards`, with the weights `beside` where they are one for each;
    None of what is not names. Of a name with dots its last part is the function's."""
    listed = [functions] if isinstance(functions, str) else functions
    if not isinstance(listed, list) or not listed:
        return None
    entries = [_entry(one) for one in listed]
    if None in entries:
        return None
    weights = beside.get(WEIGHTS)
    fits = _are_numbers(weights) and len(weights) == len(entries)
    return [
        {**entry, "weight": float(weights[n])} if fits and weights else entry
        for n, entry in enumerate(entries)
        if entry is not None
    ]


def _entry(one: Any) -> dict[str, Any] | None:
    if isinstance(one, dict) and isinstance(one.get("name"), str):
        return one
    last = one.rpartition(".")[2] if isinstance(one, str) else ""
    return {"name": last} if last.isascii() and last.isidentifier() else None


def _are_numbers(value: Any) -> TypeGuard[list[int | float]]:
    listed = value if isinstance(value, list) else []
    return bool(listed) and all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in listed)


def _source_of(value: Any) -> str | None:
    """A dataset's name as `data.source` has it; None of what is no name."""
    if not isinstance(value, str) or not value.strip() or len(value) > 200:
        return None
    return value if value.startswith(_SOURCES) else f"hub:{value}" if value.count("/") == 1 else None
