"""How a run ended, from what was left behind."""

from __future__ import annotations

from typing import Any

import pytest

from groupwise.storage.record import states
from groupwise.storage.record.endings import end_words, ending

DONE = {"outcome": "finished", "step": 60, "planned": 60}


@pytest.mark.parametrize(
    ("record", "code", "killed", "state", "words"),
    [
        (DONE, 0, False, states.FINISHED, "Done: step 60 of 60"),
        (DONE, None, False, states.FINISHED, "Done: step 60 of 60"),  # re-adopted: no exit code to be had
        ({**DONE, "step": 12}, 0, False, states.FAILED, "ended at step 12 of 60 but reported success"),
        ({"outcome": "stopped", "step": 7}, 0, False, states.STOPPED, "Stopped at step 7, as asked. Resume continues"),
        ({"outcome": "failed", "reason": "no memory."}, 1, False, states.FAILED, "Failed at step 12: no memory."),
        (None, 0, False, states.FAILED, "without a reason (exit code 0)"),  # os._exit(0) is no success
        (None, 1, False, states.FAILED, "exit code 1"),
        (None, -9, False, states.KILLED, "by the system because memory ran out. Resume continues from step 10."),
        (None, -15, False, states.KILLED, "SIGTERM"),
        (None, None, False, states.INTERRUPTED, "somebody ended it, memory ran out, or the machine, or its container"),
        (None, -9, True, states.STOPPED, "as asked, without saving. Resume continues from step 10."),
    ],
)
def test_each_ending(record: dict[str, Any] | None, code: int | None, killed: bool, state: str, words: str) -> None:
    found, sentence = ending(record, code, step=12, saved=10, killed_on_request=killed, stopping=False)
    assert found == state
    assert words in sentence


def test_the_word_of_a_state_is_said_once() -> None:
    stopped = "Stopped at step 16, as asked. Resume continues from step 16."
    assert end_words(states.STOPPED, stopped) == stopped
    assert end_words(states.FINISHED, "Done: step 6 of 6.") == "Finished. Done: step 6 of 6."
    gone = "Its process disappeared after step 3."
    assert end_words(states.INTERRUPTED, gone) == f"Interrupted. {gone}"


def test_without_a_checkpoint_resume_promises_nothing() -> None:
    assert (
        "it would start from the beginning"
        in ending(None, -9, step=3, saved=None, killed_on_request=False, stopping=False)[1]
    )


@pytest.mark.parametrize("code", [-9, -15, None])
def test_a_stop_that_had_to_be_enforced_is_a_stop(code: int | None) -> None:
    state, sentence = ending(None, code, step=12, saved=10, killed_on_request=False, stopping=True)
    assert state == states.STOPPED
    assert "did not stop in time and was ended at step 12 without saving" in sentence
