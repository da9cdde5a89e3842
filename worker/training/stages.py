"""A run's stages, one after the other in one process: what each trains, how many steps it has, where it begins.

A run without stages is one stage that nobody speaks of: its checkpoints lie directly in checkpoints/.
"""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import checkpoint_files, endings, group_metrics
from groupwise.storage.spec.spec import RunSpec
from groupwise.worker.training import checkpoints, settings, trainer
from groupwise.worker.training.recorder import Recorder, StageNote, StepInLog
from groupwise.worker.training.trackers import Trackers


@dataclass(frozen=True)
class Length:
    """What decides how many optimiser steps a stage has, as GRPOConfig works it out."""

    max_steps: int
    epochs: float
    prompts: int  # a generation takes
    slices: int  # per-device batches that are made of one generation
    accumulation: int

    @classmethod
    def of(cls, args: Any) -> Length:
        """The length that a GRPOConfig asks for."""
        return cls(
            args.max_steps,
            args.num_train_epochs,
            args.generation_batch_size // args.num_generations,
            args.steps_per_generation * args.num_iterations,
            args.gradient_accumulation_steps,
        )

    def steps(self, rows: int) -> int:
        """As transformers' Trainer plans them over TRL's RepeatSampler; `rows` are those to train on."""
        if self.max_steps >= 0:
            return self.max_steps
        batches = rows // self.prompts * self.slices
        return math.ceil(self.epochs * max(math.ceil(batches / self.accumulation), 1))


@dataclass(frozen=True)
class Stage:
    """One stage: its settings as a spec of its own, its number (from 1; 0: the run has no stages), the folder of its
    checkpoints, and its length (None: nobody needs to know)."""

    spec: RunSpec
    number: int
    name: str
    folder: Path
    length: Length | None

    @property
    def model(self) -> Path:
        """What it ends with, for the next to begin from."""
        return self.folder / checkpoint_files.MODEL


def stages_of(run_spec: RunSpec, folder: RunFolder) -> list[Stage]:
    """The stages of a run. With several, the GRPOConfig of each is built at once: what is wrong with the last is
    said before the first trains."""
    specs = run_spec.by_stage()
    if not run_spec.stages:
        return [Stage(specs[0], 0, "", folder.checkpoints, None)]
    found = []
    for number, (stage, spec) in enumerate(zip(run_spec.stages, specs, strict=True), start=1):
        place = checkpoints.stage_folder(folder.checkpoints, number)
        try:
            length = Length.of(trainer.grpo_config(spec, place))
        except (ValueError, TypeError, NotImplementedError) as error:
            raise trainer.CannotRun(f"stage {number} cannot be trained: {str(error).splitlines()[0]}") from error
        found.append(Stage(spec, number, stage.name or ", ".join(r.name for r in spec.rewards), place, length))
    return found


def weights(run_spec: RunSpec) -> dict[str, float]:
    """Every reward function of the run, with its weight (in stages that differ: the last)."""
    return {reward.name: reward.weight for spec in run_spec.by_stage() for reward in spec.rewards}


def train_stages(run_spec: RunSpec, folder: RunFolder, recorder: Recorder, point: Path | None) -> dict[str, Any]:
    """Train what is still to do, from `point` on (a checkpoint, or what a stage ended with; None: from the
    beginning), and say how it ended: outcome, step, planned."""
    stages, trackers = stages_of(run_spec, folder), Trackers(folder.path, recorder.say, recorder.note)
    step = checkpoint_files.step_of(point) if point else 0
    first = max(checkpoint_files.stage_of(point) - 1, 0) if point else 0
    resume, begin_from = point, None
    if point and (point.name == checkpoint_files.MODEL or checkpoints.is_last(point)):
        # The stage was over, though the process did not get to say so. transformers would train one step more.
        if point.name != checkpoint_files.MODEL and recorder.writer is not None:
            _keep_copy(point, stages, first, folder, step)
        first, resume, begin_from = first + 1, None, point
    if first == len(stages):
        return {"outcome": endings.FINISHED, "step": step, "planned": step}
    for index in range(first, len(stages)):
        reports = [*trackers.callbacks(stages[index].spec), StepInLog(recorder)]
        ended = _train_one(stages, index, folder, recorder, resume, begin_from, step, reports)
        if ended["outcome"] != endings.FINISHED:
            break
        step, resume, begin_from = ended["step"], None, stages[index].model
    return ended


