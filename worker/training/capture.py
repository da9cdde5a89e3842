"""The one place that reaches into TRL: a GRPOTrainer that hands over every scored completion, exactly once.

TRL's own completions log loses rows (logging_steps > 1) and repeats them (steps_per_generation > 1). Here each
generation's `_logs` are caught as they are made, before its bounded deques can drop any. It is also where weights that
change with the steps are set. All of this is private to TRL 1.16 (`_generate`, `_calculate_rewards`, `_compute_loss`,
`_generate_and_score_completions`, `_logs`, `_metrics`, `_save_checkpoint`, `_issue_warnings_after_load`);
tests/worker/test_capture.py notices when it moves. What is saved waits for room on the disk here, too.
"""

import copy
import json
import math
import shutil
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import gather_object
from trl import GRPOTrainer

from groupwise.storage.home import disk
from groupwise.storage.record.step_record import Completion, Group
from groupwise.worker.data.source_rows import ROW
from groupwise.worker.training import kl_control, ranks, weighting
from groupwise.worker.training.kl_control import KlControl
from groupwise.worker.training.scoring import Note, Scorers
from groupwise.worker.training.weighting import Weighting

NOT_OF_THE_ROW = ("prompt", "image", "images", ROW)  # what a record of a group has elsewhere, or not at all
LENGTHS_OF_ENDED = [f"completions/{which}_terminated_length" for which in ("mean", "min", "max")]
SAVES = 5  # tries at one checkpoint, where the disk says that it has room and then has not


class NoRoom(Exception):
    """The disk is full, and what a run must save to have ended well is not saved."""


