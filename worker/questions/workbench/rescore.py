"""Answers “what would this run's rewards have been?”: functions run over all its stored completions, old against new.

Nothing of the run changes: its record is only read.
"""

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from groupwise.storage.record import metrics, run_files
from groupwise.storage.registry import progress
from groupwise.storage.registry.messages.functions import Function
from groupwise.storage.registry.messages.message import Answer
from groupwise.storage.registry.messages.problem import Failed
from groupwise.storage.registry.messages.rescore import (
    SHOWN_FAILURES,
    SHOWN_OUT,
    SHOWN_TRACE,
    RescoreAnswer,
    RescoreQuestion,
)
from groupwise.storage.spec.words.number_words import count_words
from groupwise.worker.questions.workbench import analysis, compare, history, ids, request, top_groups, used_weights
from groupwise.worker.questions.workbench.alike_failures import AlikeFailures
from groupwise.worker.questions.workbench.analysis import Floats, Ints
from groupwise.worker.questions.workbench.calling import Caller, Rows, chat
from groupwise.worker.questions.workbench.history import Record, Stored
from groupwise.worker.questions.workbench.request import Refused

AT_ONCE = 512  # completions in one call; a group is never divided
TIMED_FOR = 64  # completions that a function's timeout is meant for; a larger call may take longer in proportion
GIVE_UP = 3  # calls in a row that fail as a whole


@dataclass
class Outcome:
    """What one function made of all completions."""

    function: Function
    values: list[float | None] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: {"ok": 0, "none": 0, "error": 0, "timeout": 0})
    failures: AlikeFailures = field(default_factory=lambda: AlikeFailures(SHOWN_FAILURES, SHOWN_TRACE))
    seconds: float = 0.0
    out: str = ""
    failed_calls: int = 0  # in a row


def answer_rescore(question: RescoreQuestion) -> Answer:
    """The run's rewards and advantages, old against new. Raises Refused."""
    try:
        with contextlib.closing(history.open_run(question.run)) as record:
            request.refuse_unknown(question.functions)
            return _rescore(question, record)
    except sqlite3.Error as error:
        return Failed(error=f"The run's record could not be read ({error}). It may have been deleted.", field="run")


def _rescore(question: RescoreQuestion, record: Record) -> RescoreAnswer:
    begun = time.perf_counter()
    functions, given = question.functions, question.weights or {}
    spec = run_files.spec_of(record.folder)
    settings = spec.training if spec else {}
    scale = question.scale_rewards or request.usual_scale(settings)
    together = question.multi_objective_aggregation or request.usual_aggregation(settings)
    if not functions and not given and question.scale_rewards is None:
        raise Refused("Choose a function, or change a weight.", "functions")
    groups = record.groups()
    if not groups:
        raise Refused("The run has no completions of training yet.", "run")
    names = list(dict.fromkeys([*record.functions, *(one.name for one in functions)]))
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None:
        raise Refused(f"The run has no function “{unknown[:80]}”.", "weights")
    if question.instead is not None and (not functions or question.instead not in record.functions):
        raise Refused(f"The run has no function “{question.instead[:80]}” to replace.", "instead")
    callers = [Caller(function) for function in functions]
    outcomes = [Outcome(function) for function in functions]
    stored = _call_functions(record, groups, callers, outcomes, names)
    weighed = _Weighed(record, groups, names, outcomes, given, question.instead, stored, scale, together)
    return RescoreAnswer.from_plain({
        "run": record.folder.id, "completions": len(weighed.old), "scale_rewards": scale,
        **weighed.compare(record), "seconds": time.perf_counter() - begun,
    })  # fmt: skip


