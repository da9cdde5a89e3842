"""What TRL calls the parts of a run, where a spec has it at the left edge: what it is called here, and the click that
writes it so. Pure."""

from collections.abc import Mapping
from typing import Any

from groupwise.storage.spec.words.problem import Fix, Problem

_PARTS = {"args": "training", "training_args": "training", "grpo_config": "training", "peft_config": "lora",
          "lora_config": "lora"}  # fmt: skip
_FUNCTIONS = ("reward_funcs", "reward_functions", "reward_fns")
_DATASETS = ("train_dataset", "dataset_name")
_FOLDERS = ("output_dir", "logging_dir")
_LABELS = ("tags", "tag", "note", "notes")
_SOURCES = ("hub:", "file:", "task:", "gym:")


def trl_problem(
    name: str, value: Any, given: Mapping[str, Any], line: int | None = None, *, under: str = ""
) -> Problem | None:
    """The problem of `name`, at the left edge or `under` a part (“training.”), that is TRL's word for something that
    has another here; None of one that is not. `given`: all that the spec holds. No click writes over what is set."""
    place = under + name
    if name in _FUNCTIONS:
        return _called(place, "rewards", _weighed(value, given), given, line, also=("reward_weights",))
    if name == "reward_weights":
        return _weights_problem(given, line)
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


def _weights_problem(given: Mapping[str, Any], line: int | None) -> Problem:
    """Of the weights of all functions in one list; beside TRL's list of functions they go where those go."""
    functions = next((trl_problem(name, given[name], given) for name in _FUNCTIONS if name in given), None)
    fixes = functions.fixes if functions and "reward_weights" in functions.fixes[0].removed else ()
    remove = Fix("Remove it", {}, ("reward_weights",))
    message = "each of the rewards has its own weight: write “weight: 2.0” under its name."
    return Problem("reward_weights", message, line, fixes=(*fixes[:1], remove))


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
    gone = (name, *(one for one in also if one in given))
    value = meant[inside] if inside else meant
    label = f"Write it as “{place}: {value}”" if inside else f"Rename it to {here}"
    return Problem(name, message, line, fixes=(Fix(label, {place: value}, gone), remove))


def _weighed(functions: Any, given: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The functions that are named as entries of `rewards`, with TRL's `reward_weights` where they are one for each;
    None of what is not names. Of a name with dots its last part is the function's."""
    listed = [functions] if isinstance(functions, str) else functions
    if not isinstance(listed, list) or not listed:
        return None
    entries = [_entry(one) for one in listed]
    if None in entries:
        return None
    weights = given.get("reward_weights")
    fits = isinstance(weights, list) and len(weights) == len(entries) and all(map(_is_number, weights))
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


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _source_of(value: Any) -> str | None:
    """A dataset's name as `data.source` has it; None of what is no name."""
    if not isinstance(value, str) or not value.strip() or len(value) > 200:
        return None
    return value if value.startswith(_SOURCES) else f"hub:{value}" if value.count("/") == 1 else None
