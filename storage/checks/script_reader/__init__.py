"""A TRL script, a notebook or a recipe → the RunSpec it means, as far as that can be read: the way back from
storage.checks.script, and the way in for what people have. Only read; nothing of a script is ever run."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from groupwise.storage.checks.script_reader import own
from groupwise.storage.checks.script_reader.answer_name import ask_for_answer
from groupwise.storage.checks.script_reader.dataset import DataReader
from groupwise.storage.checks.script_reader.interpret import Interpreter
from groupwise.storage.checks.script_reader.leftovers import note_leftovers
from groupwise.storage.checks.script_reader.model import ModelReader
from groupwise.storage.checks.script_reader.notebook import Code, is_notebook, plain_code, read_notebook
from groupwise.storage.checks.script_reader.parsing import parse_script, refusal
from groupwise.storage.checks.script_reader.places import is_config
from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.reward_code import ScriptFunction
from groupwise.storage.checks.script_reader.rewards import RewardReader
from groupwise.storage.checks.script_reader.text_prompts import note_text_prompt
from groupwise.storage.checks.script_reader.trainer_arguments import note_arguments
from groupwise.storage.checks.script_reader.training import find_trainer, lora, run_name, training
from groupwise.storage.checks.script_reader.unsaid import list_names
from groupwise.storage.spec.words.problem import SpecError

_SECOND_LINE = re.compile(r"\bon line (\d+)")


@dataclass(frozen=True)
class ScriptImport:
    """What a script came to: the settings that `spec.from_dict` takes, a sentence for each thing that was not taken,
    and the reward functions that come along, with their code. `datasets`: the names of those of which one is to be
    chosen, and `untaken` why what is joined beside them cannot be; `open_source`: where data is to be chosen, where
    none was found."""

    raw: dict[str, Any]
    notes: list[str]
    functions: list[ScriptFunction]
    datasets: list[str] = field(default_factory=list)
    untaken: list[str] = field(default_factory=list)
    open_source: str = "hub:"


def from_script(text: str) -> tuple[dict[str, Any], list[str]]:
    """The settings and the notes of `read_script`."""
    found = read_script(text)
    return found.raw, found.notes


def read_script(text: str, settings: Collection[str] = (), dataset: int = 0) -> ScriptImport:
    """What a script or a notebook means. `settings`: the names that TRL's config has, where they are known; `dataset`:
    which of those that it joins is taken, from 1; 0 for none. Raises SpecError, with the line, for what is no Python
    or no GRPO script."""
    code = read_notebook(text) if is_notebook(text) else plain_code(text)
    try:
        found = _read_code(code, settings, dataset)
    except SpecError as error:
        raise _in_cell(error, code) from error
    said = code.note()
    return replace(found, notes=[*found.notes, *([said] if said else [])])


def _in_cell(error: SpecError, code: Code) -> SpecError:
    """An error about a notebook says its cell, as nobody sees the lines of all its cells together."""
    problem = error.problems[0]
    if problem.line is None or not code.in_cells:
        return error
    where = code.place(problem.line)
    # Python names a second line in its own words: “after 'if' statement on line 12”
    message = _SECOND_LINE.sub(lambda found: f"in {code.place(int(found[1]))}", problem.message)
    return refusal(f"{where[:1].upper()}{where[1:]}: {message}")


def _read_code(code: Code, settings: Collection[str], dataset: int) -> ScriptImport:
    tree = parse_script(code.text)
    is_own = own.is_own(tree)
    script = Interpreter(tree, own.NOT_FOLLOWED if is_own else set())
    reading = Reading(script, code.text.split("\n"), code.place, settings)
    reading.own, reading.chosen = is_own, dataset
    try:
        script.run()
        find_trainer(reading)
        if reading.made_trainer is None and not any(is_config(call) for call in script.calls):
            others = dict.fromkeys(call.name for call in script.calls if call.name.endswith("Trainer"))
            instead = f" It trains with {list_names(list(others))}." if others else ""
            raise refusal(f"This is not a GRPO script: it calls neither GRPOTrainer nor GRPOConfig.{instead}")
        raw, functions = (_own_settings(reading), []) if is_own else _ordinary(reading)
    except RecursionError as error:
        raise refusal("The script is nested too deeply to be read.") from error
    return ScriptImport(raw, reading.notes, functions, reading.datasets, reading.untaken, reading.open_source)


def _own_settings(reading: Reading) -> dict[str, Any]:
    raw = {"name": run_name(reading), **own.title(reading.script.tree)}
    raw |= {"model": ModelReader(reading).settings(), "data": own.own_data(reading), "lora": lora(reading, [])}
    raw |= own.kl_settings(reading)
    staged = own.stages(reading)
    if not staged:
        rewards = RewardReader(reading).settings()
        staged = {"training": training(reading)} | ({} if rewards is None else {"rewards": rewards})
    return own.with_unused(raw | staged, own.unused_settings(reading))


def _ordinary(reading: Reading) -> tuple[dict[str, Any], list[ScriptFunction]]:
    rewards, model = RewardReader(reading), ModelReader(reading)
    found = rewards.settings()
    raw: dict[str, Any] = {"name": run_name(reading), "model": model.settings()}
    reading.asked = rewards.arguments_asked
    raw["data"] = DataReader(reading).settings(rewards.answer_asked)
    note_text_prompt(reading, rewards.own)
    adapter = lora(reading, model.wrapped)
    raw |= {} if adapter is None else {"lora": adapter}
    raw |= {"training": training(reading)} | ({} if found is None else {"rewards": found})
    if found is None:
        reading.tell("The script names no reward functions that could be taken: choose them here.")
    if reading.made_trainer is None:
        reading.tell("The script makes no GRPOTrainer: which of its settings would reach the trainer is uncertain.")
    for name, node in reading.script.environment:
        reading.note(name[:60], node, "is read from the environment: its default was taken.")
    for parsed in reading.script.parsed:
        reading.note("The command line", parsed, "is read: where it has defaults, those were taken.")
    note_arguments(reading, model)
    reading.codes = [one.code for one in rewards.own]
    note_leftovers(reading)
    functions = rewards.own
    if reading.answer is not None:
        set_here = {one["name"] for one in found or [] if reading.answer[0] in one.get("parameters", {})}
        functions = ask_for_answer(reading, functions, reading.answer, set_here)
    return raw, functions
