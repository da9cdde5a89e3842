"""A small catalogue in the form the worker publishes: enough of GRPOConfig and LoraConfig to check specs against."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any

from groupwise.storage.library.capabilities import Offer
from groupwise.storage.registry import questions, registry
from groupwise.storage.registry.messages.build import BuildAnswer
from groupwise.storage.registry.messages.call_rewards import CallRewardsAnswer
from groupwise.storage.registry.messages.data_checks import AnswerCounts, CheckDataAnswer, Lengths, LongestPrompt
from groupwise.storage.registry.messages.facts import Catalogue, Shipped
from groupwise.storage.registry.messages.message import Answer
from groupwise.storage.registry.messages.model import ModelAnswer
from groupwise.storage.registry.messages.preview import PreviewAnswer, RowCount, ShownRow
from groupwise.storage.registry.messages.problem import ProblemMessage


def _field(types: str, default: Any, choices: list[Any] | None = None) -> dict[str, Any]:
    return {"types": types.split(), "default": default, "choices": choices, "help": ""}


TRAINING = {
    "num_generations": _field("int", 8),
    "num_generations_eval": _field("int none", None),
    "per_device_train_batch_size": _field("int", 8),
    "per_device_eval_batch_size": _field("int", 8),
    "gradient_accumulation_steps": _field("int", 1),
    "steps_per_generation": _field("int none", None),
    "generation_batch_size": _field("int none", None),
    "learning_rate": _field("float", 1e-6),
    "beta": _field("float", 0.0),
    "max_steps": _field("int", -1),
    "logging_steps": _field("float", 500),
    "bf16": _field("bool none", None),
    "loss_type": _field("str", "dapo", ["grpo", "dapo", "dr_grpo", "bnpo"]),
    "eval_strategy": _field("str", "no", ["no", "steps", "epoch"]),
    "lr_scheduler_kwargs": _field("dict str none", None),
}
LORA = {"r": _field("int", 8), "lora_alpha": _field("int none", 8), "target_modules": _field("list str none", None)}
REWARDS: dict[str, dict[str, Any]] = {"format": {"help": ""}, "correctness": {"help": ""}, "length": {"help": ""}}
TASKS: dict[str, dict[str, Any]] = {"arithmetic": {"help": ""}}
PREVIEWED = PreviewAnswer(
    columns=[], rows=RowCount(count=4000, exact=True), row=ShownRow(index=0, cells={}, kept=True), messages=None,
    prompt="", tokens=None, chat=True, answer=None, guess={}, problems=[], note="1 rows.",
)  # fmt: skip
CHECKED = CheckDataAnswer(
    checked=1, rows=RowCount(count=4000, exact=False), empty=0, duplicates=0, missing_answers=0, filtered=0, too_long=0,
    room=None, lengths=Lengths(unit="characters", edges=[], counts=[], median=0, p95=0,
                               longest=LongestPrompt(row=0, length=0, text="")),
    answers=AnswerCounts(distinct=0, top=[]), usable=1, kept=1, held_out=0, problems=[], note="1 rows.",
)  # fmt: skip
OFFER = Offer(TRAINING, LORA, REWARDS, TASKS)


@functools.cache
def _installed() -> Catalogue:
    from groupwise.worker.capabilities import catalogue

    return catalogue.build()


def publish_installed() -> None:
    """Say what is really installed, as a worker would: imports TRL, once."""
    from groupwise.worker.builtin import shipped

    registry.publish_fact(_installed())
    registry.publish_fact(shipped.describe_shipped({}))


@contextlib.contextmanager
def answering(problems: tuple[dict[str, Any], ...] = (), others: dict[str, Answer] | None = None) -> Iterator[None]:
    """The worker, played: it says this of whatever settings it is asked about, and nothing of data and model. `others`:
    what it says to questions of a kind instead."""
    done = threading.Event()
    built = BuildAnswer(problems=[ProblemMessage.from_plain({"line": None, **one}) for one in problems])
    said: dict[str, Answer] = {
        questions.BUILD: built, questions.PREVIEW: PREVIEWED, questions.CHECK_DATA: CHECKED,
        questions.MODEL: ModelAnswer(facts={}, problems=[]), questions.CALL_REWARDS: CallRewardsAnswer(problems=[]),
        **(others or {}),
    }  # fmt: skip

    def answer() -> None:
        while not done.wait(0.02):
            for question in questions.open_ones():
                if question.kind in said and questions.take_question(question.id):
                    questions.answer_question(question.id, said[question.kind])

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def publish_rewards(rewards: dict[str, dict[str, Any]]) -> None:
    """Say that these reward functions ship."""
    registry.publish_fact(Shipped.from_plain({"rewards": rewards, "tasks": TASKS}))


def publish() -> None:
    """Say it as a worker would."""
    registry.publish_fact(Catalogue.from_plain({"versions": {}, "training": TRAINING, "lora": LORA}))
    publish_rewards(REWARDS)