def _train_one(
    stages: list[Stage], index: int, folder: RunFolder, recorder: Recorder, resume: Path | None,
    begin_from: Path | None, step: int, reports: list[TrainerCallback],
) -> dict[str, Any]:  # fmt: skip
    """Train one stage, keep the model it ends with, and leave the memory free for the next."""
    stage = stages[index]
    grpo = trainer.make_trainer(
        stage.spec, folder, recorder, output=stage.folder, begin_from=begin_from, resume=resume, trackers=reports
    )
    try:
        return _run_stages(grpo, stages, index, folder, recorder, resume, step)
    finally:
        grpo.scorers.close()


def _run_stages(
    grpo: Any, stages: list[Stage], index: int, folder: RunFolder, recorder: Recorder, resume: Path | None, step: int
) -> dict[str, Any]:
    stage = stages[index]
    if recorder.stop_asked() and grpo.accelerator.num_processes == 1:
        return {"outcome": endings.STOPPED, "step": step}
    keep = settings.checkpoints_to_keep(stage.spec)
    before = checkpoint_files.before_stage(resume) if resume else step
    if stage.number:
        recorder.enter(_stage_note(stages, index, before, len(grpo.train_dataset)), keep)
    grpo.train(resume_from_checkpoint=str(resume) if resume else None)
    reached = before + grpo.state.global_step
    if not recorder.stopped:
        _keep_model(grpo, stages, index, folder, reached)
    planned = recorder.planned
    if recorder.stopped and recorder.reason:
        why = {"reason": recorder.reason, **recorder.cause}
        return {"outcome": endings.FAILED, "step": reached, "planned": planned, **why}
    outcome = endings.STOPPED if recorder.stopped else endings.FINISHED
    if index < len(stages) - 1:
        _release(grpo)
    return {"outcome": outcome, "step": reached, "planned": planned}


def _stage_note(stages: list[Stage], index: int, before: int, rows: int) -> StageNote:
    stage = stages[index]
    later = sum(later.length.steps(rows) for later in stages[index + 1 :] if later.length)
    facts = {
        "stage": stage.number,
        "of": len(stages),
        "name": stage.name,
        "weights": {reward.name: reward.weight for reward in stage.spec.rewards},
    }
    message = f"Stage {stage.number} of {len(stages)}: {stage.name}."
    names, target = [reward.name for reward in stage.spec.rewards], group_metrics.target(stage.spec.rewards)
    return StageNote(message, before, later, names, target, facts)


def _keep_model(grpo: Any, stages: list[Stage], index: int, folder: RunFolder, step: int) -> None:
    """Save what a stage ended with: the run's final model, or what the next stage begins from. That of the stage
    before is then no longer needed."""
    stage, is_main = stages[index], grpo.accelerator.is_main_process
    if index == len(stages) - 1:
        grpo.save_model(str(folder.final))
        return
    if is_main:
        shutil.rmtree(stage.model, ignore_errors=True)
    grpo.save_model(str(stage.model))
    if is_main:
        checkpoints.seal_model(stage.model, step)
        _drop_model_before(stages, index)
    grpo.accelerator.wait_for_everyone()


def _keep_copy(checkpoint: Path, stages: list[Stage], index: int, folder: RunFolder, step: int) -> None:
    """The same, from the checkpoint of a stage's last step."""
    if index == len(stages) - 1:
        checkpoints.copy_model(checkpoint, folder.final)
        return
    checkpoints.copy_model(checkpoint, stages[index].model)
    checkpoints.seal_model(stages[index].model, step)
    _drop_model_before(stages, index)


def _drop_model_before(stages: list[Stage], index: int) -> None:
    if index:
        shutil.rmtree(stages[index - 1].model, ignore_errors=True)


def _release(grpo: Any) -> None:
    """Let go of a trainer's model and optimiser, so that the next stage has the device's memory to itself."""
    from accelerate.utils.memory import clear_device_cache

    grpo.accelerator.free_memory()
    grpo.model = grpo.model_wrapped = grpo.ref_model = grpo.optimizer = grpo.lr_scheduler = None
    clear_device_cache(garbage_collection=True)
