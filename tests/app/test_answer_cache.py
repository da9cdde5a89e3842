"""What twenty watchers ask is worked out once, and none of them is told of what is over."""

import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from groupwise.app.core import answer_cache as sharing
from groupwise.app.core.answer_cache import share_answers
from groupwise.app.pages.run.header import run_status
from groupwise.app.pages.run.overview import draw_board
from groupwise.storage.home import files
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import JudgePorts
from tests.support.runs import make_spec, queue

pytestmark = pytest.mark.usefixtures("registry_home")
LATER = files.TICK / 1e9 + 0.01  # seconds after which a write is not the newest thing any more


class Counted:
    """A function to share, that says how often it was called."""

    def __init__(self, **answer: Any) -> None:
        self.calls, self.answer = 0, answer

    def __call__(self, payload: dict[str, Any]) -> dict[str, Any]:
        self.calls += 1
        time.sleep(0.02)
        return {**self.answer, "call": self.calls}


@pytest.fixture(autouse=True)
def slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer is kept for 100 s: what renews it here is what is written."""
    monkeypatch.setattr(sharing, "A_SECOND", 0.01)


@pytest.fixture
def folder() -> RunFolder:
    return queue(make_spec())


@pytest.fixture
def writer(folder: RunFolder) -> Iterator[RunWriter]:
    found = RunWriter(folder.db, 1, {"format": 1.0})
    yield found
    found.close()


def test_twenty_who_ask_at_once_have_it_worked_out_once(folder: RunFolder):
    time.sleep(LATER)
    counted = Counted()
    asked = share_answers("after")(counted)
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(asked, [{"run": folder.id, "after": 3}] * 20))
    assert counted.calls == 1
    assert answers == [{"call": 1}] * 20


def test_another_question_has_its_own_answer(folder: RunFolder):
    time.sleep(LATER)
    asked = share_answers("after", "event")(Counted())
    payloads = [{"run": folder.id, "after": 3}, {"run": folder.id, "after": 4}, {"run": folder.id, "event": 3}, {}]
    assert [asked(payload)["call"] for payload in payloads] == [1, 2, 3, 4]
    assert [asked(payload)["call"] for payload in payloads] == [1, 2, 3, 5], "the last names no run"


@pytest.mark.parametrize("change", ["commit", "state", "published", "file", "gone"])
def test_a_write_renews_it(folder: RunFolder, writer: RunWriter, change: str):
    asked = share_answers()(Counted())
    time.sleep(LATER)
    assert [asked({"run": folder.id})["call"] for _ in range(3)] == [1, 1, 1]
    if change == "commit":
        writer.commit(1, metrics={"reward": 1.0}, groups=[])
    elif change == "state":
        registry.set_state(folder.id, states.STARTING, "Starts.")
    elif change == "published":
        registry.publish_fact(JudgePorts(ports=[]))
    elif change == "file":
        (folder.path / "final").mkdir()
    else:
        shutil.rmtree(folder.path)
    assert asked({"run": folder.id})["call"] == 2
    time.sleep(LATER)
    asked({"run": folder.id})
    settled = asked({"run": folder.id})["call"]
    assert asked({"run": folder.id})["call"] == settled


def test_time_renews_it(folder: RunFolder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sharing, "A_SECOND", 20)
    asked = share_answers()(Counted())
    assert asked({"run": folder.id})["call"] == 1
    time.sleep(0.1)
    assert asked({"run": folder.id})["call"] == 2


def test_large_answers_and_long_questions_are_not_kept(folder: RunFolder):
    time.sleep(LATER)
    large, plain = share_answers(large="reset")(Counted(reset=True)), share_answers("after")(Counted())
    assert [large({"run": folder.id})["call"] for _ in range(2)] == [1, 2]
    assert [plain({"run": folder.id, "after": "9" * 300})["call"] for _ in range(2)] == [1, 2]


def test_what_is_raised_is_raised_again(folder: RunFolder):
    time.sleep(LATER)

    @share_answers()
    def asked(payload: dict[str, Any]) -> dict[str, Any]:
        raise KeyError(payload["run"])

    for _ in range(2):
        with pytest.raises(KeyError):
            asked({"run": folder.id})


def test_every_step_shows_at_once_however_fast_they_come(folder: RunFolder, writer: RunWriter):
    """The same questions again and again, as pages ask them, while steps are committed as fast as can be."""
    writer.commit(0, metrics={"reward": 0.0}, groups=[])
    for step in range(1, 101):
        writer.commit(step, metrics={"reward": float(step)}, groups=[])
        for _ in range(3):
            new = draw_board({"run": folder.id, "after": 1, "drawn": True})
            assert new["curves"]["reward"]["x"][-1] == step
            assert f"step {step} " in f"{run_status({'run': folder.id})['line']} "


def test_a_change_of_state_shows_at_once(folder: RunFolder):
    for state in (states.STARTING, states.RUNNING, states.STOPPING, states.STOPPED):
        registry.set_state(folder.id, state, f"It is {state}.")
        for _ in range(3):
            assert run_status({"run": folder.id})["sentence"] == f"It is {state}."
