"""“Try one step”: `python -m groupwise.worker.dry_run.dry_run QUESTION_ID` generates and updates once with the real
model and data, through the same trainer as a run, and answers what that took. What it writes lies in its temporary
folder only, which the supervisor removes (worker.dry_run.tries)."""

import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from groupwise.storage.checks.check import check_spec
from groupwise.storage.home import process_log
from groupwise.storage.home.large_imports import no_collections
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.record import run_files
from groupwise.storage.registry import questions, registry
from groupwise.storage.registry.messages.dry_run import Memory, Seconds, TryAnswer, TryQuestion
from groupwise.storage.registry.messages.facts import Hardware
from groupwise.storage.registry.messages.message import Answer, Misfit, Progress
from groupwise.storage.registry.messages.problem import Failed
from groupwise.storage.spec import spec
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.number_words import count_words
from groupwise.storage.spec.words.problem import BLOCKING, Problem, SpecError
from groupwise.worker.questions.workbench.request import Refused

# A run's settings, but for one step that leaves nothing anywhere.
ONE_STEP: dict[str, Any] = {
    "max_steps": 1, "logging_strategy": "steps", "logging_steps": 1, "eval_strategy": "no", "do_eval": False,
    "eval_on_start": False, "save_strategy": "no", "load_best_model_at_end": False, "push_to_hub": False,
    "log_completions": False, "log_completions_hub_repo": None,
}  # fmt: skip
NEED_EVALUATION = ("reduce_lr_on_plateau", "greedy")  # schedules that look at the evaluation's metrics


def main(question_id: int) -> int:
    """Try, and answer; 0 when the step was made."""
    question = questions.get_question(question_id)
    if question is None:
        return 1
    try:
        asked = question.read_question()
        assert isinstance(asked, TryQuestion)  # the supervisor starts dry runs for no other
        answer: Answer = attempt(
            asked.text, lambda sentence: questions.set_progress(question_id, Progress(sentence=sentence))
        )
    except Exception as error:
        traceback.print_exc()
        answer = explain_failure(error)
    questions.answer_question(question_id, answer)
    return 1 if isinstance(answer, Failed) else 0


def attempt(text: str, say: Callable[[str], None]) -> TryAnswer:
    """One step of the spec in a YAML text. Raises whatever keeps it from being made."""
    begun = time.monotonic()
    say("Reading the settings.")
    run_spec = read_spec(text)
    with no_collections():
        from groupwise.worker.builtin import shipped
        from groupwise.worker.dry_run import reward_failures, watcher
        from groupwise.worker.questions import build
        from groupwise.worker.training import trainer

    _refuse(build.settings_problems(run_spec, registry.read_fact(Hardware)))
    say("Loading the model and the data.")

    with tempfile.TemporaryDirectory(prefix="step-") as place:
        folder = RunFolder(Path(place))
        stage = one_step(run_spec.by_stage()[0], run_spec.launch.processes)
        shipped.freeze(folder, stage)
        seen = watcher.Watcher([reward.name for reward in stage.rewards])
        grpo = trainer.make_trainer(stage, folder, seen)
        loaded = time.monotonic()
        say(f"Generating {count_words(grpo.args.generation_batch_size, 'completion')}, then one update.")
        try:
            grpo.train()
        finally:
            grpo.scorers.close()
        seconds = Seconds(load=round(loaded - begun, 2), step=round(time.monotonic() - loaded, 2))
        memory = watcher.memory(grpo.args.device)
    return TryAnswer(
        seconds=seconds,
        memory=memory,
        metrics=seen.metrics,
        completions=seen.first_completions(),
        failures=reward_failures.reward_failures(seen.notes),
        sentence=sentence(run_spec, seconds, memory),
    )


def read_spec(text: str) -> RunSpec:
    """The spec, where nothing is known that keeps it from running. Raises Refused."""
    try:
        run_spec = spec.parse_spec(text)
        found = check_spec(run_spec, Offer.read_published(), spec.line_numbers(text))
    except SpecError as error:
        _refuse(error.problems)
        raise  # never without a problem
    _refuse(found)
    return run_spec


def _refuse(found: list[Problem]) -> None:
    for problem in found:
        if problem.level == BLOCKING:
            raise Refused(str(problem), problem.field)


def one_step(stage: RunSpec, processes: int) -> RunSpec:
    """A spec without stages, cut down to one step in one process.

    One process makes what several would have made one after the other (as accumulation), where its own part would
    not hold whole groups.
    """
    from trl import GRPOConfig

    settings = {**stage.training, **ONE_STEP}
    if settings.get("lr_scheduler_type") in NEED_EVALUATION:
        settings |= {"lr_scheduler_type": "constant", "lr_scheduler_kwargs": None}

    def value(name: str) -> Any:
        given = settings.get(name)
        return given if given is not None else GRPOConfig.__dataclass_fields__[name].default

    accumulation = value("gradient_accumulation_steps")
    part = value("per_device_train_batch_size") * (value("steps_per_generation") or accumulation)
    if processes > 1 and not settings.get("generation_batch_size") and part % value("num_generations"):
        settings["gradient_accumulation_steps"] = accumulation * processes
        if settings.get("steps_per_generation"):
            settings["steps_per_generation"] *= processes
    launch = stage.launch.model_copy(update={"processes": 1})
    return stage.model_copy(update={"training": settings, "launch": launch, "stages": []})


def sentence(run_spec: RunSpec, seconds: Seconds, memory: Memory) -> str:
    """How the step went, in words."""
    whose = " of the whole process" if memory.device == "CPU" else ""
    said = (
        f"Loading took {seconds.load:.1f} s and one step {seconds.step:.1f} s on {memory.device}; later steps "
        f"are faster than the first. The most memory{whose} was {memory.peak / 1e9:.1f} GB."
    )
    if run_spec.launch.processes > 1:
        said += f" This was one process; a run shares the work between {run_spec.launch.processes}."
    if run_spec.stages:
        stages = len(run_spec.stages)
        said += " This was its only stage." if stages == 1 else f" This was the first of {stages} stages."
    return said


def explain_failure(error: Exception) -> Failed:
    """Why it failed, in words, at the field where that is known."""
    from groupwise.worker.training.why_failed import cause_and_reason

    if isinstance(error, (Refused, Misfit)):
        return Failed(error=str(error), field=error.field)
    cause, message = cause_and_reason(error)
    if cause == run_files.MEMORY:
        return Failed(error=f"One step does not fit: {message}", field="training.per_device_train_batch_size")
    return Failed(error=f"{message[:1].upper()}{message[1:]}", field=str(getattr(error, "field", "")))


if __name__ == "__main__":
    process_log.keep_secrets()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    sys.exit(main(int(sys.argv[1])))
