"""The one place that reaches into TRL: a GRPOTrainer that hands over every scored completion, exactly once.

TRL's own completions log loses rows (logging_steps > 1) and repeats them (steps_per_generation > 1). Here each
generation's `_logs` are caught as they are made, before its bounded deques can drop any. All of this is private to
TRL 1.16 (`_generate`, `_generate_and_score_completions`, `_logs`); tests/test_capture.py notices when it moves.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from accelerate.utils import gather_object
from trl import GRPOTrainer

from storage.batch import Completion, Group


class CapturingTrainer(GRPOTrainer):
    """GRPOTrainer that calls `on_groups(groups)` on the main process after each generation is scored."""

    _logs: dict[str, Any]

    def __init__(self, *args: Any, on_groups: Callable[[list[Group]], None], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._on_groups = on_groups
        self._lengths: list[tuple[int, bool]] = []

    def _generate(self, prompts: list[Any]) -> Any:
        """As TRL's; notes (token count, truncated) of each completion, as TRL counts them, before any masking."""
        generated = super()._generate(prompts)
        ends = {*self.eos_token_ids, self._tokenizer.pad_token_id}
        self._lengths = [(len(ids), ids[-1] not in ends) for ids in generated[1]]
        return generated

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> Any:
        """As TRL's, with `_logs` swapped for an unbounded tape meanwhile."""
        kept, self._logs = self._logs, _tape()
        try:
            output = super()._generate_and_score_completions(inputs)
        finally:
            tape, self._logs = self._logs, kept
            _append(kept, tape)
        rows = gather_object(
            [{k: v for k, v in row.items() if k not in ("prompt", "image", "images")} for row in inputs]
        )
        lengths = gather_object(self._lengths)
        if self.accelerator.is_main_process:
            self._on_groups(self._groups(tape, rows, lengths))
        return output

    def _groups(self, tape: dict[str, Any], rows: list[Any], lengths: list[tuple[int, bool]]) -> list[Group]:
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
            scores = [score(tape["rewards"][name][index]) for name in self.reward_func_names]
            tokens, truncated = lengths[index]
            groups[-1].completions.append(
                Completion(text_of(completion), tokens, truncated, total(scores, weights), finite(advantage), scores)
            )
        return groups


def score(value: float) -> tuple[float | None, str]:
    """(value, status) of what a function returned: TRL keeps None as NaN."""
    if math.isnan(value):
        return None, "none"
    return (value, "ok") if math.isfinite(value) else (None, "error")


def finite(advantage: float) -> float:
    """0 where an advantage is not a number, as TRL has it for completions that no function scored."""
    return advantage if math.isfinite(advantage) else 0.0


def total(scores: list[tuple[float | None, str]], weights: list[float]) -> float | None:
    """TRL's weighted sum: functions that gave no score are left out; None where none gave one."""
    given = [weight * value for (value, _), weight in zip(scores, weights, strict=True) if value is not None]
    return sum(given) if given else None


def text_of(completion: Any) -> str:
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


def _tape() -> dict[str, Any]:
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
