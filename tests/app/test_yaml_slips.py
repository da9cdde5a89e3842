"""Slips that people make in YAML: each is one problem, at its line, and its fix does what it says."""

from __future__ import annotations

from typing import Any

import pytest

from groupwise.app.pages.new import edits, launch
from groupwise.storage.library.capabilities import Offer

HEAD = "name: a\nrewards:\n- name: format\n"
FIELDS: dict[str, Any] = {
    "bf16": {"types": ["bool", "none"], "default": None}, "max_steps": {"types": ["int"], "default": -1},
    "gradient_checkpointing": {"types": ["bool"], "default": True}, "beta": {"types": ["float"], "default": 0.0},
    "learning_rate": {"types": ["float"], "default": 1e-6},
}  # fmt: skip
OFFER = Offer(FIELDS, {"r": {"types": ["int"], "default": 8}, "lora_alpha": {"types": ["int"], "default": 8},
                       "target_modules": {"types": ["str", "list"], "default": None}}, {"format": {}})  # fmt: skip


def problems(text: str) -> list[Any]:
    """What is said of a text, with the fields that this machine's TRL has."""
    return launch.check_text(text, OFFER).problems


@pytest.mark.parametrize(
    ("text", "line", "words", "label", "value"),
    [
        (HEAD + "training:\n  bf16: yes\n", 5, 'should be true or false, not "yes".', "Use true",
         ("training", {"bf16": True})),
        (HEAD + "training:\n  gradient_checkpointing: no\n", 5, 'should be true or false, not "no".', "Use false",
         ("training", {"gradient_checkpointing": False})),
        (HEAD + "training:\n  max_steps: 60.0\n", 5, "should be a whole number, not 60.0.", "Use 60",
         ("training", {"max_steps": 60})),
        (HEAD + "training:\n  learning_rate: 1,5e-5\n", 5,
         'should be a number, not "1,5e-5". Did you mean 1.5e-5?', "Use 1.5e-5",
         ("training", {"learning_rate": 1.5e-5})),
        (HEAD + "learning_rate: 1e-5\n", 4, "belongs under training.", "Move it under training",
         ("training", {"learning_rate": 1e-5})),
        (HEAD + "  max_steps: 5\n", 4, "belongs under training.", "Move it under training",
         ("training", {"max_steps": 5})),
        (HEAD + "lora: true\n", 4, "should be a mapping of settings, one to a line, not True.", "Use LoRA of rank 16",
         ("lora", {"r": 16, "lora_alpha": 32, "target_modules": "all-linear"})),
        (HEAD + "data: openai/gsm8k\n", 4, "should be a mapping of settings, one to a line, not 'openai/gsm8k'.",
         "Write it as “source: hub:openai/gsm8k”", ("data", {"source": "hub:openai/gsm8k"})),
        (HEAD + "model: org/name\n", 4, "should be a mapping of settings, one to a line, not 'org/name'.",
         "Write it as “id: org/name”", ("model", {"id": "org/name"})),
        ("name: a\nrewards:\n- name: “format”\n", 3, "should be the name of a Python function, not '“format”'.",
         "Use format", ("rewards", [{"name": "format"}])),
        ("name: a\nrewards:\n- name: formatt\n", 3, "there is no reward function “formatt”. Did you mean “format”?",
         "Use format", ("rewards", [{"name": "format"}])),
    ],
)  # fmt: skip
def test_a_slip_is_one_problem_and_its_fix_is_what_was_meant(
    text: str, line: int, words: str, label: str, value: tuple[str, Any]
) -> None:
    (problem,) = problems(text)
    assert (problem.line, problem.message) == (line, words)
    first, *others = problem.fixes
    assert first.label == label and label not in [fix.label for fix in others]
    mended = edits.apply(text, edits.of_fix({"settings": first.settings, "removed": list(first.removed)}))
    part, wanted = value
    read = launch.check_text(mended, OFFER)
    got = getattr(read.spec, part)
    if part == "rewards":
        assert [reward.name for reward in got] == [one["name"] for one in wanted]
    else:
        plain = got if isinstance(got, dict) else got.model_dump()
        assert {key: plain[key] for key in wanted} == wanted
    assert not any(one.field == problem.field for one in read.problems)


def test_a_setting_that_is_under_training_too_is_not_moved_onto_it() -> None:
    (problem,) = problems(HEAD + "beta: 0.1\ntraining:\n  beta: 0.2\n")
    assert problem.message == "belongs under training, where beta is set already."
    assert [(fix.label, fix.settings, fix.removed) for fix in problem.fixes] == [("Remove it", {}, ("beta",))]


def test_a_part_that_is_indented_too_far_is_said() -> None:
    found = problems(HEAD + "  training:\n    max_steps: 5\n")
    assert [(one.line, one.field, one.message) for one in found] == [
        (4, "rewards.0.training", "is indented too far: “training” begins at the left edge.")
    ]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (HEAD + "training:\n\tmax_steps: 5\n", 5, "there is a tab. Indent with spaces instead."),
        (HEAD + "training:\n  max_steps:\t5\n", 5, "there is a tab in this line. Write a space instead."),
        ("name: 'a\nrewards:\n- name: format\n", 1,
         "a quotation mark is not closed: close it, or write the text without quotes."),
        (HEAD + "---\nname: b\n", 4, "there is a second document after “---”. A spec is one."),
        (HEAD + "training:\n  max_steps:5\n  beta: 0.1\n", 5, "there is no space after this line's colon."),
        (HEAD + "training:\n  max_steps: 5\n   beta: 0.1\n", 6, "this line's indentation does not fit the lines "
         "above. The names of one part begin at the same column."),
    ],
)  # fmt: skip
def test_what_is_no_yaml_is_said_in_a_persons_words(text: str, line: int, words: str) -> None:
    (problem,) = problems(text)
    assert (problem.line, problem.message) == (line, f"This is not YAML: {words}")
    (alias,) = problems("base: &b 5\nname: *b\n")
    assert alias.message == "Aliases (*name) are not allowed in a spec: write what it stands for." and alias.line == 2
