"""The GRPOTrainer that a spec describes, built from a run's folder: model, data, rewards, GRPOConfig."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record.step_record import Group
from groupwise.storage.spec.answer_numbers import as_scored
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.number_words import are_words, count_words
from groupwise.worker.builtin import models, shipped
from groupwise.worker.data import data
from groupwise.worker.training import trl_log
from groupwise.worker.training.kl_control import KlControl
from groupwise.worker.training.scoring import Note, Scorers
from groupwise.worker.training.settings import training_settings
from groupwise.worker.training.weighting import Weighting


class CannotRun(Exception):
    """The run cannot begin; the message says why."""


class Listener(Protocol):
    """Who is told what a trainer does, a TrainerCallback besides: see CapturingTrainer."""

    def take(
        self, groups: list[Group], notes: list[Note], seconds: dict[str, float], weights: dict[str, float]
    ) -> None: ...

    def await_room(self, model: Any, optimizer: Any) -> bool: ...

    def seal(self, checkpoint: Path, global_step: int) -> None: ...

    def say(self, warning: str) -> None: ...


def make_trainer(
    run_spec: RunSpec,
    folder: RunFolder,
    recorder: Listener,
    *,
    output: Path | None = None,
    begin_from: Path | None = None,
    resume: Path | None = None,
    trackers: Sequence[Any] = (),
) -> Any:
    """The GRPOTrainer that a spec (its own settings, or those of one stage: RunSpec.by_stage) describes. Whoever has
    it made closes its `scorers`.

    `output`: where its checkpoints go, if not where a run's do. `begin_from`: a folder with the trained weights that
    it begins with. The reference model is the spec's own model all the same. `resume`: the checkpoint that it will
    resume from. `trackers`: further callbacks, such as of where it reports to besides.
    """
    from peft import LoraConfig

    from groupwise.worker.training.capture import CapturingTrainer

    trl_log.keep_dicts_out()
    args = grpo_config(run_spec, output or folder.checkpoints)
    if resume is not None or begin_from is not None:
        args.eval_on_start = False  # step 0 was evaluated; a later step that was not, the recorder makes up
    model, tokenizer = models.load_model(run_spec.model, use_cpu=args.use_cpu)
    train_rows, held_out = _rows(run_spec, folder, tokenizer, recorder)
    trainer = CapturingTrainer(
        model=model,
        scorers=Scorers(as_scored(run_spec).rewards, folder),
        weighting=Weighting(run_spec.rewards, resume),
        kl=KlControl(run_spec.kl, args.beta, resume) if run_spec.kl.target is not None else None,
        args=args,
        train_dataset=train_rows,
        eval_dataset=held_out,
        processing_class=tokenizer,
        peft_config=LoraConfig(**run_spec.lora) if run_spec.lora is not None else None,
        callbacks=[recorder, *trackers],
        on_groups=recorder.take,
        await_room=recorder.await_room,
        seal=recorder.seal,
    )
    _refuse_what_cannot_work(trainer, len(train_rows))
    if begin_from is not None:
        load_weights(trainer.model, begin_from)
    return trainer


def grpo_config(run_spec: RunSpec, output: Path) -> Any:
    """The GRPOConfig of a run, or of one stage. Raises what TRL raises where the settings do not fit together."""
    from trl import GRPOConfig

    return GRPOConfig(**training_settings(run_spec, output))


def load_weights(model: Any, folder: Path) -> None:
    """Put the weights that a stage ended with into a model: all of them, or those of its LoRA adapter.

    Into the base model, not in its place: TRL gives a model that was loaded from somewhere else another reference
    (that place, or a frozen copy of the adapter), and `beta` would hold each stage to something else.
    """
    if (folder / "adapter_config.json").is_file():
        model.load_adapter(str(folder), "default", is_trainable=True)
        return
    from accelerate import load_checkpoint_in_model

    load_checkpoint_in_model(model, str(folder))


def _rows(run_spec: RunSpec, folder: RunFolder, tokenizer: Any, recorder: Listener) -> tuple[Any, Any]:
    name, chat = shipped.task_of(run_spec), tokenizer.chat_template is not None
    task = shipped.load_task(folder, name) if name else None
    return data.load_data(run_spec.data, chat=chat, task=task, say=recorder.say, numbered=True)


def _refuse_what_cannot_work(trainer: Any, rows: int) -> None:
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if trainer.accelerator.num_processes != world:
        raise CannotRun(f"{world} processes were started, but each would train alone. Set use_cpu, or use one process.")
    prompts = trainer.args.generation_batch_size // trainer.num_generations
    if rows < prompts:
        taken = count_words(prompts, "prompt")
        there = f"there {are_words(rows)} {count_words(rows, 'row')} to train on"
        raise CannotRun(f"{there}, but each generation takes {taken}.")
