"""The workbench in a real question server: progress, cancelling, and that nothing of a sandbox outlives its hand."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupwise.storage.library.rewards import library
from groupwise.storage.registry import questions, tried
from groupwise.storage.registry.questions import COMPLETIONS, RESCORE, SCORE
from tests.support.asking import Warm, answer_of, ask, children, put, taken, warm_server
from tests.support.homes import wait_for
from tests.support.workbench import READS, SPEC, group, own, run_with, stored

# Slow enough to be watched; a sandboxed process of its own, with a mark in its memory only.
SLOW = READS.replace("    texts =", "    import time; time.sleep(0.3)\n    texts =")
STUCK = "def stuck(completions, **kwargs):\n    while True: pass\n"


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    place = tmp_path_factory.mktemp("questions") / "home"
    with warm_server(place, SCORE, {"functions": [{"name": "format"}], "groups": [group("a")]}) as found:
        yield found


def below(pid: int) -> set[int]:
    """Every living descendant of a process."""
    try:
        own_children = {child for task in Path(f"/proc/{pid}/task").iterdir()
                        for child in map(int, (task / "children").read_text().split())}  # fmt: skip
    except OSError:
        return set()
    return own_children.union(*(below(child) for child in own_children))


def test_completions_of_the_model_are_scored_in_the_same_sitting(living: subprocess.Popen[bytes]) -> None:
    found = ask(COMPLETIONS, {"spec": SPEC, "from": "model", "rows": 2, "size": 4})
    assert [len(one["completions"]) for one in found["groups"]] == [4, 4]
    length = "def size(completion_ids, **kwargs):\n    return [len(ids) for ids in completion_ids]\n"
    scored = ask(SCORE, {"functions": [own(length), {"name": "correctness"}], "groups": found["groups"]})
    for one in (one for each in scored["groups"] for one in each["completions"]):
        assert one["scores"]["size"] == {"value": float(one["tokens"]), "status": "ok"}


def test_a_function_that_failed_is_known_once_its_scores_are_there(living: subprocess.Popen[bytes]) -> None:
    saved = library.save_reward("reads", READS)
    for text, failed in (("two", 1), ("2", 0)):
        found = ask(SCORE, {"functions": [own(READS)], "groups": [group("1", text)]})
        kept = tried.failed_tries().get(("reads", saved.hash))
        assert found["functions"][0]["errors"] == failed == (kept.failed if kept else 0)


def test_a_long_history_says_how_far_it_is_and_can_be_cancelled(living: subprocess.Popen[bytes]) -> None:
    folder = run_with(*[stored(*[[0.0, 1.0]] * 256, step=step) for step in range(1, 41)])
    asked = put(RESCORE, {"run": folder.id, "functions": [own(SLOW)]})

    def progress() -> int:
        question = questions.get_question(asked)
        return int((question.progress or {}).get("done") or 0) if question is not None else 0

    wait_for("some progress", lambda: progress() >= 512)
    question = questions.get_question(asked)
    assert question is not None and question.progress is not None
    assert question.progress["total"] == 20_480 and "of 20,480 completions" in question.progress["sentence"]
    hosts = below(living.pid)
    questions.cancel_question(asked)
    assert answer_of(asked, 5) == {"error": "Cancelled.", "field": ""}
    remaining = [pid for hand in children(living.pid) for pid in below(hand)]
    wait_for("its sandbox to be gone", lambda: not (_alive(hosts) - set(remaining) - children(living.pid)))
    assert ask(RESCORE, {"run": folder.id, "functions": [{"name": "format"}]})["completions"] == 20_480


def test_a_killed_hand_takes_its_sandbox_along(living: subprocess.Popen[bytes]) -> None:
    ask(SCORE, {"functions": [own(READS)], "groups": [group("1")]})
    stuck = put(SCORE, {"functions": [own(STUCK, timeout=50.0)], "groups": [group("1")]})
    wait_for("it to be taken up", lambda: taken(stuck))
    time.sleep(1.0)
    hand = max(children(living.pid), key=lambda pid: len(below(pid)))
    family = {hand, *below(hand)}
    assert len(family) > 2  # the hand, a sandbox of before and the one that is stuck
    os.kill(hand, signal.SIGKILL)
    assert "helper process ended" in answer_of(stuck, 5)["error"]
    wait_for("all of it to be gone", lambda: not _alive(family))
    assert "error" not in ask(SCORE, {"functions": [own(READS)], "groups": [group("1")]})


def _alive(pids: set[int]) -> set[int]:
    return {pid for pid in pids if Path(f"/proc/{pid}").exists()}
