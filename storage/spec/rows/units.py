"""A number with a unit that its field does not count: “10 min” where steps are counted. It is said so, and no button
makes steps of minutes. Pure."""

import re
from dataclasses import replace
from typing import Any

from groupwise.storage.spec.rows.number_text import LONGEST
from groupwise.storage.spec.words.problem import Problem

_WRITTEN = re.compile(r"[-+]?[0-9][0-9., ]*?\s*([^\W\d_]+)\.?")
# What is counted → how it is written behind a number.
_UNITS = {
    "seconds": "s sec secs second seconds", "minutes": "m min mins minute minutes",
    "hours": "h hr hrs hour hours", "days": "d day days", "steps": "step steps", "epochs": "epoch epochs",
    "tokens": "token tokens tok toks", "rows": "row rows", "completions": "completion completions",
}  # fmt: skip
_BY_WORD = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_OF_TIME = ("seconds", "minutes", "hours", "days")
_COUNTED = {
    "num_train_epochs": "epochs", "timeout": "seconds", "max_completion_length": "tokens", "limit": "rows",
    "holdout": "rows", "shuffle": "", "num_generations": "completions", "num_generations_eval": "completions",
    "per_device_train_batch_size": "completions", "per_device_eval_batch_size": "completions",
    "generation_batch_size": "completions", "steps_per_generation": "steps", "gradient_accumulation_steps": "steps",
    "processes": "processes", "step": "steps", "every": "steps",
}  # fmt: skip
_ASKED = re.compile(r" Did you mean [^?]*\?")


def say_unit(problem: Problem, value: Any) -> Problem:
    """The problem of a value that is no number, with what its field counts where it has another unit, and without the
    buttons that write its number all the same; any other as it is."""
    found = _WRITTEN.fullmatch(value.strip()) if isinstance(value, str) and len(value) <= LONGEST else None
    typed = _BY_WORD.get(found[1].casefold()) if found else None
    name = problem.field.rpartition(".")[2]
    counted = _COUNTED.get(name, "steps" if name.endswith("_steps") else "")
    if typed is None or "number" not in problem.message or typed == counted or not (counted or typed in _OF_TIME):
        return problem
    words = f" It counts {counted}, not {typed}." if counted else f" It is not a number of {typed}."
    message = _ASKED.sub("", problem.message) + words
    kept = tuple(fix for fix in problem.fixes if fix.fallback or problem.field in fix.removed)
    return replace(problem, message=message, fixes=kept)