class CapturingTrainer(GRPOTrainer):
    """GRPOTrainer that calls `on_groups(groups, notes, seconds, weights)` on the main process after each generation is
    scored: `notes` say what each of the `scorers` made of the completions of all ranks, `seconds` what generating and
    scoring them took here, `weights` what functions counted in training whose weight changes.
    `await_room(model, optimizer)` waits for room on a full disk; False: it is to save nothing. `seal(checkpoint, step)`
    seals one that all ranks have saved, on the main process.
    """

    _logs: dict[str, Any]

    def __init__(
        self,
        *args: Any,
        on_groups: Callable[[list[Group], list[Note], dict[str, float], dict[str, float]], None],
        await_room: Callable[[Any, Any], bool],
        seal: Callable[[Path, int], None],
        scorers: Scorers,
        weighting: Weighting,
        kl: KlControl | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, reward_funcs=list(scorers.functions), **kwargs)
        self.scorers = scorers
        self._on_groups = on_groups
        self._await_room = await_room
        self._seal = seal
        self._weighting = weighting
        self._kl = kl
        self._lengths: list[tuple[int, bool]] = []
        self._seconds: dict[str, float] = {}

    def _issue_warnings_after_load(self, load_result: Any) -> None:
        """As transformers', but for tied weights: a checkpoint has each of them once, under the other's name."""
        tied = set(getattr(self.model, "all_tied_weights_keys", None) or ())
        missing = [name for name in load_result.missing_keys if name not in tied]
        super()._issue_warnings_after_load(load_result._replace(missing_keys=missing))

    def _generate(self, prompts: list[Any]) -> Any:
        """As TRL's; notes (token count, truncated) of each completion, as TRL counts them, before any masking."""
        begun = time.perf_counter()
        generated = super()._generate(prompts)
        self._seconds["generation"] = time.perf_counter() - begun
        ends = {*self.eos_token_ids, self._tokenizer.pad_token_id}
        self._lengths = [(len(ids), ids[-1] not in ends) for ids in generated[1]]
        self._unsay_lengths_of_none()
        return generated

    def _unsay_lengths_of_none(self) -> None:
        """Where no completion of a generation ended by itself, TRL logs 0 tokens as the length of those that did. It is
        no number here, as no score is, which TRL leaves out of its means over generations."""
        logged = self._metrics["train" if self.model.training else "eval"]
        for name in LENGTHS_OF_ENDED:
            if logged[name] and logged[name][-1] == 0:
                logged[name][-1] = math.nan

    def _calculate_rewards(self, *args: Any, **kwargs: Any) -> Any:
        """As TRL's, timed."""
        begun = time.perf_counter()
        rewards = super()._calculate_rewards(*args, **kwargs)
        self._seconds["rewards"] = time.perf_counter() - begun
        return rewards

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> Any:
        """As TRL's, with this step's weights, and `_logs` swapped for an unbounded tape meanwhile."""
        if self.model.training:
            self._set_weights()
            self._set_beta()
        kept, self._logs = self._logs, _empty_logs()
        try:
            output = super()._generate_and_score_completions(inputs)
        finally:
            tape, self._logs = self._logs, kept
            _append(kept, tape)
        rows = gather_object([{k: v for k, v in row.items() if k not in NOT_OF_THE_ROW} for row in inputs])
        lengths = gather_object(self._lengths)
        notes = _join_notes(gather_object([self.scorers.take()]))
        if self.model.training:
            for name in self.reward_func_names:
                self._weighting.saw(name, tape["rewards"][name])
        if self.accelerator.is_main_process:
            weights = self._weighting.changing() if self.model.training else dict[str, float]()
            self._on_groups(self._groups(tape, rows, lengths, notes), notes, self._seconds, weights)
        return output

    def _set_weights(self) -> None:
        """Set the weights that the completions of this step are scored with; those that change are logged: the mean
        since the last log, where the record has those of each step."""
        self.reward_weights = torch.tensor(self._weighting.at(self.state.global_step), dtype=torch.float32)
        for name, weight in self._weighting.changing().items():
            self._metrics["train"][weighting.metric(name)].append(weight)

    def _set_beta(self) -> None:
        """Set the KL weight of what is generated now, where it follows the KL; it is logged with its target. It never
        was 0: so all that waits to be trained on has what the reference model says of it."""
        if self._kl is not None:
            self.beta = self._kl.begin_generation()
            self._metrics["train"][kl_control.BETA].append(self.beta)
            self._metrics["train"][kl_control.TARGET].append(self._kl.spec.target)

    def _compute_loss(self, *args: Any, **kwargs: Any) -> Any:
        """As TRL's; takes note of the KL that it logs."""
        if self._kl is None:
            return super()._compute_loss(*args, **kwargs)
        logged = len(self._metrics["train"]["kl"])
        loss = super()._compute_loss(*args, **kwargs)
        if self.model.training:
            for value in self._metrics["train"]["kl"][logged:]:
                self._kl.saw(value)
        return loss

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """As transformers', with the weights that follow the success rate. One that finds no room leaves nothing
        behind."""
        place = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"
        callbacks = copy.deepcopy(self.state.stateful_callbacks)  # transformers adds to them as it saves

        def save() -> None:
            self.state.stateful_callbacks = copy.deepcopy(callbacks)
            super(CapturingTrainer, self)._save_checkpoint(model, trial)
            if self.accelerator.is_main_process:
                self._weighting.save(place)
                if self._kl is not None:
                    self._kl.save(place)

        def seal() -> None:
            if self.accelerator.is_main_process:
                self._seal(place, self.state.global_step)

        self._save_with_room(place, save, seal)

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """As transformers'. Raises NoRoom where the disk is full and no room was made."""
        place = Path(output_dir or self.args.output_dir)
        if _internal_call:  # a part of a checkpoint
            super().save_model(str(place), _internal_call=True)
        elif not self._save_with_room(place, lambda: super(CapturingTrainer, self).save_model(str(place))):
            raise NoRoom(f"the disk is full: {place.name} could not be saved.")

    def _save_with_room(self, place: Path, *parts: Callable[[], None]) -> bool:
        """Save in these parts, each begun when all ranks are through with the one before. Where the disk fills up
        meanwhile, remove what is half saved, wait for room, and save again; whether it is saved. All ranks do the same:
        each may have found no room."""
        for _ in range(SAVES):
            if not any(ranks.highest(int(self._runs_out_of_room(part, place))) for part in parts):
                return True
            if self.accelerator.is_main_process:
                shutil.rmtree(place, ignore_errors=True)
            if not self._await_room(self.model, self.optimizer):
                return False
        return False

    def _runs_out_of_room(self, part: Callable[[], None], place: Path) -> bool:
        try:
            part()
        except Exception as error:
            # torch says no more than that a stream is broken: whether the disk is full, the disk knows
            if disk.is_full(error) or disk.lacks(place.parents[1], disk.FLOOR):
                print(f"groupwise: {place.name} found no room on the disk: {error}", flush=True)
                return True
            raise
        return False

    def _groups(
        self, tape: dict[str, Any], rows: list[Any], lengths: list[tuple[int, bool]], notes: list[Note]
    ) -> list[Group]:
        """Completions of one group are adjacent in the gathered whole: group = index // size."""
        training = self.model.training
        size = self.num_generations if training else self.num_generations_eval
        weights = self.reward_weights.tolist()
        step = self.state.global_step + 1 if training else self.state.global_step
        groups: list[Group] = []
        for index, (prompt, completion, advantage) in enumerate(
            zip(tape["prompt"], tape["completion"], tape["advantages"], strict=True)
        ):
            if index % size == 0:
                groups.append(Group("train" if training else "eval", step, prompt, rows[index], []))
            scores = [
                score_and_status(tape["rewards"][name][index], note.statuses[index])
                for name, note in zip(self.reward_func_names, notes, strict=True)
            ]
            tokens, truncated = lengths[index]
            extra = {name: values[index] for name, values in tape["extra"].items() if len(values) == len(lengths)}
            groups[-1].completions.append(
                Completion(
                    completion_text(completion),
                    tokens,
                    truncated,
                    total(scores, weights),
                    advantage if math.isfinite(advantage) else 0.0,  # as TRL has it where no function gave a score
                    scores,
                    extra,
                )
            )
        return groups


