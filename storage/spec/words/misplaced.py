"""A setting in a part of a spec where it does not belong: where it does, and the click that moves it. Pure."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from groupwise.storage.spec.words.foreign_letters import letter_words
from groupwise.storage.spec.words.joined_parts import join_fixes
from groupwise.storage.spec.words.problem import Fix, Problem
from groupwise.storage.spec.words.recipe_names import RECIPE_PLACES
from groupwise.storage.spec.words.setting_names import STEPS, UNDER_TRAINING, meant_name, size_words
from groupwise.storage.spec.words.value_kinds import Kinds, can_mean, kinds_of_library

# The parts in which each name means one thing, as there is no other of that name.
_PARTS = {
    "model": ("id", "dtype", "attn_implementation", "quantization"),
    "data": (
        "source", "split", "streaming", "separator", "quote", "encoding", "sheet", "skip_lines", "filter", "shuffle",
        "limit", "holdout", "system_prompt", "examples", "prompt_template", "prompt_column", "answer_column",
        "answer_pattern", "answer_numbers", "columns",
    ),
    "lora": ("r", "lora_alpha", "lora_dropout", "target_modules", "modules_to_save", "use_rslora", "use_dora"),
    "launch": ("engine", "processes", "reward_failures"),
    "training": tuple(UNDER_TRAINING),
}  # fmt: skip
# What each part is that can be moved as a whole.
_KINDS: dict[str, type] = {
    **dict.fromkeys(("model", "data", "lora", "training", "kl", "launch"), dict), "rewards": list, "stages": list,
}  # fmt: skip
PLACED = frozenset(name for names in _PARTS.values() for name in names)
_HOMES = {name: (part, name) for part, names in _PARTS.items() for name in names}
_HOMES |= {
    **dict.fromkeys(("lora_rank", "lora_r", "rank"), ("lora", "r")),
    **dict.fromkeys(("target_kl", "kl_target"), ("kl", "target")),
    **RECIPE_PLACES,
}


def misplaced_problem(
    path: str,
    value: Any,
    given: Mapping[str, Any],
    line: int | None = None,
    *,
    training: Collection[str] = (),
    lora: Collection[str] = (),
) -> Problem | None:
    """The problem of a setting at `path` that belongs to another part; None of one that does not. `given`: what the
    parts hold, by their name. `training`, `lora`: the settings that there are, where that is known.

    It is moved only where nothing is written over: neither the setting there, nor a part that is no mapping.
    """
    parent, _, name = path.rpartition(".")
    home = _HOMES.get(name) or _offered(name, training, lora)
    if not parent and name in STEPS and not isinstance(value, (list, dict)):
        home = "training", "max_steps"
    if home is None or parent.split(".")[-1] == home[0]:
        return None
    return _belongs(path, value, given, home, "", line)


def misspelt_elsewhere(
    path: str, value: Any, given: Mapping[str, Any], kinds: Callable[[str, str], Kinds], line: int | None = None
) -> Problem | None:
    """The problem of a setting that its own part has nothing like, but another part has, where its value can stand;
    None where none has. `kinds`: what a setting of a part that is not a library's takes, by the part and its name."""
    name = path.rpartition(".")[2]
    fitting = [one for one in PLACED if can_mean(name, one, value, kinds(*_HOMES[one]) or kinds_of_library(one))]
    near = meant_name(name, fitting)
    if near is None:
        return None
    said = f"there is no such field.{letter_words(name)} Did you mean “{near}”? It "
    return _belongs(path, value, given, _HOMES[near], said, line)


