"""Slips of a YAML text: each is said at its line with the button that puts it right, and hides nothing of the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import new_run
from groupwise.storage.spec.words.word_quotes import QUOTES_ARE_LETTERS
from groupwise.storage.spec.yaml import yaml_text
from groupwise.storage.spec.yaml.dashes import NO_DASH
from groupwise.storage.spec.yaml.fences import AROUND
from groupwise.storage.spec.yaml.fences import LABEL as KEEP
from groupwise.storage.spec.yaml.line_above import UNNAMED
from groupwise.storage.spec.yaml.odd_indentation import ONE, SEVERAL
from groupwise.storage.spec.yaml.own_line import SECOND
from groupwise.storage.spec.yaml.repairs import BRACKET, EQUALS, IN_QUOTES
from groupwise.storage.spec.yaml.wide_colons import LABEL, WIDE
from groupwise.storage.spec.yaml.wide_colons import SEVERAL as SEVERAL_WIDE
from groupwise.storage.spec.yaml.yaml_text import (
    ABOVE,
    COLON,
    CONTROL,
    DOCUMENTS,
    INDENTATION,
    LONG_NAME,
    NO_COLON,
    NO_SPACE,
    QUOTE,
    TAB,
    TAB_INSIDE,
)
from tests.support import offer

HEAD = "name: a\nrewards: [{name: format}]\n"
ALIAS = "Aliases (*name) are not allowed in a spec: write what it stands for."


@pytest.fixture(autouse=True)
def offered(registry_home: Path, no_worker: None) -> None:
    offer.publish()


def view_of(text: str, fix: dict[str, Any] | None = None) -> dict[str, Any]:
    """What New run says of a text, after a click on a button."""
    edits = [{"fix": fix}] if fix else []
    return dict(json.loads(json.dumps(new_run.edit_settings({"text": text, "edits": edits}))))


@pytest.mark.parametrize(
    ("slip", "line", "words", "label", "right"),
    [
        ("training:\n  max_steps: 5\n  beta:0.02\n", 5, NO_SPACE, "Write it as “beta: 0.02”",
         "training:\n  max_steps: 5\n  beta: 0.02\n"),
        ("training:\n  beta: 0.1\n  max_steps:\u00a05\n", 5, NO_SPACE, "Write it as “max_steps: 5”",
         "training:\n  beta: 0.1\n  max_steps: 5\n"),
        ("training:\n  max_steps = 5\n  beta: 0.1\n", 4, EQUALS, "Write it as “max_steps: 5”",
         "training:\n  max_steps: 5\n  beta: 0.1\n"),
        ("training:\n\tmax_steps: 5\n\tbeta: 0.1\n", 4, TAB, "Write spaces instead of the tabs",
         "training:\n  max_steps: 5\n  beta: 0.1\n"),
        ("training:\n  max_steps:\t5\n", 4, TAB_INSIDE, "Write spaces instead of the tab",
         "training:\n  max_steps: 5\n"),
        ("data:\n  system_prompt: \"a\tb\"  # c\td\n\tlimit: 5\n", 5, TAB, "Write spaces instead of the tab",
         "data:\n  system_prompt: \"a\tb\"  # c\td\n  limit: 5\n"),
        ("data:\n  prompt_template: |\n    \t{question}\tx\n  limit:\t5\n", 6, TAB_INSIDE,
         "Write spaces instead of the tab", "data:\n  prompt_template: |\n    \t{question}\tx\n  limit: 5\n"),
        ("data:\n\tprompt_template: |\n\t\t{question}\n\t\t\tx\ty\n\tlimit: 5\n", 4, TAB,
         "Write spaces instead of the tabs", "data:\n  prompt_template: |\n    {question}\n    \tx\ty\n  limit: 5\n"),
        ("training:\n  max_steps: 5\0\n", 4, CONTROL, "Remove it", "training:\n  max_steps: 5\n"),
        ("training:\n  max_steps: 5\n  beta:\x01 0.1\x02\n", 5, CONTROL, "Remove all 2 of them",
         "training:\n  max_steps: 5\n  beta: 0.1\n"),
        ("data:\n  system_prompt: \"Think  # hard\n  limit: 5\n", 4, QUOTE,
         "Close the quotation mark: \"Think\"  # hard", "data:\n  system_prompt: \"Think\"  # hard\n  limit: 5\n"),
        ("data:\n  system_prompt: \"Think\n  limit: 5\n", 4, QUOTE, "Close the quotation mark: \"Think\"",
         "data:\n  system_prompt: \"Think\"\n  limit: 5\n"),
        ("data:\n  system_prompt: 'It's on'\n", 4, IN_QUOTES, "Put it in quotes",
         "data:\n  system_prompt: \"It's on\"\n"),
        ("data:\n  system_prompt: Say: yes\n", 4, COLON, "Put it in quotes", "data:\n  system_prompt: \"Say: yes\"\n"),
        ("data:\n  prompt_template: {question} Go\n", 4, IN_QUOTES, "Put it in quotes",
         "data:\n  prompt_template: \"{question} Go\"\n"),
        ("training: {max_steps: 5\nlaunch: {processes: 1}\n", 3, BRACKET, "Close it with }",
         "training: {max_steps: 5}\nlaunch: {processes: 1}\n"),
        ("training:\n  max_steps: 5\n   beta: 0.1\n", 5, INDENTATION, "Begin the line at column 3",
         "training:\n  max_steps: 5\n  beta: 0.1\n"),
        ('training: {"max_steps": 5 "beta": 0.1}\n', 3, 'comma is missing between “5” and “beta”.',
         "Put a comma before “beta”", 'training: {"max_steps": 5, "beta": 0.1}\n'),
        ("training: {max_steps: 5 beta: 0.1 seed: 1}\n", 3, "commas are missing before “beta” and “seed”.",
         "Put commas before “beta” and “seed”", "training: {max_steps: 5, beta: 0.1, seed: 1}\n"),
        ("training: {\n  max_steps: 5 # few\n  beta: 0.1\n}\nlaunch: {processes: 1}\n", 4,
         "comma is missing between “5” and “beta”.", "Put a comma before “beta”",
         "training: {\n  max_steps: 5, # few\n  beta: 0.1\n}\nlaunch: {processes: 1}\n"),
        ("stages: [\n  {name: a}\n  {name: b}\n]\n", 4, "comma is missing between “}” and “{”.",
         "Put a comma before “{”", "stages: [\n  {name: a},\n  {name: b}\n]\n"),
        ("training: {max_steps: !!int 5}\n", 3, "tags (!name) are not allowed", "Remove the tag",
         "training: {max_steps: 5}\n"),
        ("training: &t {max_steps: 5}\nstages:\n- training: *t\n- training: {beta: 0.1}\n", 5, ALIAS,
         "Write what *t stands for",
         "training: &t {max_steps: 5}\nstages:\n- training: {max_steps: 5}\n- training: {beta: 0.1}\n"),
        ("data: &d\n  limit: 5\n  holdout: 2\ntraining:\n  <<: *d\n  beta: 0.1\n  holdout: 3\n", 7, ALIAS,
         "Write what *d stands for",
         "data: &d\n  limit: 5\n  holdout: 2\ntraining:\n  limit: 5\n  beta: 0.1\n  holdout: 3\n"),
        ("training:\n  beta: 0.02 epsilon: 0.2\n  seed: 1\n", 4, SECOND, "Put “epsilon: 0.2” on its own line",
         "training:\n  beta: 0.02\n  epsilon: 0.2\n  seed: 1\n"),
        ("training:\n  max_steps: 8, seed: 1  beta: 0.1\n", 4, SECOND,
         "Put “seed: 1” and “beta: 0.1” on lines of their own",
         "training:\n  max_steps: 8\n  seed: 1\n  beta: 0.1\n"),
        ("stages:\n- name: a training: {beta: 0.1}\n- name: b\n  training: {beta: 0.2}\n", 4, SECOND,
         "Put “training: {beta: 0.1}” on its own line",
         "stages:\n- name: a\n  training: {beta: 0.1}\n- name: b\n  training: {beta: 0.2}\n"),
        ("training:\n  max_steps: 5\n  beta：0.1\n", 5, WIDE, LABEL, "training:\n  max_steps: 5\n  beta: 0.1\n"),
        ("training：\n  max_steps: 5\n", 3, WIDE, LABEL, "training:\n  max_steps: 5\n"),
        ("training:\n  beta：0.1 # a\n  seed： 1\n  max_steps: 5\n", 4, SEVERAL_WIDE.format(4, 5), "Write : in 2 lines",
         "training:\n  beta: 0.1 # a\n  seed: 1\n  max_steps: 5\n"),
        ("---\nname: b\n", 3, DOCUMENTS, "Remove the second document", ""),
    ],
)  # fmt: skip
def test_a_slip_is_put_right_by_its_button(slip: str, line: int, words: str, label: str, right: str) -> None:
    for newline in ("\n", "\r\n"):
        text = (HEAD + slip).replace("\n", newline)
        first = view_of(text)["unreadable"]["problems"][0]
        assert first["line"] == line and words in first["message"]
        assert [fix["label"] for fix in first["fixes"]] == [label]
        after = view_of(text, first["fixes"][0])
        assert after["text"].rstrip() == (HEAD + right).replace("\n", newline).rstrip() and "unreadable" not in after


@pytest.mark.parametrize(
    ("slip", "field", "words", "labels", "right"),
    [
        ("training: {max_steps: 5, beta:0.02}\n", "training.beta", "there is no space after the colon.",
         ["Write it as “beta: 0.02”"], "training: {max_steps: 5, beta: 0.02}\n"),
        ("training: {learning_rate: 1,0e-5, beta: 0.1}\n", "training.learning_rate",
         "the comma in 1,0e-5 begins another setting. Did you mean 1.0e-5?", ["Use 1.0e-5"],
         "training: {learning_rate: 1.0e-5, beta: 0.1}\n"),
        ("training:\n  beta:0.02\n", "training.beta", "there is no space after the colon.",
         ["Write it as “beta: 0.02”"], "training:\n  beta: 0.02\n"),
        ("training:\n  beta = 0.02\n", "training.beta", EQUALS,
         ["Write it as “beta: 0.02”"], "training:\n  beta: 0.02\n"),
        ("training: {max_steps: 1,000}\n", "training.max_steps",
         "the comma in 1,000 begins another setting. This should be a whole number. Did you mean 1000?", ["Use 1000"],
         "training: {max_steps: 1000}\n"),
        ("training: {\u00a0max_steps: 5}\n", "training.max_steps", "a special space stands before this name, such as a "
         "non-breaking one: it is not indentation in YAML.", ["Write ordinary spaces"], "training: { max_steps: 5}\n"),
        ("stages:\n-name: b\n", "name", "there is no space after the dash.", ["Write it as “- name: …”"],
         "stages:\n- name: b\n"),
        ("training:\n  beta：0.02\n", "training.beta", WIDE, [LABEL], "training:\n  beta: 0.02\n"),
        ("training: {beta： 0.02, max_steps: 5}\n", "training.beta", WIDE, [LABEL],
         "training: {beta: 0.02, max_steps: 5}\n"),
        ("stages:\n- name：b\n", "stages.0.name", WIDE, [LABEL], "stages:\n- name: b\n"),
    ],
)  # fmt: skip
def test_what_is_yaml_and_not_meant_so_is_said(
    slip: str, field: str, words: str, labels: list[str], right: str
) -> None:
    first = view_of(HEAD + slip)["unreadable"]["problems"][0]
    assert (first["field"], first["message"]) == (field, words)
    assert [fix["label"] for fix in first["fixes"]] == labels
    after = view_of(HEAD + slip, first["fixes"][0])
    assert after["text"] == HEAD + right and "unreadable" not in after


SETTINGS = "  max_steps: 5\n  beta: 0.1\n  top_p: 0.9\n"


@pytest.mark.parametrize(
    ("slip", "line", "words", "label", "right"),
    [
        (f"training:\n  seed: 1\nlearning_rate: 1.0e-4\n{SETTINGS}", 5, INDENTATION, "Begin the line at column 3",
         f"training:\n  seed: 1\n  learning_rate: 1.0e-4\n{SETTINGS}"),
        (f"training:\nlearning_rate: 1.0e-4\n{SETTINGS}", 4, INDENTATION, "Begin the line at column 3",
         f"training:\n  learning_rate: 1.0e-4\n{SETTINGS}"),
        (f"training:\n  seed: 1\nlearning_rate: 1.0e-4\noptim: adamw_torch\n{SETTINGS}", 5, INDENTATION,
         "Begin the 2 lines at column 3",
         f"training:\n  seed: 1\n  learning_rate: 1.0e-4\n  optim: adamw_torch\n{SETTINGS}"),
        (f"training:\n      learning_rate: 1.0e-4\n{SETTINGS}", 4, INDENTATION, "Begin the line at column 3",
         f"training:\n  learning_rate: 1.0e-4\n{SETTINGS}"),
        (f"training:\n  seed: 1\n  temperature 1.0\n{SETTINGS}", 5, NO_COLON, "Write it as “temperature: 1.0”",
         f"training:\n  seed: 1\n  temperature: 1.0\n{SETTINGS}"),
        (f"training:\n  temperature 1.0\n{SETTINGS}", 4, NO_COLON, "Write it as “temperature: 1.0”",
         f"training:\n  temperature: 1.0\n{SETTINGS}"),
        ("training:\n  seed: 1\n  temperature 1.0\n", 5, NO_COLON, "Write it as “temperature: 1.0”",
         "training:\n  seed: 1\n  temperature: 1.0\n"),
        (f"training:\n  seed: 1\n  temperature\n{SETTINGS}", 5, NO_COLON, "Remove “temperature”",
         f"training:\n  seed: 1\n\n{SETTINGS}"),
        ("stages:\n- think\n  training: {beta: 0.1}\n- name: b\n  training: {beta: 0.2}\n", 4, UNNAMED,
         "Write it as “- name: think”",
         "stages:\n- name: think\n  training: {beta: 0.1}\n- name: b\n  training: {beta: 0.2}\n"),
        *((f"stages:\n- {value} # mine\n  training: {{beta: 0.1}}\n- training: {{beta: 0.2}}\n", 4, UNNAMED,
           f"Remove “{value}”", "stages:\n- # mine\n  training: {beta: 0.1}\n- training: {beta: 0.2}\n")
          for value in ("1.000", "true", "[]", "1e400")),
    ],
)  # fmt: skip
def test_the_one_line_that_is_wrong_is_blamed_and_not_those_below_it(
    slip: str, line: int, words: str, label: str, right: str
) -> None:
    said = view_of(HEAD + slip)["unreadable"]["problems"]
    [problem] = [one for one in said if one["level"] == "blocking" and not one["field"]]
    assert problem["line"] == line and words in problem["message"]
    assert [fix["label"] for fix in problem["fixes"]] == [label]
    after = view_of(HEAD + slip, problem["fixes"][0])
    assert after["text"] == HEAD + right and "unreadable" not in after


BELOW = "training:\n  max_steps: 5\n  learning_rate: 1.0e-5\n  beta: 0.1\n"


@pytest.mark.parametrize(
    ("slip", "line", "words", "label"),
    [
        *[
            (BELOW.replace("  learn", f"{odd}learn"), 5, ONE, "Write ordinary spaces")
            for odd in ("\u00a0\u00a0", "\u00a0 ", " \u00a0", "\u2007\u2007", "\u202f\u202f", "\u3000", "\u200b  ",
                        "\ufeff  ")
        ],
        (BELOW.replace("  max", "\u00a0\u00a0max"), 4, ONE, "Write ordinary spaces"),
        (BELOW.replace("  ", "\u00a0\u00a0"), 4, SEVERAL.format("lines 4, 5 and 6"),
         "Write ordinary spaces in 3 lines"),
        (BELOW.replace("  beta", "\u00a0 beta").replace("  max", "\u00a0 max"), 4, SEVERAL.format("lines 4 and 6"),
         "Write ordinary spaces in 2 lines"),
    ],
)  # fmt: skip
def test_special_spaces_before_a_line_are_one_slip_and_one_button_writes_ordinary_ones(
    slip: str, line: int, words: str, label: str
) -> None:
    texts = "data:\n  system_prompt: |\n    \u00a0one: of mine\n  limit: 9  #\u00a0\u00a0so: it is\n"
    for start, newline in (("", "\n"), ("\ufeff", "\r\n")):
        text = f"{start}{HEAD}{slip}{texts}".replace("\n", newline)
        [problem] = [one for one in view_of(text)["unreadable"]["problems"] if one["level"] == "blocking"]
        assert (problem["field"], problem["line"], problem["message"]) == ("", line, f"This is not YAML: {words}")
        assert [fix["label"] for fix in problem["fixes"]] == [label]
        after = view_of(text, problem["fixes"][0])
        assert after["text"] == f"{start}{HEAD}{BELOW}{texts}".replace("\n", newline) and "unreadable" not in after


REWARDS = "rewards:\n  - name: format\n    weight: 0.5\n  - name: correctness\n    weight: 1.0\n"


@pytest.mark.parametrize(
    ("slip", "line", "words", "label", "right"),
    [
        (REWARDS.replace("- name: c", "  name: c"), 5, NO_DASH, "Write it as “- name: correctness”", REWARDS),
        (REWARDS.replace("  - name: c", "  name: c").replace("    weight: 1", "  weight: 1"), 5, NO_DASH,
         "Write it as “- name: correctness”", REWARDS),
        (REWARDS.replace("- name: f", "name: f").replace("    weight: 0", "  weight: 0"), 3, NO_DASH,
         "Write it as “- name: format”", REWARDS),
        (REWARDS.replace("- name: f", "  name: f"), 3, NO_DASH, "Write it as “- name: format”", REWARDS),
        (REWARDS.replace("- name", "name").replace("    w", "  w"), 3, "each entry begins with a dash",
         "Write the dashes", REWARDS),
        ("rewards:\n- name: format\ncorrectness\n", 4, NO_DASH, "Write it as “- name: correctness”",
         "rewards:\n- name: format\n- name: correctness\n"),
    ],
)  # fmt: skip
def test_an_entry_without_its_dash_gets_it_and_loses_nothing(
    slip: str, line: int, words: str, label: str, right: str
) -> None:
    for newline in ("\n", "\r\n"):
        text = f"name: a\n{slip}training:\n  beta: 0.1\n".replace("\n", newline)
        [problem] = [one for one in view_of(text)["unreadable"]["problems"] if one["level"] == "blocking"]
        assert problem["line"] == line and words in problem["message"]
        assert [fix["label"] for fix in problem["fixes"]] == [label]
        after = view_of(text, problem["fixes"][0])
        assert after["text"] == f"name: a\n{right}training:\n  beta: 0.1\n".replace("\n", newline)
        assert "unreadable" not in after


def test_what_lies_too_deep_is_not_looked_into_and_a_long_name_is_said_in_words() -> None:
    deep = view_of(f"{HEAD}extra: {'[' * 40}`\n")["unreadable"]  # the parser would stop at the “`” after all of them
    assert (deep["line"], deep["message"]) == (3, "Nested more than 32 levels deep.")
    assert LONG_NAME in view_of(f"{HEAD}{'k' * 3000}: 5\n")["unreadable"]["message"]
    assert ABOVE in view_of(f"{HEAD}'a\n b': 5\n")["unreadable"]["message"]


def test_a_part_of_the_spec_is_not_moved_into_another() -> None:
    text = "rewards: [{name: format}]\ntraining:\n  beta: 0.1\nname: a\n  max_steps: 5\n"
    assert view_of(text)["unreadable"]["problems"][0]["line"] == 5


def test_slips_hide_neither_each_other_nor_the_rest() -> None:
    text = (
        "name: a\nmodel:\n  dtyp: float32\nrewards:\n- name: fromat\ntraining:\n  max_steps:5\n  loss_type: GRPO\n"
        "\tbeta: 0.1\n  learning_rate: fast\ndata:\n  system_prompt: 'It's on'\n"
    )
    said = view_of(text)["unreadable"]["problems"]
    blocking = {(one["field"], one["line"]) for one in said if one["level"] == "blocking"}
    assert blocking >= {
        ("", 7), ("", 9), ("", 12), ("model.dtyp", 3), ("rewards.0.name", 5), ("training.loss_type", 8),
        ("training.learning_rate", 10),
    }  # fmt: skip
    for _ in range(3):
        text = view_of(text, view_of(text)["unreadable"]["problems"][0]["fixes"][0])["text"]
    assert "unreadable" not in view_of(text), text


def test_of_a_line_that_cannot_be_read_nothing_is_made_up() -> None:
    said = view_of("name: a\nrewards: ]]\ntraining: {max_step: 5}\n")["unreadable"]["problems"]
    assert [(one["field"], one["line"]) for one in said if one["level"] == "blocking"] == [
        ("", 2), ("training.max_step", 3),
    ]  # fmt: skip


def test_rewards_that_are_not_there_are_not_written_with_all_that_stands_around_them() -> None:
    text = "name: x\ntraining: {max_completion_length: 48}\n"
    (found,) = [one for one in view_of(text)["problems"] if one["field"] == "rewards"]
    assert found["message"] == "is needed: at least one function that scores completions."
    assert [fix["label"] for fix in found["fixes"]] == ["Use “format”"]


def test_an_alias_whose_text_would_be_too_long_is_no_text_in_quotes() -> None:
    levels = "".join(
        f"{one}: &{one} [{', '.join([f'*{inner}'] * 9)}]\n" for inner, one in zip("abcdef", "bcdefg", strict=True)
    )
    text = f"{HEAD}a: &a [{', '.join(['lol'] * 9)}]\n{levels}"
    found = view_of(text)["unreadable"]["problems"]
    first, *others = [one for one in found if one["message"] == ALIAS]
    assert [fix["label"] for fix in first["fixes"]] == ["Write what *a stands for"] and first["line"] == 4
    assert [one["fixes"] for one in others] == [[]] * 5


@pytest.mark.parametrize(
    ("row", "labels"),
    [("- *b", ["Write what *b stands for"]), ("- {name: *b}", ["Write what *b stands for"]), ("- name: *c",
      ["Put it in quotes"])],
)  # fmt: skip
def test_each_of_several_aliases_in_a_list_has_the_same_offer(row: str, labels: list[str]) -> None:
    text = f"name: a\nbase: &b format\nrewards:\n{(row + chr(10)) * 6}"
    found = view_of(text)["unreadable"]["problems"]
    assert [[fix["label"] for fix in one["fixes"]] for one in found[:6]] == [labels] * 6


MIXED = (
    "name: a\nrewards:\n- name: format\n  weight = 1.0\ndata:\n  system_prompt: Think: then answer\n"
    "training # mine\n  max_steps: 5\n\n  beta: 0.1\n"
)


@pytest.mark.parametrize(
    ("text", "lines", "parts"),
    [
        ("name: a\nrewards:\n- name: format\ntraining\n  max_steps: 5\n  beta: 0.1\n", [4], ["training"]),
        ("name: a\nrewards\n- name: format\nmodel\n  id: starter\n", [2, 4], ["rewards", "model"]),
        ("training\n  # few\n  max_steps = 5\nname: a\nrewards: [name: format]\n", [1], ["training"]),
        (f"{HEAD}stages:\n- name: one\n  training\n    beta: 0.1\n- training\n    beta: 0.2\n", [5, 7],
         ["training", "training"]),
        (MIXED, [7], ["training"]),
    ],
)  # fmt: skip
def test_a_part_whose_colon_is_forgotten_gets_it_and_keeps_what_stands_below(
    text: str, lines: list[int], parts: list[str]
) -> None:
    said = view_of(text)["unreadable"]["problems"]
    found = [one for one in said if one["fixes"] and "Write it as" in one["fixes"][0]["label"] and NO_COLON in
             one["message"]]  # fmt: skip
    assert [one["line"] for one in found] == lines
    assert [[fix["label"] for fix in one["fixes"]] for one in found] == [[f"Write it as “{part}:”"] for part in parts]
    assert not any("Remove" in fix["label"] for one in said for fix in one["fixes"])
    for one in reversed([one for one in said if one["fixes"]]):
        text = view_of(text, one["fixes"][0])["text"]
    assert "unreadable" not in view_of(text), text
    assert ("training: # mine\n" in text) == ("# mine" in text)


@pytest.mark.parametrize(
    ("listed", "line", "label", "right"),
    [
        ("– name: format\n", 3, "Write it as “- name: format”", "- name: format\n"),
        ("  –name: format\n", 3, "Write it as “- name: format”", "  - name: format\n"),
        ("•\tname: format\n", 3, "Write it as “- name: format”", "- name: format\n"),
        ("— name: format\n— name: correctness\n", 3, "Write “-” in 2 lines", "- name: format\n- name: correctness\n"),
        ("  • name: format\n    weight: 1.0\n  • name: correctness\n    weight: 1.0\n", 3, "Write “-” in 2 lines",
         "  - name: format\n    weight: 1.0\n  - name: correctness\n    weight: 1.0\n"),
        ("- name: format\n– name: correctness\n", 4, "Write it as “- name: correctness”",
         "- name: format\n- name: correctness\n"),
        ("  – format\n  – correctness\n", 3, "Write “-” in 2 lines", "  - format\n  - correctness\n"),
    ],
)  # fmt: skip
def test_a_word_processors_dash_is_named_and_written_as_one(listed: str, line: int, label: str, right: str) -> None:
    rest = "data:\n  system_prompt: |\n    – name: mine\n  prompt_template: 'a\n\n    rewards:\n\n    – name: b'\n"
    text = f"name: a\nrewards:\n{listed}{rest}"
    problem, *others = view_of(text)["unreadable"]["problems"]
    assert problem["line"] == line and "in YAML: an entry begins with “-”" in problem["message"]
    assert [fix["label"] for fix in problem["fixes"]] == [label] and not any(one["fixes"] for one in others)
    after = view_of(text, problem["fixes"][0])
    assert after["text"] == f"name: a\nrewards:\n{right}{rest}" and "unreadable" not in after


def test_what_a_saved_spec_says_in_its_texts_is_no_list_with_a_wrong_dash() -> None:
    for said in ("Rules:\n\n  – be short", "– be short", "a\nrewards:\n– name: format", "• yes\n• no"):
        assert "unreadable" not in view_of(yaml_text.dump({"name": "a", "data": {"system_prompt": said}}))
    assert "unreadable" not in view_of(f"{HEAD}data:\n  system_prompt:\n    – be short\n    – be kind\n")


def test_a_word_processors_quotes_around_a_name_are_said_and_go() -> None:
    text = "name: “t12”\nrewards:\n- name: format\nmodel:\n  id: “starter”\n"
    found = {one["field"]: one for one in view_of(text)["problems"]}
    assert [found[field]["message"] for field in ("name", "model.id")] == [QUOTES_ARE_LETTERS] * 2
    assert found["name"]["level"] == "warning" and found["model.id"]["level"] == "blocking"
    for field in ("name", "model.id"):
        text = view_of(text, found[field]["fixes"][0])["text"]
    assert text == "name: t12\nrewards:\n- name: format\nmodel:\n  id: starter\n"
    inner = view_of("name: the “best” run\nrewards:\n- name: format\n")["problems"]
    assert QUOTES_ARE_LETTERS not in [one["message"] for one in inner]


CHAT = "name: a\nrewards:\n- name: format\ndata:\n  prompt_template: |\n    ```\n    {question}\n    ```\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Here is the config:\n\n```yaml\n", "```\n\nHope that helps!\n"),
        ("Here is the config:\n```\n", ""),
        ("", "```\nNote: it trains fast.\n"),
        ("```bash\npip install trl\n```\nand then\n~~~yaml\n", "~~~\n- beta: how far it may go\n```\nx: 1\n```\n"),
    ],
)
def test_what_a_chat_says_around_a_spec_goes_with_its_fences_by_one_click(before: str, after: str) -> None:
    [problem] = view_of(before + CHAT + after)["unreadable"]["problems"]
    assert problem["message"] == f"This is not YAML: {AROUND}"
    assert [fix["label"] for fix in problem["fixes"]] == [KEEP]
    assert view_of(before + CHAT + after, problem["fixes"][0])["text"].strip() == CHAT.strip()


def test_a_chat_around_a_spec_hides_nothing_of_it_and_parts_around_it_are_kept() -> None:
    text = f"Here:\n```yaml\n{HEAD}training:\n  max_steps:5\n  beta: fast\n```\nBye\n"
    said = view_of(text)["unreadable"]["problems"]
    assert [(one["line"], one["field"]) for one in said] == [(1, ""), (6, ""), (7, "training.beta")]
    said = view_of("name: a\n```yaml\nrewards: [{name: format}]\n```\n")["unreadable"]["problems"]
    assert [[fix["label"] for fix in one["fixes"]] for one in said] == [["Remove the line"]] * 2


def test_a_number_that_is_written_otherwise_has_its_button_before_the_text_can_be_read() -> None:
    text = (
        f"{HEAD}training:\n  beta: ０．０２ # mine\n  learning_rate: 0,0001\n  max_steps:5\n"
        "data: {limit: '1 000', holdout: 8.0}\nlaunch: {processes: 1\n"
    )
    found = {one["field"]: one for one in view_of(text)["unreadable"]["problems"] if one["field"]}
    labels = {"training.beta": "Use 0.02", "training.learning_rate": "Use 0.0001", "data.limit": "Use 1000",
              "data.holdout": "Use 8"}  # fmt: skip
    assert {field: found[field]["fixes"][0]["label"] for field in labels} == labels
    for field in reversed(labels):
        text = view_of(text, found[field]["fixes"][0])["text"]
    assert text == (
        f"{HEAD}training:\n  beta: 0.02 # mine\n  learning_rate: 0.0001\n  max_steps:5\n"
        "data: {limit: 1000, holdout: 8}\nlaunch: {processes: 1\n"
    )


def test_of_a_line_that_has_a_slip_itself_no_number_is_written() -> None:
    found = view_of(f"{HEAD}training:\n  beta:0,5\n  max_steps: 1\n")["unreadable"]["problems"]
    assert [fix["label"] for one in found for fix in one["fixes"]] == ["Write it as “beta: 0,5”"]


def test_a_part_without_its_colon_before_braces_gets_it_also_where_a_comma_is_missing() -> None:
    for braces in ("{r: 8, lora_alpha: 16}", "{r: 8 lora_alpha: 16}"):
        text = f"{HEAD}lora {braces}\ntraining:\n  beta: 0.1\n"
        [problem] = view_of(text)["unreadable"]["problems"]
        assert problem["line"] == 3 and len(problem["fixes"]) == 1
        after = view_of(text, problem["fixes"][0])["text"]
        assert after == f"{HEAD}lora: {{r: 8, lora_alpha: 16}}\ntraining:\n  beta: 0.1\n"