def score_and_status(value: float, status: str) -> tuple[float | None, str]:
    """(value, status) of a completion's score: TRL keeps None as NaN, whatever it stands for."""
    return (None, status) if math.isnan(value) else (value, "ok")


def _join_notes(ranks: list[list[Note]]) -> list[Note]:
    """One note per function, with the completions of all ranks in the order in which TRL gathers them."""
    whole = [Note(note.function) for note in ranks[0]]
    for notes in ranks:
        for one, note in zip(whole, notes, strict=True):
            first = len(one.statuses)
            one.statuses += note.statuses
            one.failures += [
                {**failure, "row": None if failure["row"] is None else failure["row"] + first}
                for failure in note.failures
            ]
    return whole


def total(scores: list[tuple[float | None, str]], weights: list[float]) -> float | None:
    """TRL's weighted sum: functions that gave no score are left out; None where none gave one."""
    given = [weight * value for (value, _), weight in zip(scores, weights, strict=True) if value is not None]
    return sum(given) if given else None


def completion_text(completion: Any) -> str:
    """What the model wrote: the content of a single message, or all messages (tool calls) as JSON. Lone surrogates,
    which SQLite cannot hold, become question marks."""
    if isinstance(completion, list):
        plain = len(completion) == 1 and set(completion[0]) == {"role", "content"} and completion[0]["content"]
        completion = plain if isinstance(plain, str) else _messages(completion)
    return str(completion).encode("utf-8", "replace").decode()


def _messages(messages: list[dict[str, Any]]) -> str:
    if len(messages) == 1 and set(messages[0]) == {"role", "content"} and not messages[0]["content"]:
        return ""
    return json.dumps(messages, ensure_ascii=False, default=str)


def _empty_logs() -> dict[str, Any]:
    """What TRL's `_logs` has, without bounds."""
    return {
        "images": [], "prompt": [], "completion": [], "rewards": defaultdict(list), "advantages": [],
        "extra": defaultdict(list),
    }  # fmt: skip


def _append(logs: dict[str, Any], tape: dict[str, Any]) -> None:
    for name, values in tape.items():
        if isinstance(values, dict):
            for column, column_values in values.items():
                logs[name][column].extend(column_values)
        else:
            logs[name].extend(values)
