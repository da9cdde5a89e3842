"""What a spec will do, in words: groups and batches, how much is generated, and the problems that block it. Pure."""

from __future__ import annotations

import math
from typing import Any

from app import figures, format
from app.components.live import escape
from storage.spec import Problem, RunSpec

ADVICE = {
    "num_generations": "2 or 3 are too few to compare; 4–8 for simple tasks, 8–16 for reasoning",
    "per_device_train_batch_size": "on each device; whole groups, so a multiple of the group size",
    "learning_rate": "5e-6 is safe for billions of parameters, 1e-5 faster and riskier; the starter takes 1e-4",
    "max_completion_length": "in tokens: 256 for short answers, 512 for reasoning",
    "beta": "pull towards the model one began with; 0, TRL's default, draws no KL",
    "max_steps": "updates of the model; −1 leaves it to num_train_epochs",
    "name": "",
    "model": "starter, a folder, or a hub id such as org/name",
    "rank": "16, with lora_alpha 32, is common practice",
    "tune": "LoRA trains small added matrices: less memory",
    "source": "a built-in task, or a JSONL, CSV or Parquet file in the home",
    "rewards": "",
}
# Spec path → the form's field, for problems that can be shown there.
PLACES = {
    "name": "name", "model.id": "model", "lora.r": "rank", "lora": "tune", "data.source": "source",
    "rewards": "rewards",
    **{f"training.{name}": name for name in list(ADVICE)[:6]},
}  # fmt: skip


def place(problem: Problem) -> str | None:
    """The form's field where a problem belongs, if the form has it."""
    parts = problem.field.split(".")
    tries = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    found = next((PLACES[path] for path in tries if path in PLACES), None)
    return None if found == "tune" and len(parts) > 1 else found


def note(field: str, found: list[Problem]) -> str:
    """The line under a field, as HTML: its problems, or advice."""
    mine = [problem for problem in found if place(problem) == field]
    if mine:
        return "".join(f'<p class="xs field-problem">◆ {escape(sentence(problem.message))}</p>' for problem in mine)
    name = f"<code>{field}</code> · " if f"training.{field}" in PLACES else ""
    return f'<p class="xs mut">{name}{escape(ADVICE[field])}</p>' if ADVICE[field] else ""


def sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def summary(spec: RunSpec | None, found: list[Problem], defaults: dict[str, Any]) -> str:
    """“What will happen”, as HTML: the words, then every problem."""
    happening = "".join(f'<p class="s">{line}</p>' for line in (words(spec, defaults) if spec else []))
    if not happening:
        happening = '<p class="s mut">As soon as the problems below are mended, this says what the run will do.</p>'
    problems = "".join(
        f'<div class="verdict bad"><b class="s">{escape(title(problem))}</b>'
        f'<p class="s">{escape(sentence(problem.message))}</p></div>'
        for problem in found
    )
    count = len(found)
    blocked = (
        f'<p class="xs mut">{format.plural(count, "problem")} to mend before this can be launched.</p>' if count else ""
    )
    return happening + problems + blocked


def title(problem: Problem) -> str:
    """training.beta, line 12"""
    parts = [problem.field or "the YAML", f"line {problem.line}" if problem.line else ""]
    return ", ".join(part for part in parts if part)


def words(spec: RunSpec, defaults: dict[str, Any]) -> list[str]:
    """The arithmetic of GRPOConfig in sentences (HTML); empty while a number is missing. Counts as TRL does:
    a generation makes per-device batch × processes × steps_per_generation completions."""

    def value(name: str) -> Any:
        given = spec.training.get(name)
        return given if given is not None else defaults.get(name)

    size, device = value("num_generations"), value("per_device_train_batch_size")
    updates = value("gradient_accumulation_steps")
    per_generation = value("steps_per_generation") or updates or 1
    processes = spec.launch.processes
    iterations = value("num_iterations") or 1
    if not all(_count(number) for number in (size, device, updates or 1, per_generation, iterations)):
        return []
    step = device * processes * (updates or 1)
    generation = value("generation_batch_size") or device * processes * per_generation
    if not _count(generation):
        return []
    lines = [_batch(step, generation, size)]
    steps = value("max_steps")
    if _count(steps):
        made = math.ceil(steps * step / (generation * iterations)) * generation  # the last is generated whole, too
        lines.append(_length(spec, steps, made, size, value("max_completion_length")))
    if value("eval_strategy") not in (None, "no") and spec.data.holdout:
        often = {name: value(name) for name in ("eval_steps", "logging_steps")}
        by_steps = value("eval_strategy") == "steps"
        every = figures.every(often, "eval_steps", steps) if by_steps else None
        lines.append(_evaluation(spec, every, value("num_generations_eval") or size))
    if not value("beta"):
        lines.append("No KL: nothing anchors the model to where it began, and no reference model takes memory.")
    return lines


def _count(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number > 0


def _batch(step: int, generation: int, size: int) -> str:
    if generation % size:
        return f"<b>{format.count(generation)} completions</b> are generated at a time."
    prompts = generation // size
    line = f"{format.plural(prompts, 'prompt')} × {size} completions = <b>{format.plural(generation, 'completion')}</b>"
    if generation == step:
        return f"{line} a step; one update a step."
    if generation > step and generation % step == 0:
        return f"{line} at a time, used for {generation // step} updates of {format.count(step)}."
    return f"{line} at a time; {format.count(step)} of them an update."


def _length(spec: RunSpec, steps: int, made: int, size: int, longest: Any) -> str:
    line = f"{format.plural(steps, 'step')}: <b>{format.count(made)} completions</b> in all"
    line += f", each at most {format.count(longest)} tokens" if _count(longest) else ""
    # How many rows a file has only reading it tells; a task makes as many as it is asked for.
    rows = (spec.data.limit or 0) - spec.data.holdout if spec.data.source.startswith("task:") else 0
    if rows <= 0:
        return f"{line}."
    share = made / size / rows
    passes = f"{share * 100:.0f}\u202f% of one pass" if share < 1 else f"{share:.1f} passes"
    return f"{line}. That is {passes} over {format.count(rows)} prompts."


def _evaluation(spec: RunSpec, every: Any, size: int) -> str:
    when = f"Every {format.count(every)} steps" if _count(every) else "At each evaluation"
    return f"{when}, {format.plural(spec.data.holdout, 'held-out prompt')} × {size} completions are scored."
