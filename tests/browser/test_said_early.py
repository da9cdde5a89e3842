"""What used to end a run late, said on New run before it is launched, and mended there by one click."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from playwright.sync_api import Locator, Page, expect

from groupwise.storage.home import paths
from groupwise.storage.library.rewards import library
from tests.browser.conftest import picture
from tests.browser.new_run_page import follows, write_yaml, yaml_of

SPEC = "name: early\ndata: {source: 'task:arithmetic'}\nrewards: [{name: format}]\ntraining: {}\n"


def verdict(page: Page, words: str) -> Locator:
    return page.locator(".verdict").filter(has_text=words)


def write_data(name: str, rows: list[dict[str, object]]) -> str:
    (paths.data_folder() / name).write_text("\n".join(map(json.dumps, rows)))
    return SPEC.replace("task:arithmetic", f"file:{name}")


CASES = {
    "a reward that refuses its parameters": (
        SPEC.replace("{name: format}", "{name: format}, {name: length, parameters: {low: 600}}"),
        "“length” would fail on every completion: low must be 0 or more and less than high, not 600 beside 512.",
    ),
    "a target KL without a reference model": (
        SPEC + "kl: {target: 0.05}\n",
        "Needs a beta above 0 to begin with: at 0 there is no reference model to measure the KL by.",
    ),
    "a target KL with a beta beyond its bounds": (
        SPEC.replace("training: {}", "training: {beta: 2.0}") + "kl: {target: 0.05}\n",
        "Should begin within the bounds of its changes, 0.001 to 1.",
    ),
    "a tracker that is not installed": (
        SPEC.replace("training: {}", "training: {report_to: mlflow}"),
        "Needs mlflow, which is not installed here: pip install 'groupwise[mlflow]'",
    ),
    "a tracker that there is none of": (
        SPEC.replace("training: {}", "training: {report_to: wandbb}"),
        "“wandbb” is not a tracker that can be used here. There are wandb, trackio, tensorboard, mlflow. "
        "Did you mean “wandb”?",
    ),
    "false in quotes": (
        SPEC.replace("training: {}", "training: {scale_rewards: 'false'}"),
        "Should be one of batch, group, none.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_it_blocks_the_launch_and_one_click_mends_it(new_run: Page, case: str) -> None:
    text, sentence = CASES[case]
    write_yaml(new_run, text)
    said = verdict(new_run, sentence)
    expect(said).to_have_class(re.compile("blocking"))
    said.locator(".fix").first.click()
    expect(said).to_have_count(0)
    if case == "false in quotes":
        follows(new_run, "scale_rewards: none")  # and not the default, which means the opposite


@pytest.mark.parametrize("word", ["true", "false"])
def test_what_trl_takes_for_a_word_is_taken_and_stays_as_it_is(new_run: Page, word: str) -> None:
    text = SPEC.replace("training: {}", f"training: {{scale_rewards: {word}, learning_rate: fast}}")
    write_yaml(new_run, text)
    expect(verdict(new_run, "should be a number")).to_be_visible()  # so it was looked at
    expect(verdict(new_run, "scale_rewards")).to_have_count(0)
    assert yaml_of(new_run) == text


def test_rows_that_ask_nothing_are_counted_or_refused(new_run: Page) -> None:
    some = write_data("some.jsonl", [{"question": q, "answer": "1"} for q in (None, "", "1+0?", "2-1?", "0+1?")])
    write_yaml(new_run, some)
    said = verdict(new_run, "2 of 5 rows have no prompt and are left out.")
    expect(said).to_have_class(re.compile("warning"))
    write_yaml(new_run, write_data("none.jsonl", [{"question": None, "answer": "1"}] * 3))
    refused = verdict(new_run, "None of the rows has a prompt: “question” is empty.")
    expect(refused).to_have_class(re.compile("blocking"))


def test_what_no_prompt_can_say_is_refused(new_run: Page) -> None:
    write_yaml(new_run, write_data("odd.jsonl", [{"question": {"text": "1+1?"}, "answer": "2"}] * 3))
    words = "“question” holds a mapping, which cannot be a prompt. Choose a column with text"
    expect(verdict(new_run, words).first).to_have_class(re.compile("blocking"))


def test_a_column_that_training_cannot_hold_is_refused(new_run: Page) -> None:
    maps = pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))
    path: Path = paths.data_folder() / "maps.parquet"
    pa.parquet.write_table(pa.table({"question": ["1+1?"], "answer": ["2"], "odd": maps}), path)
    write_yaml(new_run, SPEC.replace("task:arithmetic", "file:maps.parquet"))
    words = "The column “odd” of maps.parquet holds maps of keys to values, which cannot be trained on"
    expect(verdict(new_run, words).first).to_have_class(re.compile("blocking"))


def test_a_column_that_a_function_would_take_for_its_parameter_is_a_warning(new_run: Page) -> None:
    spec = write_data("mode.jsonl", [{"question": "1+1?", "answer": "2", "mode": "easy"}] * 3)
    write_yaml(new_run, spec.replace("{name: format}", "{name: length}"))
    said = verdict(new_run, "This data has a column “mode”, which “length” would take for its parameter “mode”.")
    expect(said).to_have_class(re.compile("warning"))
    said.locator(".fix").first.click()
    expect(said).to_have_count(0)
    follows(new_run, "mode: shorter")


def test_a_target_kl_is_set_in_the_form(new_run: Page) -> None:
    new_run.get_by_text("Adaptive KL weight").click()
    new_run.get_by_label("KL weight", exact=True).fill("0.04")
    box = new_run.get_by_label("Target KL", exact=True)
    box.fill("0.05")
    box.press("Tab")
    follows(new_run, "target: 0.05")
    expect(new_run.locator(".verdict.blocking")).to_have_count(0)
    box.scroll_into_view_if_needed()
    picture(new_run, "new-target-kl")
    box.fill("0")
    box.press("Tab")
    expect(new_run.locator(".field", has=box).locator(".said")).to_contain_text("hould be above 0")


def test_a_function_of_ones_own_that_refuses_its_parameter_is_told_of_and_set_right(new_run: Page) -> None:
    code = "def refuser(completions, *, threshold: float = 0.5, **kwargs):\n    if threshold > 1:\n"
    code += "        raise ValueError('threshold must be at most 1')\n    return [1.0 for _ in completions]\n"
    library.save_reward("refuser", code)
    spec = SPEC.replace("{name: format}", "{name: format}, {name: refuser, parameters: {threshold: 5}}")
    write_yaml(new_run, spec)
    said = verdict(new_run, "“refuser” failed when it was called with 4 sample completions")
    expect(said).to_contain_text("threshold must be at most 1, line 3.")
    expect(said).to_have_class(re.compile("warning"))
    opens = said.get_by_role("link", name="Open refuser in Rewards")
    expect(opens).to_have_attribute("href", "/rewards?name=refuser&line=3")
    said.get_by_role("button", name="Use the default of threshold").click()
    expect(said).to_have_count(0)
