"""The New run page's text in tests, and TRL's answer about it."""

from __future__ import annotations

from groupwise.app.pages.new import presets, worker_requests
from groupwise.storage.registry import questions
from groupwise.storage.registry.messages.build import BuildAnswer

TEXT = presets.quickstart_text().replace("max_steps: 60", "max_steps: 60  # mine")


def built(text: str) -> int:
    """A question to TRL about this text, answered as the worker would when it finds nothing wrong."""
    question, _ = worker_requests.ask_about_text(questions.BUILD, text, topic="t")
    questions.answer_question(question, BuildAnswer(problems=[]))
    return question
