"""The question server as a real process: it answers, quickly once warm, and nothing that a question does ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home import locks, paths
from groupwise.storage.registry import questions
from groupwise.storage.registry.questions import BUILD, PREVIEW
from groupwise.worker.questions import server
from tests.support.asking import Warm, answer_of, ask, children, put, taken, warm_server
from tests.support.homes import wait_for
from tests.support.runs import make_spec

HANGS = "^(a|aa)+$"  # on a long row of a's with something else at the end, no search comes back by itself
# A question may take 4 s, and a search as long as it likes: it hangs as any code could that is not ours.
BEGIN = "server.LONGEST.update(default=4.0) or setattr(patterns, 'SECONDS', 3600.0) or server.main()"
SPEC = make_spec().model_dump()


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    place = tmp_path_factory.mktemp("questions") / "home"
    with warm_server(place, BUILD, {"spec": SPEC}, BEGIN) as found:
        (paths.data_folder() / "hangs.jsonl").write_text('{"question": "1?", "answer": "%s!"}\n' % ("a" * 60))
        yield found


def preview(**data: Any) -> dict[str, Any]:
    return {"data": {"source": "task:arithmetic", **data}, "model": {"id": "starter"}, "row": 0}


def hanging() -> dict[str, Any]:
    return preview(source="file:hangs.jsonl", answer_pattern=HANGS)


def test_the_same_question_is_answered_again_and_again(living: subprocess.Popen[bytes]) -> None:
    for kind, payload in ((BUILD, {"spec": SPEC}), (PREVIEW, preview())):
        first, *more = [ask(kind, payload) for _ in range(5)]
        assert "error" not in first and more == [first] * 4


@pytest.mark.parametrize(
    ("kind", "payload"), [(PREVIEW, {}), (PREVIEW, {"data": 7}), (BUILD, {}), (BUILD, {"spec": [1]}), ("model", {})]
)
def test_a_question_that_makes_no_sense_is_answered_in_words(
    living: subprocess.Popen[bytes], kind: str, payload: dict[str, Any]
) -> None:
    answer = ask(kind, payload)
    said = answer.get("error") or answer["problems"][0]["message"]
    assert said and "Traceback" not in said
    assert "error" not in ask(BUILD, {"spec": SPEC})


def test_what_hangs_is_given_up_and_meanwhile_others_are_answered(living: subprocess.Popen[bytes]) -> None:
    stuck = put(PREVIEW, hanging())
    wait_for("it to be taken up", lambda: taken(stuck))
    assert ask(BUILD, {"spec": SPEC}) == {"problems": []}
    assert questions.get_question(stuck).answer is None  # type: ignore[union-attr]
    assert "took too long" in answer_of(stuck, 30)["error"]
    assert "error" not in ask(PREVIEW, preview())


def test_what_is_cancelled_stops_at_once(living: subprocess.Popen[bytes]) -> None:
    stuck = put(PREVIEW, hanging())
    wait_for("it to be taken up", lambda: taken(stuck))
    questions.cancel_question(stuck)
    assert answer_of(stuck, 2) == {"error": "Cancelled.", "field": ""}
    assert "error" not in ask(PREVIEW, preview())


def test_of_what_one_page_asks_only_the_newest_is_worked_on(living: subprocess.Popen[bytes]) -> None:
    stuck = put(PREVIEW, hanging())
    wait_for("it to be taken up", lambda: taken(stuck))
    asked = [put(PREVIEW, {**preview(), "row": row}, topic="a page") for row in range(4)]
    questions.cancel_question(stuck)
    assert answer_of(asked[-1])["row"]["index"] == 3
    assert not any(questions.get_question(each) for each in asked[:-1])


def test_a_killed_hand_is_answered_for_and_replaced(living: subprocess.Popen[bytes]) -> None:
    ask(PREVIEW, preview())
    before = children(living.pid)
    stuck = put(PREVIEW, hanging())
    wait_for("it to be taken up", lambda: taken(stuck))
    hand = wait_for("the one that works", lambda: next((each for each in before if _ticks(each) > 3), None))
    os.kill(hand, signal.SIGKILL)
    assert answer_of(stuck) == server.GONE.as_dict()
    assert "error" not in ask(PREVIEW, preview())
    assert hand not in children(living.pid)


def _ticks(pid: int) -> int:
    """The processor time a process has had since a moment ago."""

    def used() -> int:
        return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))

    first = used()
    time.sleep(0.15)
    return used() - first


def test_it_sees_no_gpu_no_secret_and_ends_with_who_started_it(registry_home: Path) -> None:
    """Started by a process that is killed, as by a supervisor: neither it nor its hands stay."""
    code = (
        "import os, time; os.environ['HF_TOKEN'] = 'x'; os.environ['GROUPWISE_TOKEN'] = 'canary'\n"
        "from groupwise.worker.helpers import QuestionServerKeeper; from groupwise.storage.registry import questions\n"
        "keeper = QuestionServerKeeper()\n"
        "while True:\n    keeper.look(questions.open_ones()); time.sleep(0.05)\n"
    )
    keeper = subprocess.Popen([sys.executable, "-c", code])
    try:
        assert ask(BUILD, {"spec": SPEC}) == {"problems": []}
        (pid,) = children(keeper.pid)
        assert locks.is_held(paths.questions_ready_lock()), "it has loaded what it answers with"
        environment = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
        assert "CUDA_VISIBLE_DEVICES=" in environment
        assert not any("canary" in pair for pair in environment)
        family = {pid, *children(pid)}
        assert len(family) > 1
    finally:
        keeper.kill()
        keeper.wait()
    wait_for("all to be gone", lambda: not any(Path(f"/proc/{each}").exists() for each in family))
    assert not locks.is_held(server.lock())


def test_a_second_question_server_leaves_at_once(living: subprocess.Popen[bytes]) -> None:
    second = subprocess.run([sys.executable, "-m", "groupwise.worker.questions.server"], timeout=30, check=False)
    assert second.returncode == 1
