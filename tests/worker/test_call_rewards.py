"""A function of one's own that scores nothing in a run is told of before: it is called once with the run's own rows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import view
from groupwise.storage.home import paths
from groupwise.storage.library.rewards import library
from groupwise.storage.registry import questions
from groupwise.storage.registry.messages.problem import ProblemMessage
from groupwise.worker.questions import call_rewards, server
from tests.support.runs import make_spec

pytestmark = pytest.mark.usefixtures("keep_signal_handler")

REFUSER = (
    "def refuser(completions, *, threshold: float = 0.5, **kwargs):\n"
    "    if threshold > 1:\n"
    "        raise ValueError('threshold must be at most 1')\n"
    "    return [float(len(one[0]['content']) > 3) for one in completions]\n"
)


def said(code: str, parameters: dict[str, Any] | None = None, name: str = "mine") -> list[ProblemMessage]:
    library.save_reward(name, code)
    entry = {"name": name, "parameters": parameters or {}}
    asked = view.about_rewards(make_spec(rewards=[{"name": "format"}, entry]))
    assert asked is not None
    answer = server.answer_question(questions.CALL_REWARDS, asked.as_dict())
    return [ProblemMessage.from_plain(one) for one in answer["problems"]]


def test_what_refuses_its_parameter_is_said_at_it_with_the_default_as_a_way_out(registry_home: Path) -> None:
    [one] = said(REFUSER, {"threshold": 5}, "refuser")
    assert (one.field, one.level) == ("rewards.1.parameters.threshold", "warning")
    assert one.message == (
        "“refuser” failed when it was called with 4 sample completions: "
        "ValueError: threshold must be at most 1, line 3."
    )
    assert [fix.label for fix in one.fixes] == ["Use the default of threshold", "Open refuser in Rewards"]
    assert one.fixes[0].removed == ["rewards.1.parameters.threshold"]
    assert one.fixes[1].page == "/rewards?name=refuser&line=3"
    assert said(REFUSER, {"threshold": 0.9}, "refuser") == []


BODIES = {
    "raise KeyError('level')": "KeyError: 'level', line 2.",
    "return [1.0]": "1",
    "return 'good'": "",
}


@pytest.mark.parametrize("body", BODIES)
def test_any_other_failure_is_said_of_the_function(registry_home: Path, body: str) -> None:
    [one] = said(f"def mine(completions, answer, **kwargs):\n    {body}\n")
    assert (one.field, one.level) == ("rewards.1.name", "warning")
    assert BODIES[body] in one.message
    assert [fix.label for fix in one.fixes] == ["Open mine in Rewards"]


def test_a_function_that_scores_none_of_them_is_told_of(registry_home: Path) -> None:
    [one] = said("def mine(completions, answer, **kwargs):\n    return [None for _ in completions]\n")
    assert (one.field, one.level) == ("rewards.1.name", "warning")
    assert one.message == (
        "“mine” returned None for all of the 4 sample completions that it was called with, of the first 2 rows. "
        "Without scores nothing is learned."
    )
    assert [fix.page for fix in one.fixes] == ["/rewards?name=mine"]


@pytest.mark.parametrize(
    "code",
    [
        "def mine(completions, answer, prompts, completion_ids, trainer_state, log_extra, log_metric):\n"
        "    log_metric('a', trainer_state.global_step)\n"
        "    return [float(a in c[0]['content']) + len(i) for c, a, i in zip(completions, answer, completion_ids)]\n",
        "def mine(completions, **kwargs):\n    return [None, *(1.0 for _ in completions[1:])]\n",
        "def mine(completions, **kwargs):\n    return [float('###' in c[0]['content']) for c in completions]\n",
        "def mine(completions, **kwargs):\n    return [1.0 for _ in completions]\n",  # its code says so
        "def mine(completions, **kwargs):\n    return [float('</' in c[0]['content']) for c in completions]\n",
        "def mine(completions, level):\n    return [1.0 for _ in level]\n",  # a column that is not there
        "import no_such_package\ndef mine(completions, **kwargs):\n    return [1.0 for _ in completions]\n",
    ],
)
def test_nothing_is_said_of_what_scores_or_is_told_of_elsewhere(registry_home: Path, code: str) -> None:
    assert said(code) == []


def test_a_function_that_does_not_come_back_is_told(registry_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_rewards, "SECONDS", 0.3)
    endless = "“mine” did not answer within 0.3 s when it was called with 4 sample completions. Does a loop in it end?"
    slow = "import time\ndef mine(completions, **kwargs):\n    time.sleep(1)\n    return [0.0] * len(completions)\n"
    for code in ("def mine(completions, **kwargs):\n    while True: pass\n", slow):
        assert [(one.field, one.level, one.message) for one in said(code)] == [("rewards.1.name", "warning", endless)]
    monkeypatch.setattr(call_rewards, "SECONDS", 9.0)
    assert said(slow) == [], "a machine that was busy is not remembered"


FAIL_FIVE = (
    "def mine(completions, answer, **kwargs):\n    return [float(str(a) in c) for c, a in zip(completions, answer)]\n"
)
BOXED = (
    "def mine(completions, **kwargs):\n"
    "    texts = [one[-1]['content'] for one in completions]\n"
    "    return [2 * ('boxed{' + a + '}' in t) - 1 for t, a in zip(texts, kwargs['answer'])]\n"
)


def test_a_function_that_takes_messages_for_text_tells_no_right_answer_from_a_wrong_one(registry_home: Path) -> None:
    """As it was seen: a run was launched without a word, and every score was 0."""
    [one] = said(FAIL_FIVE)
    assert (one.field, one.level) == ("rewards.1.name", "warning")
    quoted = re.fullmatch(
        r"“mine” gives 0 to a right answer as well as to a wrong one: it tells none apart\. It was called with "
        r"“(.+)” where that is right, and with “(.+)”\. A completion is a list of messages here: its text is "
        r'completion\[-1\]\["content"\]\.',
        one.message,
    )
    assert quoted, one.message
    right, wrong = (re.search(r"<answer>(\d+)</answer>$", text) for text in quoted.groups())
    assert right and wrong and int(wrong[1]) == int(right[1]) + 7
    assert [fix.label for fix in one.fixes] == ["Open mine in Rewards"]


def test_a_function_that_looks_for_another_format_is_told_with_what_was_tried(registry_home: Path) -> None:
    [one] = said(BOXED)
    assert one.message.startswith("“mine” gives −1 to a right answer as well as to a wrong one: it tells none apart. ")
    assert one.message.endswith("</answer>”. Does it need another format? Try it on rows under Rewards.")


@pytest.mark.parametrize(
    "body",
    [
        "completions, answer, **_):\n    return [float(a in c[0]['content']) for a, c in zip(answer, completions)]",
        "completions, answer, **kwargs):\n    return [0.5, 0.5, 0.5, 0.6]",  # apart in one row
        "completions, answer, **kwargs):\n    return [0.0, None, 0.0, 0.0]",
        "completions, level=3, **kwargs):\n    return [0.0 for one in completions]",
    ],
)
def test_nothing_is_said_of_what_tells_right_from_wrong_or_does_not_get_the_answer(
    registry_home: Path, body: str
) -> None:
    assert said(f"def mine({body}\n") == []


IN_MESSAGES = "def mine(completions, **kwargs):\n    return [float('</answer>' in c) for c in completions]\n"
FAILS_AT_TIMES = "\n    CALLS[0] += 1\n    if CALLS[0] % 2:\n        raise KeyError('odd')\n    return"
LISTS = 'A completion is a list of messages here: its text is completion[-1]["content"].'


def test_a_function_that_looks_for_text_in_messages_is_named_also_where_it_gets_no_answer(registry_home: Path) -> None:
    """As it was seen: nothing was said before the launch, and Try named it."""
    [one] = said(IN_MESSAGES)
    assert (one.field, one.level) == ("rewards.1.name", "warning")
    assert one.message == f"“mine” does not tell 4 sample completions apart: all earn 0. {LISTS}"
    assert [fix.label for fix in one.fixes] == ["Open mine in Rewards"]
    assert said(IN_MESSAGES.replace("in c)", "in c[-1]['content'])")) == [], "it is of their text"
    # it failed at times, too: the code shows the same
    [both] = said("CALLS = [0]\n" + IN_MESSAGES.replace("\n    return", FAILS_AT_TIMES))
    assert both.message.endswith(f"KeyError: 'odd', line 5. Its code treats a completion as text. {LISTS}")


def test_a_function_that_gives_all_that_was_tried_the_same_is_told_of(registry_home: Path) -> None:
    [one] = said(
        "def mine(completions, **kwargs):\n    return [0.5 + ('###' in c[0]['content']) for c in completions]\n"
    )
    assert one.message == (
        "“mine” does not tell 22 sample completions apart: all earn 0.5. Empty and long ones are among them. Does it "
        "look for something that none of them has? Try it on rows under Rewards."
    )


def ask_of_text(answers: list[str], code: str) -> list[ProblemMessage]:
    """What is said of the function on rows of a file with these answers in the column “town”."""
    rows = "".join(f'{{"question": "Where?", "town": "{one}"}}\n' for one in answers)
    (paths.data_folder() / "towns.jsonl").write_text(rows, encoding="utf-8")
    library.save_reward("mine", code)
    asked = view.about_rewards(
        make_spec(
            rewards=[{"name": "mine"}], data={"source": "file:towns.jsonl", "answer_column": "town", "limit": None}
        )
    )
    assert asked is not None
    answer = server.answer_question(questions.CALL_REWARDS, asked.as_dict())
    return [ProblemMessage.from_plain(one) for one in answer["problems"]]


def test_the_answer_counts_by_its_columns_name_and_a_wrong_one_that_holds_the_right_one_does_not(
    registry_home: Path,
) -> None:
    by_column = FAIL_FIVE.replace("answer", "town")
    [one] = ask_of_text(["Paris", "Rome"], by_column)
    assert "<answer>not Paris</answer>”" in one.message
    reads = by_column.replace("in c)", "in c[0]['content'])")
    assert ask_of_text(["Paris", "Rome"], reads) == [], "“not Paris” holds the right answer"
    assert ask_of_text(["", ""], by_column) == [], "nothing is right or wrong there"


def test_the_same_call_is_made_once(registry_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "def mine(completions, **kwargs):\n    raise ValueError('once')\n"
    first = said(code)
    monkeypatch.setattr(call_rewards.client, "Host", None)  # none could be started
    assert said(code) == first and len(first) == 1


def test_what_may_use_the_network_is_not_called(registry_home: Path) -> None:
    library.save_reward("mine", "def mine(completions, **kwargs):\n    return [1.0]\n", network=True)
    assert view.about_rewards(make_spec(rewards=[{"name": "mine"}])) is None


def test_each_stage_has_its_functions_called(registry_home: Path) -> None:
    kept = library.save_reward("mine", REFUSER.replace("refuser", "mine"))
    staged = make_spec(stages=[{}, {"rewards": [{"name": "mine", "version": kept.hash}]}])
    asked = view.about_rewards(staged)
    assert asked is not None
    assert [(one.place, one.version) for one in asked.functions] == [("stages.1.rewards.0", kept.hash)]


def test_a_saved_change_is_asked_about_anew(registry_home: Path) -> None:
    spec = make_spec(rewards=[{"name": "mine"}])
    assert "call_rewards" not in view.keys(spec)
    library.save_reward("mine", "def mine(completions, **kwargs):\n    return [1.0]\n")
    before = view.keys(spec)["call_rewards"]
    library.save_reward("mine", "def mine(completions, **kwargs):\n    return [2.0]\n")
    assert view.keys(spec)["call_rewards"] != before