def _call_functions(
    record: Record, groups: list[Stored], callers: list[Caller], outcomes: list[Outcome], names: list[str]
) -> dict[str, Any]:
    """Call every function over everything; what the record has of it: {old rewards, advantages, scores}."""
    total = sum(group.size for group in groups)
    old, advantages, scores = np.full(total, np.nan), np.zeros(total), np.full((total, len(names)), np.nan)
    reader = ids.of_run(record.folder) if any(caller.needs("completion_ids") for caller in callers) else None
    planned = metrics.standing(record.folder.db)["total"] or 1
    stepwise = any(caller.needs("trainer_state") for caller in callers)
    asked = ", ".join(outcome.function.name for outcome in outcomes) or "other weights"
    for chunk in _chunks(groups, stepwise):
        first = chunk[0].first
        said = f"Scoring with {asked}: {first:,} of {count_words(total, 'completion')} done."
        progress.report(said, first, total, at_once=not first)
        stored = list(record.completions(chunk))
        if len(stored) != sum(group.size for group in chunk):
            raise Refused("The run's record is not whole: completions are missing. Was it just deleted?", "run")
        span = slice(first, first + len(stored))
        old[span] = [np.nan if row[4] is None else row[4] for row in stored]
        advantages[span] = [row[5] for row in stored]
        scores[span] = record.scores(chunk, names)
        if callers:
            rows = _rows(record, chunk, stored, planned, reader, callers)
            for caller, outcome in zip(callers, outcomes, strict=True):
                _score(caller, outcome, rows, chunk)
    return {"old": old, "advantages": advantages, "scores": scores}


def _chunks(groups: list[Stored], stepwise: bool) -> Iterator[list[Stored]]:
    """Whole groups, up to AT_ONCE completions; of one step only where functions look at the trainer's state."""
    chunk: list[Stored] = []
    for group in groups:
        full = chunk and group.first + group.size - chunk[0].first > AT_ONCE
        if chunk and (full or (stepwise and group.step != chunk[0].step)):
            yield chunk
            chunk = []
        chunk.append(group)
    if chunk:
        yield chunk


def _rows(
    record: Record, chunk: list[Stored], stored: list[Any], planned: int, reader: Any, callers: list[Caller]
) -> Rows:
    texts = [row[2] for row in stored]
    known = [record.prompt(group.prompt_id) for group in chunk for _ in range(group.size)]
    names = dict.fromkeys(name for _, columns in known for name in columns)
    wanted = any(caller.needs("completion_ids") for caller in callers)
    return Rows(
        prompts=[prompt for prompt, _ in known],
        completions=[chat(prompt, text) for (prompt, _), text in zip(known, texts, strict=True)],
        ids=ids.ids_of_completions(texts, [row[3] for row in stored], reader) if wanted else None,
        columns={name: [columns.get(name) for _, columns in known] for name in names},
        # A group's step is the first that it trains: it was made, and scored, one before.
        state={"global_step": max(chunk[0].step - 1, 0), "max_steps": planned, "epoch": 0.0},
    )


def _score(caller: Caller, outcome: Outcome, rows: Rows, chunk: list[Stored]) -> None:
    """One call of one function. Raises Refused where it failed as a whole again and again."""
    begun, count = time.perf_counter(), len(rows.completions)
    result = caller.score(rows, caller.function.timeout * max(1.0, count / TIMED_FOR))
    outcome.seconds += time.perf_counter() - begun
    outcome.values += result.values
    for status in result.statuses:
        outcome.counts[status] += 1
    outcome.out = (outcome.out + result.out)[:SHOWN_OUT]
    places = [(group, index) for group in chunk for index in range(group.size)]

    def place(row: int | None) -> dict[str, Any]:
        group, index = (chunk[0], None) if row is None else places[row]
        return {"step": group.step, "group": group.id, "index": index}

    outcome.failures.add(result, place)
    whole = all(status in ("error", "timeout") for status in result.statuses)
    outcome.failed_calls = outcome.failed_calls + 1 if whole else 0
    if outcome.failed_calls >= GIVE_UP:
        why = result.failures[0].message if result.failures else "it gave no score"
        raise Refused(f"{caller.function.name} failed {GIVE_UP} times in a row, so nothing more was scored: {why}",
                      "functions")  # fmt: skip


