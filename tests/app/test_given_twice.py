"""A setting that a YAML text gives twice: two buttons, each of which changes the text in exactly one place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from groupwise.app.pages.new import new_run
from groupwise.storage.spec.words.problem import THEN
from tests.app.test_any_slips import shown_of
from tests.support import offer

HEAD = "# mine\nname: a  # the name\nrewards: [{name: format}]\n"


@pytest.fixture(autouse=True)
def offered(registry_home: Path, no_worker: None) -> None:
    offer.publish()


def after(text: str, labels: list[str]) -> list[str]:
    """The texts after a click on each button of the first problem, which has these labels."""
    seen = json.loads(json.dumps(new_run.edit_settings({"text": text})))
    problem = seen["unreadable"]["problems"][0]
    assert "given twice (first in line " in problem["message"]
    assert [fix["label"] for fix in problem["fixes"]] == labels
    made = [new_run.edit_settings({"text": text, "edits": [{"fix": fix}]}) for fix in problem["fixes"]]
    assert all("unreadable" not in view for view in made)
    return [view["text"] for view in made]


@pytest.mark.parametrize(
    ("text", "labels", "kept"),
    [
        (
            f"{HEAD}training:\n  beta: 0.02  # first\n  # between\n  max_steps: 5\n  beta: 0.5  # last\n",
            ["Keep the first (line 5: 0.02)", "Keep the last (line 8: 0.5)"],
            [
                f"{HEAD}training:\n  beta: 0.02  # first\n  # between\n  max_steps: 5\n",
                f"{HEAD}training:\n  # between\n  max_steps: 5\n  beta: 0.5  # last\n",
            ],
        ),
        (
            f"{HEAD}training: {{beta: 0.02, max_steps: 5, beta: 0.5}}",
            ["Keep the first (line 4: 0.02)", "Keep the last (line 4: 0.5)"],
            [f"{HEAD}training: {{beta: 0.02, max_steps: 5}}", f"{HEAD}training: {{max_steps: 5, beta: 0.5}}"],
        ),
        (
            f"{HEAD}data:\n  examples:\n  - question: q\n    answer: a\n    question: r\n",
            ["Keep the first (line 6: q)", "Keep the last (line 8: r)"],
            [
                f"{HEAD}data:\n  examples:\n  - question: q\n    answer: a\n",
                f"{HEAD}data:\n  examples:\n  - answer: a\n    question: r\n",
            ],
        ),
        (
            f"{HEAD}data:\n  system_prompt: |\n    one\n    two\n\n  limit: 5\n  system_prompt: three",
            ["Keep the first (line 5: one two)", "Keep the last (line 10: three)"],
            [
                f"{HEAD}data:\n  system_prompt: |\n    one\n    two\n\n  limit: 5\n",
                f"{HEAD}data:\n  limit: 5\n  system_prompt: three",
            ],
        ),
        (
            f"{HEAD}training:\n  beta: 0.1\n\n# about data\ndata:\n  limit: 5\ntraining:\n  max_steps: 5\n# end\n",
            ["Join them", "Keep the first (line 4), remove 1 setting", "Keep the last (line 10), remove 1 setting"],
            [
                f"{HEAD}training:\n  beta: 0.1\n  max_steps: 5\n\n# about data\ndata:\n  limit: 5\n# end\n",
                f"{HEAD}training:\n  beta: 0.1\n\n# about data\ndata:\n  limit: 5\n# end\n",
                f"{HEAD}\n# about data\ndata:\n  limit: 5\ntraining:\n  max_steps: 5\n# end\n",
            ],
        ),
    ],
)
def test_a_button_keeps_one_of_two_and_every_other_sign(text: str, labels: list[str], kept: list[str]) -> None:
    assert after(text, labels) == kept


@pytest.mark.parametrize(
    ("second", "joined"),
    [
        ("training:  # here\n    # mine\n    max_steps: 5  # few\n\n    bf16: false",
         "  # here\n  # mine\n  max_steps: 5  # few\n\n  bf16: false\ndata:\n  limit: 5"),
        ("training:\n beta: 0.1\n", "data:\n  limit: 5\n"),
    ],
)  # fmt: skip
def test_of_two_parts_one_is_made_with_all_that_either_says(second: str, joined: str) -> None:
    first = f"{HEAD}training:\n  beta: 0.1  # first\n"
    for newline in ("\n", "\r\n"):
        text = f"{first}data:\n  limit: 5\n{second}".replace("\n", newline)
        (problem,) = [one for one in new_run.edit_settings({"text": text})["unreadable"]["problems"]
                      if one["level"] == "blocking"]  # fmt: skip
        assert problem["message"] == "given twice (first in line 4): join the two, or remove one."
        assert problem["fixes"][0]["label"] == "Join them"
        after = new_run.edit_settings({"text": text, "edits": [{"fix": problem["fixes"][0]}]})
        assert after["text"] == f"{first}{joined}".replace("\n", newline)


def test_what_two_joined_parts_say_otherwise_is_named_and_chosen_at_once() -> None:
    text = f"{HEAD}data:\n  source: task:a  # one\n  limit: 4\n\ndata:\n  source: task:b  # two\n  holdout: 2\n"
    seen = new_run.edit_settings({"text": text})["unreadable"]["problems"][0]["message"]
    assert seen.endswith(" “source” is in both (line 5: task:a; line 9: task:b).")
    made = after(text, ["Join them, keep the first “source”", "Join them, keep the last “source”",
                        "Keep the first (line 4), remove 2 settings",
                        "Keep the last (line 8), remove 2 settings"])  # fmt: skip
    assert made[:2] == [
        f"{HEAD}data:\n  source: task:a  # one\n  limit: 4\n  holdout: 2\n\n",
        f"{HEAD}data:\n  limit: 4\n  source: task:b  # two\n  holdout: 2\n\n",
    ]


def test_a_part_that_is_in_both_is_asked_about_by_itself() -> None:
    text = f"{HEAD}data:\n  parameters:\n    low: 1\ndata:\n  parameters:\n    low: 2\n"
    seen = json.loads(json.dumps(new_run.edit_settings({"text": text})))["unreadable"]["problems"][0]["fixes"][0]
    assert seen["label"] == "Join them"
    once = new_run.edit_settings({"text": text, "edits": [{"fix": seen}]})
    assert once["unreadable"]["problems"][0]["field"] == "data.parameters"


def test_a_button_of_a_text_that_has_changed_since_does_nothing() -> None:
    text = f"{HEAD}training: {{beta: 0.02, beta: 0.5}}\n"
    fix = new_run.edit_settings({"text": text})["unreadable"]["problems"][0]["fixes"][0]
    other = text.replace("beta: 0.5", "beta: 0.6")
    assert new_run.edit_settings({"text": other, "edits": [{"fix": fix}]})["text"] == other
    for odd in (
        {"line": 99, "column": 0, "text": "x"},
        {"line": 1, "column": -1, "text": "#"},
        {"line": True},
        [],
        "x",
    ):
        assert new_run.edit_settings({"text": text, "edits": [{"fix": {**fix, "cut": odd}}]})["text"] == text


def test_each_of_two_settings_given_twice_has_its_own_buttons() -> None:
    text = f"{HEAD}training: {{beta: 0.02, beta: 0.5}}\ndata: {{limit: 5, limit: 6}}\n"
    problems = new_run.edit_settings({"text": text})["unreadable"]["problems"]
    assert [one["field"] for one in problems] == ["training.beta", "data.limit"]
    view = new_run.edit_settings({"text": text, "edits": [{"fix": problems[0]["fixes"][1]}]})
    assert view["text"] == f"{HEAD}training: {{beta: 0.5}}\ndata: {{limit: 5, limit: 6}}\n"
    graves = [one["field"] for one in view["unreadable"]["problems"] if one["level"] == "blocking"]
    assert graves == ["data.limit"]


def test_of_a_text_far_longer_than_a_spec_what_follows_is_not_looked_for(own_home: Path) -> None:
    """A thousand lines of a log, pasted, held the page for twenty seconds."""
    slip = f"{HEAD}rewards:\n- 1.000\n  weight: 2\n"
    short, long = (shown_of("# one more line\n" * lines + slip) for lines in (4, 400))
    assert any(one["message"].startswith(THEN) for one in short)
    assert long and not any(one["message"].startswith(THEN) for one in long)
