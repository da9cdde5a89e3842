"""The reward workbench: a try on 64 completions, what the sandbox adds to a call, and 100,000 completions re-scored."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bench.table import Row, median, ms, percentile
from groupwise.storage.home import locks, paths
from groupwise.storage.record import states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Group
from groupwise.storage.registry import questions, registry
from groupwise.storage.registry.messages import kinds
from groupwise.storage.registry.messages.facts import Catalogue
from groupwise.worker.builtin import shipped
from groupwise.worker.builtin.rewards.format import format
from groupwise.worker.capabilities import catalogue
from groupwise.worker.sandbox import client
from tests.support.homes import fresh_home, queued, quickstart, wait_for

ROUNDS = 20
TRIED, HISTORY, SIZE = 64, 100_032, 8  # completions of a try and of a history, and in a group
THOUGHT = "so 3 and 4 make 7, "
NAME = "my_format"  # a person's own copy of the function that ships


def measure() -> list[Row]:
    # First, while nothing else runs: what is measured is below a millisecond.
    adds = _sandbox_adds()
    with fresh_home():
        run_id, texts = _long_run()
        with _worker():
            return [_try(), adds, *_rescored(run_id, texts)]


def _own() -> dict[str, Any]:
    code = (shipped.REWARDS / "format.py").read_text(encoding="utf-8").replace("def format(", f"def {NAME}(")
    return {"name": NAME, "code": code, "parameters": {}, "weight": 1.0, "timeout": 10.0, "network": False}


def _text(number: int, length: int) -> str:
    thought = (THOUGHT * (length // len(THOUGHT) + 1))[: length - 40]
    return f"<think>{thought}</think><answer>{number}</answer>" if number % 3 else f"{thought} {number}"


def _try() -> Row:
    columns = {"question": "3+4?", "answer": "7"}
    prompt = [{"role": "user", "content": "3+4?"}]
    groups = [
        {"row": group, "prompt": prompt, "columns": columns, "completions": [
            {"text": _text(group + index, 2048), "tokens": 500, "ids": list(range(500)), "probe": None}
            for index in range(SIZE)
        ]}
        for group in range(TRIED // SIZE)
    ]  # fmt: skip
    payload = {"groups": groups, "scale_rewards": "group", "columns": list(columns)}
    shipping = {**_own(), "name": "format", "code": None}
    ours, direct = (
        _asked(questions.SCORE, {**payload, "functions": [function]}, ROUNDS) for function in (_own(), shipping)
    )
    return Row(
        f"try {TRIED} completions of 2 KB, warm: asked → answered, p95",
        f"p50 {ms(median(ours))}, p95 {ms(percentile(ours, 0.95))}", f"what ships, p50 {ms(median(direct))}",
        percentile(ours, 0.95) * 1000, 300, "ms",
    )  # fmt: skip


def _sandbox_adds() -> Row:
    """Of the same call, in turns, so that both see the same machine."""
    texts = [_text(number, 2048) for number in range(TRIED)]
    completions = [[{"role": "assistant", "content": text}] for text in texts]
    batch = {"completions": completions, "prompts": ["3+4?"] * TRIED, "answer": ["7"] * TRIED}
    host = client.Host([client.Code(NAME, _own()["code"], {})])
    try:
        host.score(NAME, batch, 30.0)
        apart, direct = [], []
        for _ in range(10 * ROUNDS):
            apart.append(_seconds(lambda: host.score(NAME, batch, 30.0)))
            direct.append(_seconds(lambda: format(**batch)))
    finally:
        host.close()
    added = median(apart) - median(direct)
    return Row(
        f"what the sandbox adds to a call with {TRIED} × 2 KB, median", f"in it {ms(median(apart))}",
        f"called directly {ms(median(direct))}", added * 1000, 2, "ms",
    )  # fmt: skip


def _rescored(run_id: str, texts: list[str]) -> list[Row]:
    direct = _seconds(lambda: format(texts))
    rows = []
    for words, function in (("what ships", {**_own(), "name": "format", "code": None}), ("one's own", _own())):
        took = min(_asked(questions.RESCORE, {"run": run_id, "functions": [function]}, 3))
        what = f"re-score {HISTORY:,} stored completions with the format function, {words}"
        rows.append(Row(what, ms(took), f"only calling it, texts in memory {ms(direct)}", took, 5, "s"))
    return rows


def _long_run() -> tuple[str, list[str]]:
    """A run with a long history, and its completions: of 200 to 1,000 characters."""
    folder = queued(quickstart())
    registry.set_state(folder.id, states.FAILED, "It never began.")  # or the worker would
    writer = RunWriter(folder.db, 1, {"format": 1.0, "correctness": 1.0})
    texts = [_text(number, 200 + 8 * (number % 100)) for number in range(HISTORY)]
    for step in range(HISTORY // TRIED):
        groups = [
            Group("train", step + 1, [{"role": "user", "content": f"{step % 50}+{n}?"}], {"answer": str(step % 50 + n)},
                  [_scored(texts[step * TRIED + n * SIZE + index], index) for index in range(SIZE)])
            for n in range(TRIED // SIZE)
        ]  # fmt: skip
        writer.commit(step + 1, groups=groups)
    writer.close()
    return folder.id, texts


def _scored(text: str, index: int) -> Completion:
    right = float(index % 2)
    return Completion(text, 300, False, 1.0 + right, right - 0.5, [(1.0, "ok"), (right, "ok")])


def _asked(kind: str, payload: dict[str, Any], rounds: int) -> list[float]:
    """Seconds from the question to its answer, once it is warm."""
    _answer(kind, payload)
    return [_seconds(lambda: _answer(kind, payload)) for _ in range(rounds)]


def _answer(kind: str, payload: dict[str, Any]) -> None:
    question = questions.ask_question(kinds.question(kind, payload))

    def answered() -> Any:
        found = questions.get_question(question)
        return found and found.answer

    answer = wait_for("an answer", answered, 300)
    assert "error" not in answer, answer


def _seconds(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


@contextmanager
def _worker() -> Iterator[None]:
    registry.publish_fact(Catalogue(versions=catalogue.versions()))  # reading it would share the processor
    with (paths.home() / "worker.log").open("ab") as log:
        worker = subprocess.Popen([sys.executable, "-m", "groupwise.worker"], stdout=log, stderr=log)
    try:
        wait_for("the worker", lambda: locks.is_held(paths.supervisor_lock()))
        yield
    finally:
        worker.terminate()
        worker.wait()
