"""How soon the warm worker answers a page: from asking to having the answer, over the registry, with a supervisor."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

from bench.table import Row, ms, percentile
from groupwise.app.pages.new import view
from groupwise.storage.home import locks, paths
from groupwise.storage.registry import questions, registry
from groupwise.storage.registry.messages.facts import Catalogue
from groupwise.storage.registry.messages.message import Ask
from groupwise.worker.capabilities import catalogue
from tests.support.homes import fresh_home, quickstart, wait_for

ROUNDS = 20
LORA = {"r": 16, "target_modules": "all-linear"}


def measure() -> list[Row]:
    spec = quickstart()
    training = {**spec.training, "temperature": 0.0, "warmup_steps": -1}
    asked = {
        "are these settings good?": view.about_build(spec),
        "and these, two of them wrong, with LoRA?": view.about_build(
            spec.model_copy(update={"training": training, "lora": LORA})
        ),
        "what does a row look like to the model?": view.about_data(spec),
        "what is this model?": view.about_model(spec),
    }
    with fresh_home():
        registry.publish_fact(Catalogue(versions=catalogue.versions()))  # reading it would share the processor
        with (paths.home() / "worker.log").open("ab") as log:
            worker = subprocess.Popen([sys.executable, "-m", "groupwise.worker"], stdout=log, stderr=log)
        try:
            wait_for("the worker", lambda: locks.is_held(paths.supervisor_lock()))
            begun = time.perf_counter()
            _answer(asked["are these settings good?"])
            cold = time.perf_counter() - begun
            rows = [_row(name, question) for name, question in asked.items()]
        finally:
            worker.terminate()
            worker.wait()
    return [*rows, Row("the first question, with nothing loaded", ms(cold), "–", cold, 30, "s")]


def _row(name: str, question: Ask) -> Row:
    _answer(question)
    took = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        _answer(question)
        took.append(time.perf_counter() - begun)
    worst = percentile(took, 0.95)
    return Row(f"warm: “{name}”, p95", f"p50 {ms(percentile(took, 0.5))}, p95 {ms(worst)}", "–", worst, 1.0, "s")


def _answer(asked: Ask) -> None:
    question = questions.ask_question(asked)

    def answered() -> Any:
        found = questions.get_question(question)
        return found and found.answer

    answer = wait_for("an answer", answered)
    assert "error" not in answer, answer
