"""Settings that are brought: a spec's YAML as it is; a TRL script, a notebook or a recipe, which are read and never
run; and the reward functions of a script, which go into the library when a person says so."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.new import import_names, missing_modules
from groupwise.storage.checks.script_reader import ScriptImport, read_script
from groupwise.storage.checks.script_reader.notebook import is_notebook
from groupwise.storage.checks.script_reader.recipe import is_recipe, read_recipe, without_repeats
from groupwise.storage.checks.script_reader.reward_code import ScriptFunction
from groupwise.storage.checks.script_reader.unsaid import FROM_RECIPE, FROM_SCRIPT
from groupwise.storage.home import redaction
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards import library
from groupwise.storage.library.rewards.library import LibraryError
from groupwise.storage.library.rewards.renaming import rename_function
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.number_words import count_words
from groupwise.storage.spec.words.problem import BLOCKING, SpecError
from groupwise.storage.spec.yaml import yaml_text

SPEC, SCRIPT, NOTEBOOK, RECIPE = "a run in YAML", "a TRL script", "a notebook", "a recipe of TRL or open-r1"
MADE_UP = {FROM_SCRIPT, FROM_RECIPE}
MOST_SHOWN = 400  # notes on a page
_PYTHON = ("import ", "from ", "def ", "GRPOTrainer", "GRPOConfig", "!pip", "%")


@dataclass(frozen=True)
class Brought:
    """What was brought, and what it comes to: the spec's text, notes, and the functions that a script defines.
    `datasets`: those that it joins, of which a run has one; `untaken`: why others cannot be taken."""

    kind: str
    raw: Any
    text: str
    notes: list[str] = field(default_factory=list)
    functions: list[ScriptFunction] = field(default_factory=list)
    datasets: list[str] = field(default_factory=list)
    untaken: list[str] = field(default_factory=list)


def read_brought(name: str, text: str, offer: Offer | None = None, dataset: int = 0) -> Brought:
    """What a file (by its name) or a paste (name "") means. `offer`: which settings TRL has; `dataset`: which of those
    that a script joins is taken, from 1; 0 for none. Raises Unanswerable, in words."""
    known = (offer.training if offer is not None else None) or ()
    if name.lower().endswith(".ipynb") and not is_notebook(text):
        raise Unanswerable(f"{_quoted(name)} is no notebook: it has no cells. It may be damaged, or cut off.")
    try:
        if is_notebook(text):
            return _from_code(NOTEBOOK, read_script(text, known, dataset))
        if name.lower().endswith(".py") or (not name.lower().endswith((".yaml", ".yml")) and _is_code(text)):
            return _from_code(SCRIPT, read_script(text, known, dataset))
        return _from_yaml(name, text)
    except SpecError as error:
        problem = error.problems[0]
        where = f"line {problem.line}" if problem.line else ""
        place = ", ".join(part for part in (_quoted(name), where) if part)
        raise Unanswerable(
            f"{place[:1].upper()}{place[1:]}: {problem.message}" if place else problem.message
        ) from error


def _quoted(name: str) -> str:
    return f"“{PurePath(name).name[:80]}”" if name else ""


def _is_code(text: str) -> bool:
    """Whether a paste is rather Python than YAML: YAML is only what has a spec's or a recipe's names."""
    try:
        raw, _ = yaml_text.read_yaml(without_repeats(text)[0])
    except SpecError:
        return any(line.lstrip().startswith(_PYTHON) for line in text.splitlines()) or "GRPO" in text
    return not (isinstance(raw, dict) and (is_recipe(raw) or set(raw) & set(RunSpec.model_fields)))


def _from_code(kind: str, found: ScriptImport) -> Brought:
    raw = _with_open_choices(found.raw, found.open_source)
    notes = [*found.notes, *missing_modules.missing_notes(found.functions)]
    return Brought(kind, raw, yaml_text.dump(raw), notes, found.functions, found.datasets, found.untaken)


def _with_open_choices(raw: dict[str, Any], source: str) -> dict[str, Any]:
    """Settings in which what was not found is said to be none: the model and data that a spec has where it says
    nothing are not what was brought. `source`: the kind of data that is to be chosen, as “hub:”."""
    model, data = raw.get("model") or {}, raw.get("data") or {}
    return {**raw, "model": {"id": "", **model}, "data": {"source": source, **data}}


def _from_yaml(name: str, text: str) -> Brought:
    once, twice = without_repeats(text)
    try:
        raw, lines = yaml_text.read_yaml(text)
    except SpecError:
        raw, lines = yaml_text.read_yaml(once)
        if not is_recipe(raw):
            raise
    if is_recipe(raw):
        settings, notes = read_recipe(raw, lines)
        settings = _with_open_choices(settings, "hub:")
        return Brought(RECIPE, settings, yaml_text.dump(settings), [*twice, *notes])
    if not isinstance(raw, dict):
        what = _quoted(name) or "This"
        raise Unanswerable(f"{what} is neither a spec (a YAML mapping such as “name: my-run”) nor a Python script.")
    return Brought(SPEC, raw, text)


def describe_brought(brought: Brought, offer: Offer) -> dict[str, Any]:
    """What the page shows before anything is taken: kind, settings in a few words, notes, and each function."""
    shown = brought.notes[:MOST_SHOWN]
    hidden = len(brought.notes) - len(shown)
    return {
        "kind": brought.kind,
        "summary": _summary(brought) if brought.kind != SPEC else [],
        "notes": [*shown, *([f"And {hidden:,} more."] if hidden else [])],
        "functions": [_describe_function(one, offer) for one in brought.functions],
        "datasets": brought.datasets,
        "untaken": brought.untaken,
        "text": brought.text,
    }


def _summary(brought: Brought) -> list[list[str]]:
    """[what, what was found] for the few things that everybody asks for first."""
    raw = brought.raw
    source = str(raw["data"]["source"])
    later = "several: choose one below" if brought.datasets else "not found: choose it after the import"
    rewards = [str(one.get("name")) for one in raw.get("rewards") or []]
    training = raw.get("training") or {}
    return [
        ["Model", str(raw["model"]["id"])[:200] or "not found: choose one after the import"],
        ["Data", later if source.endswith(":") else source[:200]],
        ["Rewards", ", ".join(rewards)[:400] or "not found"],
        ["Training", count_words(len(training), "setting") + (", with LoRA" if raw.get("lora") is not None else "")],
    ]


def _describe_function(one: ScriptFunction, offer: Offer) -> dict[str, Any]:
    name, why = import_names.library_name(one.name, one.code, offer)
    code = rename_function(one.code, one.name, name)
    return {
        "name": one.name,
        "saved_as": name,
        "why": why,
        "code": code,
        "imports": one.imports,
        "problems": [
            {"at": f"{at[:1].upper()}{at[1:]}", "message": problem.message, "grave": problem.level == BLOCKING}
            for at, problem in zip(one.where, one.problems, strict=True)
        ],
        "secret": redaction.holds(code),
    }


def take_brought(brought: Brought, chosen: Iterable[str], offer: Offer) -> dict[str, Any]:
    """Save the chosen functions into the library, under names that are free; the spec's text, which names them so, and
    all notes. What cannot be saved is a note, and what got another name than the script's. `named`: whether what was
    brought names the run, which other data then does not rename."""
    chosen, notes = set(chosen), list(brought.notes[:MOST_SHOWN])
    raw = json.loads(json.dumps(brought.raw)) if brought.functions else brought.raw
    saved = []
    for one in brought.functions:
        if one.name not in chosen:
            notes.append(f"{one.name} was not saved in the library: save it under Rewards, or choose another reward.")
            continue
        name, why = import_names.library_name(one.name, one.code, offer)
        try:
            library.save_reward(name, rename_function(one.code, one.name, name))
        except LibraryError as error:
            notes.append(f"{one.name} was not saved in the library: {error}")
            continue
        saved.append(name)
        if name != one.name:
            notes.append(f"{one.name} was saved as {name}. {why}")
        for place in one.places:
            raw["rewards"][place]["name"] = name
    text = yaml_text.dump(raw) if saved else brought.text
    named = raw.get("name") not in {None, "", *MADE_UP}
    return {"text": text, "notes": notes, "saved": saved, "named": named}
