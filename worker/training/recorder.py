"""The TrainerCallback: what TRL logs and the captured groups go to run.db, and a person's stop comes in.

On every rank, though only the main process writes; a stop is agreed on by all ranks before any acts on it.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.trainer_utils import IntervalStrategy

from groupwise.storage.home import disk
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import log_notes, run_files, totals
from groupwise.storage.record.record import ABSENT, RunWriter
from groupwise.storage.record.step_record import Checkpoint, Event, Group
from groupwise.storage.spec.words.number_words import count_words
from groupwise.worker.training import checkpoints, disk_space, ranks
from groupwise.worker.training.failures import Failures
from groupwise.worker.training.measures import Measures
from groupwise.worker.training.scoring import Note

# What all ranks do after a step: the highest that one of them says.
GO_ON, WAIT, STOP, STOP_UNSAVED = range(4)


@dataclass(frozen=True)
class StageNote:
    """What the recorder needs to know of the stage that trains: `message` and `facts` go into its event, `before`
    and `later` are the steps of the other stages, `scored_by` the reward functions of this one, `target` the one that
    says whether a completion is solved, and from which score on."""

    message: str
    before: int
    later: int
    scored_by: list[str]
    target: tuple[str, float] | None
    facts: dict[str, Any] = field(default_factory=dict)


class Recorder(TrainerCallback):
    """Records one attempt. `writer` is None on ranks other than the main one; `stop_asked` is asked at each step."""

    def __init__(
        self,
        writer: RunWriter | None,
        folder: Path,
        stop_asked: Callable[[], bool],
        keep: int | None = None,
        functions: list[str] | None = None,
        failures: Failures | None = None,
        target: tuple[str, float] | None = None,
    ) -> None:
        """`keep`: how many checkpoints to keep (save_total_limit); None keeps all. `functions`: the reward functions
        of all stages, as the writer knows them. `failures`: what becomes of those that fail. `target`: see
        group_metrics.target."""
        self.writer = writer
        self.folder = folder
        self.stop_asked = stop_asked
        self.keep = keep
        self.functions = functions or []
        self.failures = failures or Failures(0)
        self.measures = Measures(writer, self.functions, RunFolder(folder).rewards) if writer is not None else None
        self.room = disk_space.Room(folder, writer) if writer is not None else None
        self.target = target
        self.stage: StageNote | None = None
        self.stopped = self._begun = self._makes_up = False
        self.step = self.planned = 0
        self._groups: list[Group] = []
        self._events: list[Event] = []  # to be written with the next commit
        self._said: set[str] = set()
        self._sealed: int | str = ""  # bytes of the checkpoint that was sealed last, or why it was not

    @property
    def reason(self) -> str | None:
        """Why the run cannot go on, where it cannot."""
        return self.failures.reason or (self.room.given_up() if self.room is not None else None)

    @property
    def cause(self) -> dict[str, Any]:
        """What kind of failure `reason` is, and where: for the exit record."""
        return {"cause": run_files.REWARD, **self.failures.at} if self.failures.reason else {"cause": run_files.DISK}

    def take(
        self, groups: list[Group], notes: list[Note], seconds: dict[str, float], weights: dict[str, float]
    ) -> None:
        """Groups that were just scored, what the scoring came to, what generating and scoring took, and the weights
        that change, as the scores were counted with; all is written with their step."""
        self._events += self.failures.saw(notes)
        for group in groups if self.stage else []:
            self._place(group)
        self._groups += groups
        if self.measures is not None:
            self.measures.saw(groups, seconds, self.target, weights)
        unscored = all(completion.reward is None for group in groups for completion in group.completions)
        if unscored:
            self.say("No reward function scored any completion of this step: there is nothing to learn from.")

    def say(self, warning: str) -> None:
        """A sentence that a person should read beside the curves; once, however often it is said."""
        self._tell("warning", warning)

    def note(self, sentence: str) -> None:
        """A sentence for the log that asks nothing of anyone; once."""
        self._tell("note", sentence)

    def _tell(self, kind: str, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            self._events.append(Event(kind, sentence))

    def _place(self, group: Group) -> None:
        """Among the steps, and the reward functions, of all stages."""
        assert self.stage is not None
        group.step += self.stage.before
        for completion in group.completions:
            given = dict(zip(self.stage.scored_by, completion.scores, strict=True))
            completion.scores = [given.get(name, ABSENT) for name in self.functions]

    def enter(self, stage: StageNote, keep: int | None) -> None:
        """The next training is that of this stage."""
        self.stage, self.keep, self.target = stage, keep, stage.target

    def _step(self, state: TrainerState) -> int:
        """The run's step: steps are counted on over stages."""
        return state.global_step + (self.stage.before if self.stage else 0)

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Record that training begins, or goes on, or enters a stage."""
        step, total = self._step(state), state.max_steps
        before = self.stage.before if self.stage else 0
        if self.measures is not None:
            self.measures.begin(step, before)
        self._makes_up = self._lacks_evaluation(args, state)
        args.eval_on_start = args.eval_on_start or self._makes_up
        events = []
        if self.stage:
            total += before + self.stage.later
            counted = {totals.COUNTED: self.measures.tokens_before} if self.measures is not None else {}
            facts = {**self.stage.facts, "after": step, "total": total, **counted}
            events = [Event("stage", self.stage.message, facts)]
        if not self._begun:
            begun = (
                f"Training resumes at step {step} of {total}."
                if step
                else f"Training begins: {count_words(total, 'step')}."
            )
            events.insert(0, Event("begin", begun, {"total": total}))
        self.planned, self._begun = total, True
        self._commit(state, events=events)

    def _lacks_evaluation(self, args: TrainingArguments, state: TrainerState) -> bool:
        """Whether what is resumed from is of a step whose evaluation was due and is not on record: a stop, or a crash,
        came between its checkpoint and that. It is made up as that of step 0 is made: before the next step, by the
        same weights. On all ranks."""
        if state.global_step == 0 or not is_evaluation_due(args, state):
            return False
        step = self._step(state)
        writer = self.writer
        is_lost = writer is not None and not writer.has_value("eval_reward", step, writer.trainer_of(step))
        if is_lost:
            said = f"The held-out evaluation of step {step} is run now: the run ended before it."
            self._events.append(Event("evaluation", said))
        return ranks.highest(int(is_lost)) > 0

    def on_step_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Note when a step begins."""
        if self.measures is not None:
            self.measures.step_begins()

    def on_step_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        model: Any = None,
        optimizer: Any = None,
        **_: Any,
    ) -> None:
        """A step without a log is written here; one with a log in on_log, with its metrics, in one transaction."""
        if self.measures is not None:
            self.measures.step_ends()
        is_last = state.global_step >= state.max_steps
        saves = control.should_save or is_last or self._is_to_stop()
        move = self._agree(disk_space.checkpoint_bytes(model, optimizer) if saves else 0, self._step(state))
        # in the last step there is nothing to stop; between two stages train.py asks
        if move == STOP_UNSAVED or (move == STOP and not is_last):
            self.stopped = True
            control.should_training_stop = control.should_log = True
            control.should_save = move == STOP
            control.should_evaluate = False
        # TRL drops what it has measured since its last log where it evaluates before it logs again
        control.should_log = control.should_log or is_last
        if not control.should_log:
            self._commit(state)

    def await_room(self, model: Any, optimizer: Any) -> bool:
        """Wait until what found no room on the disk can be saved; False where the run is to end without it. On all
        ranks."""
        time.sleep(disk_space.LOOK_EVERY)
        return self._agree(disk_space.checkpoint_bytes(model, optimizer), self.step) in (GO_ON, STOP)

    def _agree(self, needed: int, step: int) -> int:
        """What all ranks do now, once there are `needed` bytes of room on the disk, or someone says stop."""
        while (move := ranks.highest(self._own_move(needed, step))) == WAIT:
            time.sleep(disk_space.LOOK_EVERY)
        return move

    def _own_move(self, needed: int, step: int) -> int:
        lacks_room = self.room is not None and self.room.lacks(needed, step)
        if self._is_to_stop():
            return STOP_UNSAVED if lacks_room else STOP
        return WAIT if lacks_room else GO_ON

    def _is_to_stop(self) -> bool:
        return self.stop_asked() or self.reason is not None

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, logs: dict[str, Any], **_: Any
    ) -> None:
        """Write what TRL logged of a step. An evaluation that is made up is of the attempt that trained its step."""
        metrics = {name: number(value) for name, value in logs.items() if is_number(value)}
        metrics = self.measures.count_on(metrics) if self.measures is not None else metrics
        of = self.writer.trainer_of(self._step(state)) if self.writer is not None and self._makes_up else None
        self._makes_up = False
        self._commit(state, metrics=metrics, of=of)

    def seal(self, checkpoint: Path, global_step: int) -> None:
        """Seal a checkpoint that was just saved. Raises OSError where there is no room for its manifest: without one it
        cannot be resumed from."""
        try:
            self._sealed = checkpoints.seal(checkpoint, global_step + self.stage.before if self.stage else None)
        except (OSError, ValueError) as error:
            if disk.is_full(error):
                raise
            self._sealed = str(error)

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Record a checkpoint that was just saved, and remove those that are one too many."""
        if self.writer is None:
            return
        step, path = self._step(state), Path(args.output_dir) / f"checkpoint-{state.global_step}"
        if not path.is_dir():
            self._commit(state, events=[Event("warning", f"The disk is full: step {step} has no checkpoint.")])
            return
        if isinstance(self._sealed, str):
            message = f"The checkpoint of step {step} cannot be resumed from: {self._sealed}."
            self._commit(state, events=[Event("warning", message)])
            return
        saved = Checkpoint(step, str(path.relative_to(self.folder)), self._sealed)
        event = Event("checkpoint", f"Checkpoint saved at step {step}.", {"bytes": self._sealed})
        self._commit(state, events=[event], checkpoint=saved)
        if self.keep:
            checkpoints.rotate(path.parent.parent if self.stage else path.parent, self.keep)

    def flush(self) -> None:
        """Write groups that were scored in a step which never came to its end, and what else was still to be said."""
        if self.writer is not None and (self._groups or self._events):
            groups, self._groups = self._groups, []
            events, self._events = self._events, []
            self.writer.commit(self.step, groups=groups, events=events)
            _print_events(events)

    def _commit(
        self,
        state: TrainerState,
        *,
        events: list[Event] | None = None,
        metrics: dict[str, float | None] | None = None,
        **what: Any,
    ) -> None:
        self.step = self._step(state)
        if self.writer is not None and self.measures is not None:
            metrics = {**(metrics or {}), **self.measures.take(logged=metrics is not None)}
            groups, self._groups = self._groups, []
            waiting, self._events = self._events, []
            told = [*waiting, *(events or [])]
            self.writer.commit(self.step, metrics=metrics, groups=groups, events=told, **what)
            _print_events(told)


class StepInLog(TrainerCallback):
    """The step in the line that the trainer prints of one: the last of the callbacks but that which prints, so that
    what goes elsewhere is as TRL has it."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, logs: dict[str, Any], **_: Any
    ) -> None:
        """Add the run's step, which is counted on over stages."""
        logs["step"] = self.recorder.step


def _print_events(events: list[Event]) -> None:
    """Into the log, among what was printed when they happened."""
    for event in events:
        print(log_notes.note_text(event.message, event.kind), flush=True)


def is_evaluation_due(args: TrainingArguments, state: TrainerState) -> bool:
    """Whether transformers evaluates after the step that a state is of (its DefaultFlowCallback)."""
    if args.eval_strategy == IntervalStrategy.STEPS:
        return state.global_step % state.eval_steps == 0 and state.global_step >= args.eval_delay
    is_epoch_over = state.epoch is not None and state.epoch == int(state.epoch)
    return args.eval_strategy == IntervalStrategy.EPOCH and is_epoch_over and state.epoch >= args.eval_delay


def is_number(value: Any) -> bool:
    """Whether a logged value is a number that the record keeps."""
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def number(value: float | None) -> float | None:
    """As stored: None and NaN are both “logged, but not a number”; infinities stay."""
    return None if value is None or math.isnan(value) else float(value)
