"""Other trackers beside our own record (wandb, trackio, tensorboard, mlflow): transformers' own callbacks, each called
in a thread of its own, so that one that raises or hangs is switched off, and a training never waits for it for long.

Keys come from the environment alone (storage.home.process.child_environment). Where a tracker writes, and whether it is
offline, is up to its own variables (WANDB_MODE, TRACKIO_DIR, MLFLOW_TRACKING_URI, TENSORBOARD_LOGGING_DIR …).
"""

import os
import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from transformers import TrainerCallback

from groupwise.storage.checks.trackers import asked_trackers
from groupwise.storage.spec.spec import RunSpec
from groupwise.worker.training import hung_threads
from groupwise.worker.training.tracker_projects import PROJECT, publish_projects

# Seconds that one call may take: as it begins it speaks to a server, as it saves and ends it may upload.
PATIENCE = {"on_train_begin": 60.0, "on_log": 30.0, "on_evaluate": 30.0, "on_save": 120.0, "on_train_end": 120.0}
DOING = {"on_train_begin": "as it began", "on_log": "as it logged", "on_evaluate": "as it logged",
         "on_save": "as it saved", "on_train_end": "as it ended"}  # fmt: skip

Say = Callable[[str], None]


def where_written(name: str, project: str, folder: Any) -> str:
    """Where a tracker writes, as far as that is known without asking it: its project, or `folder`; "" where nothing
    is."""
    if name == "tensorboard":
        return f"folder {folder}" if folder else ""
    if name == "wandb":
        mode = os.environ.get("WANDB_MODE", "")
        written = f"project “{os.environ.get('WANDB_PROJECT') or PROJECT}”"
        return {"disabled": "", "offline": f"{written}, offline"}.get(mode, written)
    if name == "trackio":
        return f"project “{project or PROJECT}”"
    experiment, place = os.environ.get("MLFLOW_EXPERIMENT_NAME"), os.environ.get("MLFLOW_TRACKING_URI", "")
    at = urlsplit(place)
    place = f"{at.scheme}://{at.netloc.rpartition('@')[2]}{at.path}" if at.netloc else place  # without a password
    parts = [f"experiment “{experiment}”" if experiment else "", place and f"at {place}"]
    return " ".join(filter(None, parts))


class Trackers:
    """The trackers of a run, over its stages: one that was switched off stays so."""

    def __init__(self, folder: Path, say: Say, note: Say) -> None:
        """`folder`: the run's. `say` is told, in a sentence, of a tracker that is switched off, `note` of where one
        writes."""
        self._folder, self._say, self._note = folder, say, note
        self._off: set[str] = set()

    def callbacks(self, stage: RunSpec) -> list[TrainerCallback]:
        """Those that a stage asks for, for its trainer; on the main process only."""
        if int(os.environ.get("RANK", "0")) != 0:
            return []
        publish_projects(stage.training)
        return [Tracker(name, self) for name in asked_trackers(stage.training) if name not in self._off]

    def make(self, name: str) -> Any:
        """transformers' own callback, which imports the tracker."""
        from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK

        made = INTEGRATION_TO_CALLBACK[name]()
        if name == "tensorboard" and made.logging_dir is None:  # else it would write among the checkpoints
            made.logging_dir = str(self._folder / "tensorboard")
        return made

    def tell_where(self, name: str, args: Any, made: Any) -> None:
        """Say where a tracker that has begun writes, if that is known."""
        where = where_written(name, getattr(args, "project", "") or "", getattr(made, "logging_dir", None))
        if where:
            self._note(f"Metrics are also logged to {name}: {where}.")

    def switch_off(self, name: str, why: str) -> None:
        """Nothing is asked of this tracker any more."""
        self._off.add(name)
        self._say(f"{name} {why}: it is switched off for this run. Training goes on, and all of it is recorded here.")


class Tracker(TrainerCallback):
    """One tracker of one training. What it makes of the trainer's control is not taken: a tracker decides nothing."""

    def __init__(self, name: str, trackers: Trackers) -> None:
        self.name, self._trackers = name, trackers
        self._thread: _Thread | None = _Thread(name)
        self._inner: Any = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Import it, and begin its run."""
        self._pass_on("on_train_begin", args, state, control, **given)
        if self._thread is not None:  # it has begun
            self._trackers.tell_where(self.name, args, self._inner)

    def on_log(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Tell it what was logged."""
        self._pass_on("on_log", args, state, control, **given)

    def on_evaluate(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Tell it of an evaluation."""
        self._pass_on("on_evaluate", args, state, control, **given)

    def on_save(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Tell it of a checkpoint."""
        self._pass_on("on_save", args, state, control, **given)

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """End its run."""
        self._pass_on("on_train_end", args, state, control, **given)
        self._end()

    def _pass_on(self, event: str, args: Any, state: Any, control: Any, **given: Any) -> None:
        if self._thread is None:
            return

        def call() -> None:
            if self._inner is None:
                self._inner = self._trackers.make(self.name)
            getattr(self._inner, event)(args, state, control, **given)

        try:
            error = self._thread.call(call, PATIENCE[event])
        except TimeoutError:
            hung_threads.note()
            self._thread = None
            self._trackers.switch_off(self.name, f"did not answer for {PATIENCE[event]:.0f} s {DOING[event]}")
            return
        if error is not None:
            self._end()
            said = (str(error).strip().splitlines() or [""])[0][:300]
            what = f"{type(error).__name__}: {said}".rstrip(": .")
            self._trackers.switch_off(self.name, f"failed {DOING[event]} ({what})")

    def _end(self) -> None:
        if self._thread is not None:
            self._thread.end()
            self._thread = None


class _Thread:
    """A thread that does one call after the other. Trackers keep by thread which of their runs is the current one."""

    def __init__(self, name: str) -> None:
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, daemon=True, name=f"tracker {name}").start()

    def call(self, one: Callable[[], None], seconds: float) -> BaseException | None:
        """Have it done; what it raised, if it did. Raises TimeoutError where that is not known in time."""
        self._calls.put(one)
        try:
            return self._results.get(timeout=seconds)
        except queue.Empty as error:
            raise TimeoutError from error

    def end(self) -> None:
        """There is nothing more to do."""
        self._calls.put(None)

    def _work(self) -> None:
        while (one := self._calls.get()) is not None:
            try:
                one()
            except BaseException as error:  # whatever a tracker raises, SystemExit included
                self._results.put(error)
            else:
                self._results.put(None)