class _Weighed:
    """All of a history, weighed both ways."""

    def __init__(
        self, record: Record, groups: list[Stored], names: list[str], outcomes: list[Outcome],
        given: dict[str, float], instead: str | None, stored: dict[str, Any], scale: str, together: str,
    ) -> None:  # fmt: skip
        self.groups, self.names, self.outcomes = groups, names, outcomes
        self.old, self.old_advantages, self.old_scores = stored["old"], stored["advantages"], stored["scores"]
        self.starts: Ints = np.array([group.first for group in groups], dtype=np.int64)
        self.sizes = [group.size for group in groups]
        self.used, self.asked = self._weights_of_groups(record, given, instead)
        self.scores = self._scores_anew()
        self.weights: Floats = np.repeat(np.nan_to_num(self.asked), self.sizes, axis=0)
        self.new = analysis.total_rewards(self.scores, self.weights)
        batches = analysis.per_batch(self.starts, len(self.new), [(one.attempt, one.step) for one in groups])
        if together == "sum_then_normalize" and scale != "batch":
            batches = self.starts
        self.new_advantages = analysis.advantages(self.scores, self.weights, self.starts, scale, together, batches)

    def _weights_of_groups(self, record: Record, given: dict[str, float], instead: str | None) -> tuple[Floats, Floats]:
        """(groups, functions): the weights that the run used, and those that are asked for now; NaN where a function
        does not count. One of the run counts where it counted, one in the place of another (`instead`) where that did,
        any other that is new to the run everywhere."""
        own = used_weights.UsedWeights(record, self.groups)
        changed = {one.function.name: one.function.weight for one in self.outcomes if one.function.weight is not None}
        asked_for = {**changed, **given}
        used = np.full((len(self.groups), len(self.names)), np.nan)
        for number, group in enumerate(self.groups):
            weights = own.at(group)
            used[number] = [weights.get(name, np.nan) for name in self.names]
        asked = used.copy()
        asked[:, [name not in record.functions for name in self.names]] = 1.0
        if instead is not None:
            left, right = self.names.index(instead), self.names.index(self.outcomes[0].function.name)
            asked[:, right] = used[:, left]
            asked_for |= {instead: 0.0} if left != right else {}
        for name, weight in asked_for.items():
            asked[~np.isnan(asked[:, self.names.index(name)]), self.names.index(name)] = weight
        return used, asked

    def _scores_anew(self) -> Floats:
        """(completions, functions): the scores of what was called, of the others those that are stored."""
        scores = self.old_scores.copy()
        for outcome in self.outcomes:
            column = [np.nan if value is None else value for value in outcome.values]
            scores[:, self.names.index(outcome.function.name)] = column
        scores[np.repeat(np.isnan(self.asked), self.sizes, axis=0)] = np.nan
        return scores

    def compare(self, record: Record) -> dict[str, Any]:
        old_ties, _ = analysis.ties(self.old, self.starts)
        new_ties, _ = analysis.ties(self.new, self.starts)
        steps = np.array([group.step for group in self.groups], dtype=np.int64)
        found = {
            "functions": [self._compare_function(record, one) for one in self.outcomes],
            "totals": compare.compare_totals(self.old, self.new),
            "advantages": compare.flips(self.old_advantages, self.new_advantages),
            "ranks": compare.ranks(self.old, self.new, self.starts),
            "ties": {"old": old_ties, "new": new_ties},
            "steps": compare.by_step(steps, self.old, self.new, self.starts),
            "agreement": analysis.agreement(self.names, self.scores, self.weights),
            "groups": top_groups.describe_groups(record, self),
        }
        counted = compare.total_sentence(self.names, self.used, self.asked)
        unchanged = compare.is_unchanged((self.old, self.new), (self.old_advantages, self.new_advantages))
        said = [*compare.sentences({**found, "unchanged": unchanged}), counted, *self._failure_sentences()]
        return {**found, "sentences": said}

    def _compare_function(self, record: Record, outcome: Outcome) -> dict[str, Any]:
        """As FunctionChange has it (storage.registry.messages.rescore)."""
        k = self.names.index(outcome.function.name)
        old, new = self.old_scores[:, k], self.scores[:, k]
        both = ~(np.isnan(old) & np.isnan(new))
        different = both & ~(np.abs(old - new) <= analysis.SAME)
        totals = compare.compare_totals(old, new)
        return {
            "name": outcome.function.name, "was_there": outcome.function.name in record.functions,
            "counts": bool(self.weights[:, k].any()), "edges": totals["edges"],
            **{side: {"mean": totals[f"{side}_mean"], "std": totals[f"{side}_std"], "counts": totals[side]}
               for side in ("old", "new")},
            "changed": int(different.sum()), "none": outcome.counts["none"],
            "errors": outcome.counts["error"] + outcome.counts["timeout"], "seconds": outcome.seconds,
            "out": outcome.out, "failures": outcome.failures.first_of_each(),
        }  # fmt: skip

    def _failure_sentences(self) -> list[str]:
        said = []
        for one in self.outcomes:
            wrong = one.counts["error"] + one.counts["timeout"]
            if wrong:
                said.append(f"{one.function.name} failed on {count_words(wrong, 'completion')}, without a score.")
        return said
