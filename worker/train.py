"""One run, start to end: `python -m worker.train RUN_ID` (one process, or each rank of several).

Reads the run's folder, trains with TRL's GRPOTrainer, records into run.db, and writes exit.json last of all.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from storage import files, home, locks, registry, spec
from storage.batch import Event
from storage.home import RunFolder
from storage.record import RunWriter
from storage.spec import RunSpec
from worker import checkpoints, data, endings, models, shipped

MIN_FREE = 256 * 2**20  # bytes of disk under which no run is begun


class CannotRun(Exception):
    """The run cannot begin; the message says why."""


class Signals:
    """SIGTERM asks for the same as Stop: finish the step, save, end."""

    def __init__(self) -> None:
        self.stop = False
        signal.signal(signal.SIGTERM, self._note)

    def _note(self, *_: Any) -> None:
        self.stop = True


def main(run_id: str) -> int:
    """Train the run; 0 when it ended as planned or asked, 1 when it failed."""
    is_main = int(os.environ.get("RANK", "0")) == 0
    folder = home.run_folder(run_id)
    if is_main and locks.hold(folder.lock) is None:
        print("groupwise: this run is already being trained by another process", flush=True)
        return 1
    run = registry.get(run_id)
    if run is None:
        print(f"groupwise: there is no run {run_id}", flush=True)
        return 1
    record: dict[str, Any] = {"attempt": run.attempt, "outcome": endings.FAILED, "step": 0, "planned": 0}
    try:
        record |= train(folder, run.attempt, is_main)
    except Exception as error:
        traceback.print_exc()
        record |= {"reason": explain(error), "traceback": traceback.format_exc()}
    if is_main:
        try:
            files.write_json(folder.exit, {**record, "at": time.time()})
        except OSError as error:
            print(f"groupwise: how it ended could not be written: {error}. {record}", flush=True)
    return 0 if record["outcome"] != endings.FAILED else 1


def train(folder: RunFolder, attempt: int, is_main: bool) -> dict[str, Any]:
    """Train, and say how it ended: outcome, step, planned."""
    stop = Signals()
    run_spec = spec.parse(folder.spec.read_text(encoding="utf-8"))
    if shutil.disk_usage(folder.path).free < MIN_FREE:
        raise CannotRun(f"less than {MIN_FREE >> 20} MB of disk is free in {folder.path}.")
    flag = registry.StopFlag(folder.id, attempt) if is_main else None
    weights = {reward.name: reward.weight for reward in run_spec.rewards}
    writer = RunWriter(folder.db, attempt, weights) if is_main else None

    from worker.recorder import Recorder  # torch and trl: seconds

    recorder = Recorder(
        writer, folder.path, lambda: stop.stop or (flag is not None and flag.is_set()), _checkpoints_to_keep(run_spec)
    )
    try:
        resume = _resume_point(folder, attempt, writer)
        if resume and checkpoints.is_last(resume):
            # It ended between its last step and its last word. transformers would train one step more.
            if is_main:
                checkpoints.copy_model(resume, folder.final)
            return {"outcome": endings.FINISHED, "step": (last := checkpoints.step_of(resume)), "planned": last}
        trainer = make_trainer(run_spec, folder, recorder)
        if recorder.stop_asked() and trainer.accelerator.num_processes == 1:
            return {"outcome": endings.STOPPED, "step": checkpoints.step_of(resume) if resume else 0}
        trainer.train(resume_from_checkpoint=str(resume) if resume else None)
        if not recorder.stopped:
            trainer.save_model(str(folder.final))
        return {
            "outcome": endings.STOPPED if recorder.stopped else endings.FINISHED,
            "step": trainer.state.global_step, "planned": recorder.planned,
        }  # fmt: skip
    finally:
        recorder.flush()
        if writer is not None:
            writer.close()


def make_trainer(run_spec: RunSpec, folder: RunFolder, recorder: Any) -> Any:
    """The GRPOTrainer that a spec describes."""
    import torch
    from peft import LoraConfig
    from trl import GRPOConfig

    from worker.capture import CapturingTrainer

    model, tokenizer = models.load(run_spec.model)
    task = shipped.task_of(run_spec)
    train_rows, held_out = data.load(
        run_spec.data,
        chat=tokenizer.chat_template is not None,
        task=shipped.load_task(folder, task) if task else None,
    )
    settings = {
        "use_cpu": not torch.accelerator.is_available(),
        **run_spec.training,
        "output_dir": str(folder.checkpoints),
        "report_to": "none",
        **({} if _checkpoints_to_keep(run_spec) is None else {"save_total_limit": None}),
        "disable_tqdm": True,  # the log file is read by people, and a bar is one endless line there
        "reward_weights": [reward.weight for reward in run_spec.rewards],
    }
    trainer = CapturingTrainer(
        model=model,
        reward_funcs=[shipped.load_reward(folder, reward.name) for reward in run_spec.rewards],
        args=GRPOConfig(**settings),
        train_dataset=train_rows,
        eval_dataset=held_out,
        processing_class=tokenizer,
        peft_config=LoraConfig(**run_spec.lora) if run_spec.lora is not None else None,
        callbacks=[recorder],
        on_groups=recorder.take,
    )
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if trainer.accelerator.num_processes != world:
        raise CannotRun(f"{world} processes were started, but each would train alone. Set use_cpu, or use one process.")
    prompts = trainer.args.generation_batch_size // trainer.num_generations
    if len(train_rows) < prompts:
        raise CannotRun(f"there are {len(train_rows)} rows to train on, but each generation takes {prompts} prompts.")
    return trainer


def _checkpoints_to_keep(run_spec: RunSpec) -> int | None:
    """How many checkpoints the recorder keeps, after sealing; None where transformers rotates (it knows the best
    one), or all are kept."""
    if run_spec.training.get("load_best_model_at_end"):
        return None
    return run_spec.training.get("save_total_limit")


def _resume_point(folder: RunFolder, attempt: int, writer: RunWriter | None) -> Path | None:
    """The newest whole checkpoint, if this is a resume; what was passed over is said in an event."""
    if attempt == 1:
        return None
    checkpoint, passed = checkpoints.latest_whole(folder.checkpoints)
    if writer is not None and passed:
        step = checkpoints.step_of(checkpoint) if checkpoint else 0
        writer.commit(step, events=[Event("warning", sentence) for sentence in passed])
    return checkpoint


def explain(error: Exception) -> str:
    """Why it failed, in a sentence that says what to do where that is known."""
    name, text = type(error).__name__, str(error).strip()
    first = text.splitlines()[0] if text else name
    if name == "OutOfMemoryError" or "out of memory" in text.lower():
        return (
            "the device ran out of memory. Lower per_device_train_batch_size or max_completion_length, "
            "or train with LoRA."
        )
    if (isinstance(error, OSError) and error.errno == 28) or "no space left on device" in text.lower():
        return "the disk is full. Free some space; Resume continues from the last whole checkpoint."
    if isinstance(error, sqlite3.Error):
        return f"its record could not be opened ({first})."
    if isinstance(error, (CannotRun, data.DataError, shipped.ShippedError, spec.SpecError)):
        return first
    return f"{name}: {first[:400]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
