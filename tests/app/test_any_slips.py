"""Slips at random places of a spec, up to three: all are said at once, and no button takes away what is right."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import edits, form, launch, view, yaml_edit
from groupwise.app.pages.new.left_out import is_at_or_inside
from groupwise.storage.spec.words.problem import BLOCKING, Cut, Fix, Problem, SpecError, without_then
from groupwise.storage.spec.yaml import yaml_text
from groupwise.storage.spec.yaml.repairs import BRACKET
from groupwise.storage.spec.yaml.yaml_text import INDENTATION
from tests.support import offer

REWARDS = {**offer.REWARDS, "length": {"help": "", "parameters": [
    {"name": name, "types": ["int"], "default": 64, "help": "", "choices": None} for name in ("low", "high")
]}}  # fmt: skip
OFFER = offer.Offer(offer.TRAINING | {"max_completion_length": {"types": ["int"], "default": 256}}, offer.LORA, REWARDS,
                    offer.TASKS)  # fmt: skip
RIGHT = """\
name: mine
model:
  id: starter
  dtype: float32
data:
  source: task:arithmetic
  limit: 400
  holdout: 16
  system_prompt: Be short.
  filter:
  - answer > 3
  - question matches "a"
  examples:
  - prompt: one
    completion: two
  - prompt: three
    completion: four
  columns:
  - question
lora:
  r: 8
  lora_alpha: 16
rewards:
- name: format
  weight: 0.5
- name: correctness
  weight: 2.0
- name: length
  weight: 0.1
  parameters:
    low: 3
    high: 40
training:
  num_generations: 8
  per_device_train_batch_size: 64
  max_completion_length: 48
  learning_rate: 1.0e-4
  beta: 0.02
  max_steps: 60
  loss_type: dapo
  bf16: false
launch:
  processes: 1
  reward_failures: 3
"""
STAGES = """\
stages:
- name: first
  training:
    max_steps: 20
    beta: 0.01
- name: second
  rewards:
  - name: correctness
    weight: 3.0
  training:
    max_steps: 30
