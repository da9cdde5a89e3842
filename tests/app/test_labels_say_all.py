"""A button says all that it does: the value that it writes, and what else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import edits, view, yaml_edit
from groupwise.storage.spec.words.problem import BLOCKING
from tests.app.test_left_out import OFFER
from tests.app.test_said_at_once import HEAD

FIELDS = (OFFER.training or {}) | {
    "beta": {"types": ["float"], "default": 0.0}, "top_p": {"types": ["float"], "default": 1.0},
    "eval_on_start": {"types": ["bool"], "default": False},
    "eval_strategy": {"types": ["str"], "default": "no", "choices": ["no", "steps", "epoch"]},
    "eval_steps": {"types": ["float", "none"], "default": None},
}  # fmt: skip
LORA = {
    "r": {"types": ["int"], "default": 8}, "lora_alpha": {"types": ["int"], "default": 8},
    "lora_dropout": {"types": ["float"], "default": 0.0}, "target_modules": {"types": ["str", "list"], "default": None},
}  # fmt: skip
OFFERED = replace(OFFER, training=FIELDS, lora=LORA)


def cards_of(text: str, field: str) -> list[dict[str, Any]]:
    return [one for one in view.describe_text(text, OFFERED)["problems"] if one["field"] == field]


def labels(card: dict[str, Any]) -> list[str]:
    return [fix["label"] for fix in card["fixes"]]


def test_a_default_is_named_and_of_beta_one_is_offered_that_is_not_advised_against(own_home: Path) -> None:
    text = HEAD + "training: {beta: -0.1, top_p: 0}\n"
    [card] = cards_of(text, "training.beta")
    assert labels(card) == ["Use 0.02", "Use the default (0.0)"]
    assert cards_of(edits.apply(text, edits.of_fix(card["fixes"][0])), "training.beta") == []
    assert labels(cards_of(text, "training.top_p")[0]) == ["Use the default (1.0)"]


@pytest.mark.parametrize("given", ["", ", eval_on_start: false"])
def test_a_button_that_evaluates_says_also_when_it_does_first(given: str, own_home: Path) -> None:
    text = HEAD + f"data: {{holdout: 32}}\ntraining: {{max_steps: 60, eval_steps: 10{given}}}\n"
    [fix] = cards_of(text, "training.eval_strategy")[0]["fixes"]
    after = yaml_edit.load(edits.apply(text, edits.of_fix(fix))) or {}
    assert ("at the start and every 10 steps" in fix["label"]) == (after["training"].get("eval_on_start") is True)


@pytest.mark.parametrize(
    ("setting", "field", "words", "label"),
    [
        ("target: q_proj", "lora.target", "PEFT's LoraConfig has no such field. Did you mean “target_modules”?",
         "Rename it to target_modules"),
        ("r: -4", "lora.r", "should be at least 1.", "Use the default (8)"),
        ("lora_alpha: 0", "lora.lora_alpha", "should be above 0.", "Use the default (8)"),
        ("lora_dropout: 5", "lora.lora_dropout", "should be at least 0 and below 1; 5 % is 0.05.", "Use 0.05"),
    ],
)  # fmt: skip
def test_what_peft_would_refuse_is_said_in_our_words_with_what_is_meant(
    setting: str, field: str, words: str, label: str, own_home: Path
) -> None:
    [card] = cards_of(HEAD + f"lora: {{{setting}}}\n", field)
    assert (card["level"], card["message"], labels(card)[0]) == (BLOCKING, words, label)
