"""Whether a reward function's code takes a chat completion for text, and what the diagnostics say of a run with one."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupwise.storage.analysis.doctor.evidence_reader import gather
from groupwise.storage.analysis.doctor.examine import examine
from groupwise.storage.home import paths
from groupwise.storage.library.rewards.message_lists import takes_messages_for_text
from groupwise.storage.record import run_files
from groupwise.storage.record.step_record import Completion, Group
from tests.support.made_runs import made_run

ZIPPED = "return [float(str(a) in c) for c, a in zip(completions, answer)]"


@pytest.mark.parametrize(
    "body",
    [
        ZIPPED,
        "return [float(c == a) for c, a in zip(completions, answer)]",
        "return [float(a != c) for a, c in zip(answer, completions, strict=True)]",
        "return [float(answer[i] in c) for i, c in enumerate(completions)]",
        "return [float(a in c) for i, (c, a) in enumerate(zip(completions, kwargs['solution']))]",
        "scores: list[float] = []\n    for c, a in zip(completions, answer):\n        scores.append(float(a == c))\n"
        "    return scores",
        "return [float('yes' in c) for c in completions]",
        "return [float(len(c) > 9) for c, _ in zip(completions, answer)]",
    ],
)
def test_a_completion_that_is_searched_or_compared_is_taken_for_text(body: str) -> None:
    code = f"def mine(completions: list[str], answer, **kwargs) -> list[float]:\n    {body}\n"
    assert takes_messages_for_text(code)
    counted = code.replace("    ", "    CALLS[0] += 1\n    ", 1)
    assert takes_messages_for_text(f"CALLS = [0]\n\n\n{counted}"), "what the module counts is no completion"


@pytest.mark.parametrize(
    "body",
    [
        "return [float(a in c[0]['content']) for c, a in zip(completions, answer)]",
        "return [float(a in c[-1].get('text')) for c, a in zip(completions, answer)]",
        "return [float(c in answer) for c, a in zip(completions, answer)]",
        "return [float(a == 'b') for c, a in zip(completions, answer)]",
        "return [float(c == [] or c == None) for c in completions]",
        "return [float(c == d) for c, d in zip(completions, completions)]",
        "for c in completions:\n        c = str(c)\n        answer.append(float('4' in c))\n    return answer",
        "return [text(c) == a for c, a in zip(completions, answer)]\n\ndef text(answer):\n    return answer[0].pop()",
        "return [0.5 for c, *rest in zip(completions, answer)]",
    ],
)
def test_what_reaches_into_it_or_looks_at_something_else_is_not(body: str) -> None:
    assert not takes_messages_for_text(f"def mine(completions, answer, **kwargs):\n    {body}\n")


def test_of_a_file_with_several_functions_the_one_that_is_meant_is_read_with_what_it_calls() -> None:
    """Another function of the file reached into its completions."""
    other = 'def other(completions, **kwargs):\n    return [float(c[0]["content"] == "7") for c in completions]\n'
    calls = "def mine(completions, answer, **kwargs):\n    return look(completions, answer)\n"
    looks = f"def look(completions, answer):\n    {ZIPPED}\n"
    assert takes_messages_for_text(calls + looks + other, "mine")
    assert not takes_messages_for_text(calls + looks + other, "other")
    assert not takes_messages_for_text(calls + other.replace("other(", "look("), "mine")
    assert not takes_messages_for_text(calls + looks + other, "absent")


@pytest.mark.parametrize(("prompt", "taken"), [([{"role": "user", "content": "20+26?"}], True), ("20+26?", False)])
def test_the_diagnostics_know_it_of_the_code_that_a_run_of_chats_scored_with(
    registry_home: Path, prompt: object, taken: bool
) -> None:
    def make_group(step: int, n: int) -> Group:
        made = [Completion(f"<answer>{46 + at % 2}</answer>", 8, False, 0.0, 0.0, [(0.0, "ok")]) for at in range(8)]
        return Group("train", step, prompt, {"answer": "46"}, made)

    run_id = made_run("chats", 40, functions=("mine",), make_group=make_group, metrics=lambda step: {"reward": 0.0})
    folder = paths.run_folder(run_id)
    folder.rewards.mkdir(exist_ok=True)
    code = f"def mine(completions, answer, **kwargs):\n    {ZIPPED}\n"
    (folder.rewards / "mine.py").write_text(code, encoding="utf-8")
    found = gather(folder.db, run_files.spec_of(folder))
    assert found.functions["mine"].takes_messages_for_text is taken
    told = next(one for one in examine(found).verdicts if one.key == "scored_wrong")
    assert ("Its code treats a completion as text." in told.sentence) is taken
    labels = ["Fix mine"] if taken else ["Try mine on its completions", "State the expected format in the prompt"]
    assert [one.label for one in told.changes] == labels