def part_in_a_part(path: str, value: Any, given: Mapping[str, Any], line: int | None = None) -> Problem | None:
    """The problem of a whole part of a spec inside another (`training.data`); None of any other setting. `given`: what
    the parts hold, by their name. It is moved where nothing is written over."""
    name = path.rpartition(".")[2]
    kind = _KINDS.get(name)
    if kind is None or (name == "kl" and isinstance(value, (int, float)) and not isinstance(value, bool)):
        return None  # a number is the KL's weight, which has another name
    said = f"is indented too far: “{name}” begins at the left edge"
    remove = Fix(f"Remove it{size_words(value)}", {}, (path,))
    entries = value if isinstance(value, list) else [value]
    if not isinstance(value, kind) or not value or not all(isinstance(one, dict) for one in entries):
        return Problem(path, f"{said}.", line, fixes=(remove,))
    if given.get(name):
        fixes = (*join_fixes(path, value, name, given), remove)
        return Problem(path, f"{said}, where it is set already.", line, fixes=fixes)
    move = Fix("Move it to the left edge", {name: value}, (path,))
    return Problem(path, f"{said}.", line, fixes=(move, remove))


def model_by_name(path: str, value: Any, beside: Mapping[str, Any], line: int | None = None) -> Problem | None:
    """The problem of a model that is given as `model.name` or `model.model`; None of any other setting. `beside`: what
    else is set there."""
    if path not in ("model.name", "model.model") or not isinstance(value, str):
        return None
    said, remove = "there is no such field. Did you mean “id”?", Fix("Remove it", {}, (path,))
    if beside.get("id") is not None:
        return Problem(path, f"{said} It is set already.", line, fixes=(remove,))
    return Problem(path, said, line, fixes=(Fix("Rename it to id", {"model.id": value}, (path,)), remove))


_OF_KL = ("target", "rate", "least", "most")


def adapt_in_training(
    path: str, value: Any, given: Mapping[str, Any], said: str, line: int | None = None
) -> Problem | None:
    """The problem of `adapt` under training, as if beta changed there; None of any other setting. With a target it is
    written as kl where nothing is written over. `said`: the sentence that there is none."""
    if path != "training.adapt":
        return None
    said += " Under kl, beta follows a target KL"
    remove = Fix(f"Remove it{size_words(value)}", {}, (path,))
    inner = value if isinstance(value, dict) else {}
    target = inner.get("target")
    if not isinstance(target, (int, float)) or isinstance(target, bool) or not set(inner) <= set(_OF_KL):
        message = f"{said}: “kl: {{target: 0.05}}” at the left edge. Under a reward, “adapt” changes its weight."
        return Problem(path, message, line, fixes=(remove,))
    if given.get("kl"):
        return Problem(path, f"{said}, and kl is set already.", line, fixes=(remove,))
    use = Fix(f"Write it as “kl: {{target: {target}}}”", {"kl": inner}, (path,))
    return Problem(path, f"{said}: “kl: {{target: {target}}}” at the left edge.", line, fixes=(use, remove))


def name_in_a_part(path: str, value: Any, given: Mapping[str, Any], line: int | None = None) -> Problem:
    """The problem of the run's name inside a part. It is moved where the run has none."""
    move = Fix("Move it to the left edge", {"name": value}, (path,))
    is_free = isinstance(value, str) and given.get("name") is None
    remove = Fix("Remove it", {}, (path,))
    return Problem(path, "is indented too far: “name” begins at the left edge.", line,
                   fixes=(move, remove) if is_free else (remove,))  # fmt: skip


def _belongs(
    path: str, value: Any, given: Mapping[str, Any], home: tuple[str, str], said: str, line: int | None
) -> Problem:
    part, there = home[0], given.get(home[0])
    remove = Fix("Remove it", {}, (path,))
    if there is not None and (not isinstance(there, Collection) or isinstance(there, str)):
        return Problem(path, f"{said}belongs under {part}.", line, fixes=(remove,))
    called = "" if home[1] == path.rpartition(".")[2] else f" as {home[1]}"
    if there is not None and home[1] in there:
        return Problem(path, f"{said}belongs under {part}, where {home[1]} is set already.", line, fixes=(remove,))
    move = Fix(f"Move it under {part}{called}", {f"{part}.{home[1]}": value}, (path,))
    return Problem(path, f"{said}belongs under {part}{'' if said else called}.", line, fixes=(move, remove))


def _offered(name: str, training: Collection[str], lora: Collection[str]) -> tuple[str, str] | None:
    if name in training:
        return "training", name
    return ("lora", name) if name in lora else None