"""
VALUES = [
    "", "null", "[1, [2]]", "{a: {b: 1}}", "[]", "true", "'true'", "yes", "-5", "1e400", ".nan", "2０", "1,5", "1.000",
    "1 000", "'0.5'", "2026-01-01", "0x1F", "1_000", "many words", "x" * 300, "é\u200b", "'#'", '"a\\nb"', "&a 5",
    "*nope", "% 5", "10%", "5 steps", "`x`", "!!str 5", "-", "{", "[", "--5", "@x", "½", "1e-5,", "a: b", "1.e5",
]  # fmt: skip
ENTRIES = [
    "5", "null", "[a]", "{odd: 1}", "some words", "true", "{name: correctness, weight: x}", "- 5", "{step: 5}",
    "{prompt: a}", "[[1]]", "{name: [a]}", "{weight: 1}", "name: nosuch", "{}", "format", "{NAME: format}",
]  # fmt: skip
SETTINGS = [
    "max_prompt_length: 512", "warmup_ratio: 0.1", "evaluation_strategy: steps", "vllm_device: auto", "lr: 1e-4",
    "max_new_tokens: 50", "output_dir: x", "trust_remote_code: true", "5: 6", "true: 1", "null: 1", "limit: 5", "r: 8",
    "temprature: 0.5", "learning-rate: 1e-5", "Beta: 0.1", "foo", "x y: 5", "rewards: [format]", "max_steps = 5",
]  # fmt: skip
NAMES = ["{}s", "x_{}", "{} ", "\u200b{}", "'{}s'"]
# What is counted with several settings, and may be another once one of them is.
COUNTED = re.compile(
    r"data\.holdout|data\.limit|(stages\.\d+\.)?training\.(num_generations\w*|per_device\w*|generation_batch_size|"
    r"steps_per_generation|gradient_accumulation_steps)"
)
# Slips behind which what a line says is a guess: what it means is told once it can be read.
GUESSED = (BRACKET, INDENTATION)
MOST_CLICKS = 25
SLIPS_AT_ONCE = [1, 2, 2, 3]
LINE = re.compile(r"( *)(- )?(\w+):(?: (.+))?")


def with_slips(seed: int) -> tuple[str, list[str]]:
    """A spec with slips, and the same with each of them alone; a comment stands behind every line."""
    chance = random.Random(seed)
    rows = (RIGHT + STAGES * (chance.random() < 0.3)).splitlines()
    places: list[int] = []
    for _ in range(chance.choice(SLIPS_AT_ONCE)):
        places += [chance.choice([n for n in range(1, len(rows)) if all(abs(n - other) > 3 for other in places)])]
    written = {place: slip(rows[place], chance) for place in places}

    def write(those: list[int]) -> str:
        lines = [line for n, row in enumerate(rows) for line in (written[n] if n in those else [row])]
        return "".join(f"{line} # c{n}.\n" for n, line in enumerate(lines))

    return write(places), [write([place]) for place in places]


def slip(row: str, chance: random.Random) -> list[str]:
    """A row as it is written by mistake: another value or name, or one more row."""
    found = LINE.fullmatch(row)
    if found is None or (row.lstrip().startswith("- ") and chance.random() < 0.4):
        entry = row[: row.index("- ") + 2]
        return [entry + chance.choice(ENTRIES), row] if chance.random() < 0.6 else [entry + chance.choice(VALUES)]
    before, dash, name, value = found[1], found[2] or "", found[3], found[4]
    kind = chance.choice(["value", "value", "name", "setting", "twice"])
    if kind == "value" and value:
        return [f"{before}{dash}{name}: {chance.choice(VALUES)}"]
    if kind == "setting" and before and not dash:
        return [before + chance.choice(SETTINGS), row]
    if kind == "twice" and value and not dash:
        return [row, f"{before}{name}: {chance.choice([value, '5', 'other'])}"]
    typed = chance.choice([*(one.format(name) for one in NAMES), name[:-1], name.title(), name.replace("e", "е", 1)])
    return [f"{before}{dash}{typed}:" + (f" {value}" if value else "")]


def look_at(text: str) -> tuple[list[Problem], bool]:
    """Everything that is said of a text, and whether it can be read."""
    try:
        yaml_text.read_yaml(text)
    except SpecError as error:
        return launch.problems_of_unreadable(text, error, OFFER), False
    return launch.check_text(text, OFFER).problems, True


def after_click(text: str, fix: Fix) -> str:
    """The text as the page makes it of a click."""
    sent: list[Any] = [{"fix": json.loads(json.dumps(asdict(fix)))}]
    cut = edits.cut_out(text, sent)
    types = form.types(OFFER) | form.reward_types(yaml_edit.load(cut), OFFER)
    return edits.apply(cut, edits.read_edits(sent, types))


def press_first(text: str, found: list[dict[str, Any]]) -> str | None:
    """The text once the first button of all that the page says is pressed; None where it has none."""
    fix = next((one["fixes"][0] for one in found if one["fixes"]), None)
    return after_click(text, Fix(**{**fix, "cut": fix["cut"] and Cut(**fix["cut"])})) if fix else None


def values_in(value: Any) -> Iterator[str]:
    """Each value of a spec, as it is written."""
    if isinstance(value, (dict, list)) and value:
        for inner in value.values() if isinstance(value, dict) else value:
            yield from values_in(inner)
    else:
        yield repr(value)


def is_near(one: str, other: str) -> bool:
    return "" in (one, other) or is_at_or_inside(one, other) or is_at_or_inside(other, one)


@pytest.mark.parametrize("seed", range(70))
def test_slips_are_said_all_at_once_and_a_fix_of_one_leaves_all_else(seed: int, own_home: Path) -> None:
    text, each_alone = with_slips(seed)
    found, readable = look_at(text)
    places = [problem.field for problem in found]
    for alone in each_alone:
        blocking = [one.field for one in look_at(alone)[0] if one.level == BLOCKING]
        held = [field for field in blocking if not any(is_near(field, place) for place in places)]
        assert held == [], "said only once another is put right"
    for problem in found:
        for fix in problem.fixes:
            check_click(text, found, problem, fix, readable=readable)


def check_click(text: str, found: list[Problem], problem: Problem, fix: Fix, *, readable: bool) -> None:
    """What a click on a button does to a text and what is said of it."""
    after = after_click(text, fix)
    now, still_readable = look_at(after)
    what = f"{problem}: {fix.label}\n{text}\n{after}"
    assert after != text, what
    assert count_like(now, problem) < count_like(found, problem) or "Remove" in fix.label, what
    if not readable:
        return
    assert still_readable, what
    changed = [problem.field, *fix.settings, *fix.removed]
    raw, made = yaml_edit.load(text) or {}, yaml_edit.load(after) or {}
    gone = Counter(values_in(raw)) - Counter(values_in(made))
    own = Counter(one for path in changed for one in values_in(written_at(raw, path)))
    assert not gone - own, what
    said = {one.message for one in found}
    new = [one for one in now if one.level == BLOCKING and one.message not in said]
    if fix.label.startswith("Remove"):  # what was meant by it may be needed
        new = [one for one in new if not one.message.startswith("is needed")]
    new = [one for one in new if not COUNTED.fullmatch(one.field)]
    elsewhere = [one for one in new if not any(is_near(one.field, path) for path in changed)]
    assert elsewhere == [], what
    assert comments_in(text) - comments_in(after) <= comments_of(text, changed), what


def count_like(problems: list[Problem], wanted: Problem) -> int:
    return sum((one.field, one.message) == (wanted.field, wanted.message) for one in problems)


def written_at(raw: Any, path: str) -> Any:
    """The value at a path, by names as they are written."""
    for part in path.split("."):
        inner = raw if isinstance(raw, dict) else dict(enumerate(raw)) if isinstance(raw, list) else {}
        raw = next((value for name, value in inner.items() if str(name) == part), None)
    return raw


def comments_in(text: str) -> set[str]:
    return set(re.findall(r"# (c\d+\.)", text))


def comments_of(text: str, paths: list[str]) -> set[str]:
    """The comments behind what is at these paths."""
    rows, lines = text.splitlines(), yaml_text.read_yaml(text)[1]
    return {one for path, line in lines.items() if any(is_at_or_inside(path, p) for p in paths)
            for one in comments_in(rows[line - 1])}  # fmt: skip


@pytest.mark.parametrize("seed", range(70, 140))
def test_pressing_the_first_button_of_all_that_is_said_brings_nothing_new_to_sight(seed: int, own_home: Path) -> None:
    text = with_slips(seed)[0]
    found = shown_of(text)
    if any(slip in one["message"] for one in found for slip in GUESSED):
        return
    said, words = {one["field"] for one in found}, {at_once(one) for one in found}
    for _ in range(MOST_CLICKS):
        after = press_first(text, found)
        if after is None:
            return
        text = after
        found = shown_of(text)
        later = [one for one in found if at_once(one) not in words]
        assert [one for one in later if not any(is_at_or_inside(each, one["field"]) for each in said)] == [], text


def at_once(one: dict[str, Any]) -> str:
    """A message without the words that it comes later."""
    return without_then(Problem(one["field"], one["message"]))


def shown_of(text: str) -> list[dict[str, Any]]:
    """What the page says that keeps a text from being launched."""
    seen = view.describe_text(text, OFFER, None, {"script", "preflight"})
    listed = seen["problems"] if "problems" in seen else seen["unreadable"]["problems"]
    return [one for one in listed if one["level"] == BLOCKING]
