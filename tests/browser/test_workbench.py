"""The workbench of the Rewards page in a real browser, with a real worker: completions, scores and failures."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from groupwise.app.pages.new.presets import SHIPPED
from groupwise.storage.home import paths
from groupwise.storage.library import presets
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Sandbox
from tests.browser.conftest import OpenPage, bring, no_sideways_scroll, picture
from tests.browser.new_run_page import add_reward, reward
from tests.browser.rewards_page import ENDLESS, SHORT, begin, do, open_emptied, ready, save, source, try_it, write
from tests.support.bad_input import ONE_ROW, Bad, code, codes, line

HALF = '''def generous(completions, **kwargs):
    """Half a point for anything at all."""
    return [0.5 + 0.5 * ("<answer>" in one[0]["content"]) for one in completions]
'''
RAISES = '''def first_tag(completions, **kwargs):
    """1 where the answer is a number."""
    scores = []
    for completion in completions:
        text = completion[0]["content"]
        scores.append(float(text.split("<answer>")[1][0].isdigit()))
    return scores
'''
DIVIDES = "def divides(completions, **kwargs):\n    return [1 / (len(one[0]['content']) % 2) for one in completions]\n"
GOOD = "def hostile(completions, **kwargs):\n    return [1.0] * len(completions)\n"
# Without a function of that name in the text there is nothing to try; the others look on the page like one that is
# tried (tests/worker/test_workbench_bad_input.py tries them all).
NOT_WALKED = {
    "a syntax error", "no such function", "nothing", "a text", "a dict", "too many", "texts", "lists", "too large",
    "an exception", "SystemExit", "a forged reply", "the network, by a library",
}  # fmt: skip


@pytest.fixture
def rewards(open_page: OpenPage, shared_dashboard: str) -> Page:
    return open_emptied(open_page, f"{shared_dashboard}/rewards?name=format")


def test_completions_of_the_model_are_scored_in_groups_and_tried_on_again(rewards: Page) -> None:
    do(rewards, "Add the rewards of “Quickstart”")
    expect(rewards.get_by_label("Weight of correctness")).to_have_value("1")
    results = try_it(rewards)
    expect(rewards.locator(".view-try .go .wait")).to_contain_text("32 completions scored, of starter, as it is before")
    expect(results.locator(".group")).to_have_count(4)
    first = results.locator(".group").first
    alike = [int(times.split()[0]) for times in first.locator("tbody .times").all_inner_texts()]
    assert alike, "the starter writes some words more than once"
    assert first.locator("tbody tr").count() + sum(times - 1 for times in alike) == 8
    expect(results.get_by_label("Groups", exact=True)).to_contain_text("of 4")
    expect(results.locator(".agreement")).to_contain_text("share of the variance")
    before = results.locator("td.text").all_inner_texts()
    rewards.get_by_label("Weight of correctness").fill("3")
    assert try_it(rewards).locator("td.text").all_inner_texts() == before
    expect(rewards.locator(".loopholes")).to_be_visible(timeout=180_000)
    picture(rewards, "rewards-tried")
    assert no_sideways_scroll(rewards)
    rewards.set_viewport_size({"width": 390, "height": 844})
    over = rewards.locator("[data-do=as-set]").evaluate("""button => {
        button.textContent = `Add the rewards of “${"n".repeat(30)}”`;
        return button.getBoundingClientRect().right - button.closest(".panel").getBoundingClientRect().right;
    }""")
    assert over < 0, "of data with a long name"


def test_a_column_that_is_the_answer_is_told_once(rewards: Page) -> None:
    bring(rewards, "pages/rewards/columns.js", "columnsInWords")
    columns = {"prompt": "40 + 17 =", "answer": "57,0", "Antwort": "57,0", "b": 3}
    said = rewards.evaluate("columns => columnsInWords(columns, 60, columns.prompt)", columns)
    assert said == ["answer (Antwort): 57,0", "b: 3"]
    told = """columns => { page.given = { mapped: "Antwort" }; return columnsInWords(columns, 60) }"""
    bring(rewards, "pages/rewards/core.js", "page")
    empty = {"answer": "", "Antwort": "", "note": ""}  # a row without an answer: what else is empty is not the answer
    assert rewards.evaluate(told, empty) == ["answer (Antwort): ", "note: "]


def test_a_function_that_looks_for_tags_of_its_own_is_probed_in_them(rewards: Page) -> None:
    """Seen: of a pasted notebook's function “this tells nothing apart”, as the probes had other tags."""
    pattern = "mine = re.compile(r'<SOLUTION>(.+?)</SOLUTION>')\n\n\ndef solution(completions, answer, **kwargs):"
    found = "[mine.search(one[-1]['content']) for one in completions]"
    right = f"[5.0 if m and m.group(1) == a else -2.0 for m, a in zip({found}, answer)]"
    error = "    if not answer:\n        raise ValueError('<b>none</b>, <wrong>no answers</wrong>')"
    begin(rewards, f"import re\n\n{pattern}\n{error}\n    return {right}\n")
    source(rewards, "Probes")
    results = try_it(rewards)
    expect(results).not_to_contain_text("<wrong>")
    expect(rewards.locator(".loopholes")).to_contain_text("No loophole found")
    expect(results.locator("td.text", has_text="<SOLUTION>").first).to_be_visible()
    source(rewards, "Typed")
    rewards.get_by_label("Completion 1", exact=True).fill("hello")
    try_it(rewards)
    expect(rewards.locator(".loopholes")).to_contain_text("No loophole found", timeout=60_000)


def test_a_loophole_is_named(rewards: Page) -> None:
    begin(rewards, HALF)
    source(rewards, "Probes")
    try_it(rewards)
    expect(rewards.locator(".loopholes")).to_contain_text("An empty answer earns 0.5 from generous")
    picture(rewards, "rewards-loophole")


def test_a_loophole_is_named_whatever_was_tried(rewards: Page) -> None:
    begin(rewards, HALF)
    source(rewards, "Typed")
    rewards.get_by_label("Completion 1", exact=True).fill("<think>1</think><answer>2</answer>")
    do(rewards, "Add a completion")
    rewards.get_by_label("Completion 2", exact=True).fill("nothing of the kind")
    results = try_it(rewards)
    expect(results.locator(".group tbody tr")).to_have_count(2)
    expect(rewards.locator(".loopholes")).to_contain_text("An empty answer earns 0.5", timeout=180_000)


def test_a_try_is_of_what_was_chosen_as_it_began(rewards: Page) -> None:
    """Seen: what the model wrote was called probes that earn no more than they deserve."""
    begin(rewards, HALF)
    do(rewards, "Try")
    source(rewards, "Probes")  # while the model writes
    view = rewards.locator(".view-try")
    expect(view.locator(".go .wait")).to_contain_text("32 completions scored, of starter", timeout=240_000)
    expect(view.locator(".outdated")).to_have_text(
        "These are the scores of the model’s completions. Try again for the probes."
    )
    expect(view.locator(".results")).to_have_class(re.compile(r"\bold\b"))
    expect(view.locator(".loopholes")).to_contain_text("An empty answer earns 0.5", timeout=180_000)  # probes did run
    picture(rewards, "rewards-of-another-source")
    source(rewards, "The model")
    expect(view.locator(".outdated")).to_be_hidden()
    rewards.get_by_label("How many rows").fill("3")
    expect(view.locator(".outdated")).to_contain_text("Try again for those that are chosen now.")
    do(rewards, "Try")
    code = "ace.edit(document.querySelector('.ace'))"
    rewards.evaluate(f"{code}.setValue({code}.getValue().replaceAll('0.5', '0.2'), 1)")
    expect(view.locator(".go .wait")).to_contain_text("24 completions scored", timeout=240_000)
    expect(view.locator(".outdated")).to_contain_text("of the code before your last change")


def test_the_line_that_raises_is_marked(rewards: Page) -> None:
    begin(rewards, RAISES)
    source(rewards, "Probes")
    results = try_it(rewards)
    failure = results.locator(".failure").first
    expect(failure).to_contain_text("IndexError")
    expect(failure).to_contain_text("line 6")
    expect(rewards.locator(".found .blocking")).to_contain_text("line 6")
    expect(rewards.locator(".failed-line")).to_have_count(1)
    expect(results.locator(".group td .warn").first).to_have_text("error")
    picture(rewards, "rewards-error")
    failure.get_by_role("button", name="line 6").click()
    row = rewards.evaluate("ace.edit(document.querySelector('.ace')).getCursorPosition().row")
    assert row == 5
    write(rewards, SHORT)
    expect(rewards.locator(".failed-line")).to_have_count(0)


def test_a_name_that_is_too_long_is_said_before_anything_runs(rewards: Page) -> None:
    """Seen: 40 times that the code defines no such function, after the completions were written."""
    begin(rewards, SHORT.replace("short", "z" * 200))
    expect(rewards.locator(".which")).to_contain_text("zzz")
    said = "The name has 200 characters; 64 is the most."
    expect(rewards.locator(".found li")).to_have_text([f"line 1 {said}"])
    do(rewards, "Try")
    expect(rewards.locator(".view-try .go .wait")).to_have_text(said)
    expect(rewards.locator(".view-try .results")).to_be_empty()
    do(rewards, "Save")
    expect(rewards.locator(".said-saved")).to_have_text(said)
    assert rewards.locator(".functions .scroll").evaluate("one => one.scrollWidth <= one.clientWidth")
    picture(rewards, "rewards-long-name")
    assert no_sideways_scroll(rewards)


def test_a_secret_in_the_code_is_said_at_its_line_before_anything_runs(rewards: Page) -> None:
    begin(rewards, f"KEY = 'sk-proj-{'a1B2' * 9}'\n{SHORT}")
    said = "This line holds a secret. Take it out of the code, and read it there from the environment (os.environ)."
    expect(rewards.locator(".found li")).to_have_text([f"line 1 {said}"])
    do(rewards, "Try")
    expect(rewards.locator(".view-try .go .wait")).to_have_text(f"Line 1: {said}")
    do(rewards, "Save and use in a new run")
    expect(rewards.locator(".said-saved")).to_have_text(f"Fix line 1 first: {said}")


def test_a_long_name_wraps_in_what_is_said_of_a_try(rewards: Page) -> None:
    name = "z" * 64
    begin(rewards, RAISES.replace("first_tag", name))
    source(rewards, "Probes")
    results = try_it(rewards)
    expect(results.locator(".sentences")).to_contain_text(f"{name} gave")
    picture(rewards, "rewards-longest-name")
    for width in (1440, 390):
        rewards.set_viewport_size({"width": width, "height": 900})
        rewards.wait_for_timeout(300)
        wide = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.className)"
        assert results.locator(".sentences, .card").evaluate_all(wide) == [], width
    assert no_sideways_scroll(rewards)


def test_an_endless_loop_is_said_to_have_timed_out_and_the_page_goes_on(rewards: Page) -> None:
    begin(rewards, ENDLESS)
    rewards.get_by_label("Timeout of endless").fill("1")
    source(rewards, "Probes")
    results = try_it(rewards)
    expect(results.locator(".group td .warn").first).to_have_text("timed out")
    write(rewards, SHORT)
    expect(try_it(rewards).locator(".card", has_text="short").first).to_be_visible()


# As TRL's documentation of reward functions writes them: chat and plain text, columns, **kwargs, async, None, logging.
STYLES = {
    "columns and regular expressions": """import re

def reward_func(completions, answer, **kwargs):
    contents = [completion[0]["content"] for completion in completions]
    matches = [re.search(r"<answer>(.*?)</answer>", content) for content in contents]
    found = [match.group(1) if match else "" for match in matches]
    return [1.0 if c == str(gt) else 0.0 for c, gt in zip(found, answer)]
""",
    "ids and kwargs": """def reward_func(completion_ids, **kwargs):
    \"\"\"Reward function that assigns higher scores to longer completions (in terms of token count).\"\"\"
    return [float(len(ids)) for ids in completion_ids]
""",
    "everything by kwargs": """def reward_func(**kwargs):
    return [float(len(completion[0]["content"])) for completion in kwargs["completions"]]
""",
    "the trainer's state": """def reward_func(completions, trainer_state, **kwargs):
    return [0.0 if trainer_state.global_step < 0 else float(len(c)) for c in completions]
""",
    "async": """import asyncio

async def reward_func(prompts, completions, **kwargs):
    await asyncio.sleep(0.01)
    return [float(len(c[0]["content"]) > 2) for c in completions]
""",
    "a module with helpers and imports": """from __future__ import annotations

import math
from dataclasses import dataclass

BEST = 20

@dataclass
class Judge:
    best: int = BEST

    def score(self, text: str) -> float:
        return math.exp(-abs(len(text) - self.best) / self.best)

def text_of(completion: str | list[dict]) -> str:
    return completion if isinstance(completion, str) else completion[-1]["content"]

def reward_func(completions, **kwargs) -> list[float]:
    judge = Judge()
    return [judge.score(text_of(completion)) for completion in completions]
""",
    "None": """def reward_func(prompts, completions, **kwargs):
    return [None if n % 2 else 1.0 for n, _ in enumerate(completions)]
""",
}


@pytest.mark.parametrize("style", STYLES)
def test_what_trl_documents_is_tried_unchanged(rewards: Page, style: str) -> None:
    begin(rewards, STYLES[style])
    expect(rewards.locator(".found .blocking")).to_have_count(0)
    source(rewards, "Probes")
    results = try_it(rewards)
    expect(results.locator(".failure")).to_have_count(0)
    expect(results.locator(".scored .num").first).to_be_visible()
    if style == "None":
        expect(results.locator(".group").first).to_contain_text("no score")


PLAIN = """def reward_func(prompts, completions, ground_truth, **kwargs):
    matches = [completion.strip() == str(gt) for completion, gt in zip(completions, ground_truth)]
    return [1.0 if match and prompt.endswith("?") else 0.0 for match, prompt in zip(matches, prompts)]
"""


def test_what_trl_documents_for_plain_text_is_tried_unchanged(rewards: Page) -> None:
    """Prompts and completions are strings where the data says so, and a column goes by its own name."""
    rows = [{"question": f"{n}+1?", "ground_truth": n + 1} for n in range(8)]
    (paths.data_folder() / "plain.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = "{source: 'file:plain.jsonl', prompt_column: question, answer_column: null}"
    if "plain text" not in {kept.name for kept in presets.own_presets()}:
        presets.save_preset("plain text", "", f"name: plain\ndata: {data}\nrewards: [{{name: format}}]\n", SHIPPED)
    rewards.reload()
    begin(ready(rewards), PLAIN)
    rewards.get_by_label("Data").select_option("plain text")
    source(rewards, "Typed")
    rewards.get_by_label("Completion 1", exact=True).fill(" 1")
    results = try_it(rewards)
    expect(results.locator(".failure")).to_have_count(0)
    expect(results.locator(".scored .num").first).to_have_text("1")
    expect(rewards.locator(".found .blocking")).to_have_count(0)


def test_what_a_function_logs_is_shown(rewards: Page) -> None:
    begin(
        rewards,
        "def logs(completions, log_extra=None, log_metric=None, **kwargs):\n"
        "    texts = [one[0]['content'] for one in completions]\n"
        "    log_extra('first letter', [text[:1] for text in texts])\n"
        "    log_metric('longest', max(map(len, texts)))\n"
        "    print('seen', len(texts))\n"
        "    return [1.0 for _ in texts]\n",
    )
    source(rewards, "Typed")
    rewards.get_by_label("Completion 1", exact=True).fill("zebra")
    results = try_it(rewards)
    expect(results.locator(".metrics")).to_have_text("longest: 5.00")
    expect(results.locator(".extra")).to_have_text("first letter: z")
    results.locator("summary", has_text="What it printed").click()
    expect(results.locator(".card pre")).to_contain_text("seen 1")


def test_where_there_is_no_sandbox_that_is_said(rewards: Page) -> None:
    before = registry.read_fact(Sandbox)
    assert before is not None
    registry.publish_fact(Sandbox(name="none", label="none", sentence="Nothing can be shut in here <b>."))
    try:
        rewards.reload()
        ready(rewards)
        expect(rewards.locator(".banner")).to_contain_text("Nothing can be shut in here <b>.")
    finally:
        registry.publish_fact(before)


def test_each_bad_input_is_said_with_its_line_and_the_page_goes_on(rewards: Page) -> None:
    begin(rewards, GOOD)
    rewards.get_by_label("Timeout of hostile").fill("1.5")
    source(rewards, "Typed")
    for number in range(3):
        rewards.get_by_label(f"Completion {number + 1}", exact=True).fill(f"<answer>{number}</answer>")
        if number < 2:
            do(rewards, "Add a completion")
    tried = {name: (text, bad) for name, (text, bad) in codes().items() if name not in NOT_WALKED}
    for name, (text, bad) in tried.items():
        said_of_bad_input(rewards, name, text, bad)
    said_of_bad_input(rewards, "one row", code(ONE_ROW), ONE_ROW)
    expect(rewards.locator(".group td .warn")).to_have_count(1)
    picture(rewards, "rewards-bad-input")
    write(rewards, GOOD)
    results = try_it(rewards)
    expect(results.locator(".failure")).to_have_count(0)
    expect(results.locator(".scored .num").first).to_have_text("1")


def said_of_bad_input(rewards: Page, name: str, text: str, bad: Bad) -> None:
    write(rewards, text)
    results = try_it(rewards)
    failure = results.locator(".failure").first
    expect(failure, name).to_contain_text(re.compile(bad.words.removeprefix("^"), re.DOTALL))
    status = "timed out" if bad.status == "timeout" else "error"
    expect(results.locator(".group td .warn").first, name).to_have_text(status)
    if line(text) is not None:
        expect(failure.get_by_role("button"), name).to_have_text(f"line {line(text)}")
        expect(rewards.locator(".failed-line"), name).to_have_count(1)


def test_what_is_no_python_is_said_at_its_line(rewards: Page) -> None:
    text, _ = codes()["a syntax error"]
    begin(rewards, text)
    expect(rewards.locator(".found .blocking")).to_contain_text(f"line {line(text)}")
    expect(rewards.locator(".found .blocking")).to_contain_text("This is not Python")
    for way, said in (("Try", ".view-try .go .wait"), ("Save", ".said-saved")):
        do(rewards, way)
        expect(rewards.locator(said)).to_contain_text(f"Line {line(text)}: This is not Python")


def test_the_keyboard_tries(rewards: Page) -> None:
    begin(rewards, SHORT)
    source(rewards, "Probes")
    rewards.locator(".ace_content").click()
    rewards.keyboard.press("Control+Enter")
    expect(rewards.locator(".view-try .go .wait")).to_contain_text("scored", timeout=240_000)


def test_a_function_that_failed_when_tried_is_warned_of_on_new_run_until_it_is_fixed(rewards: Page) -> None:
    new = rewards.url.replace("/rewards?name=format", "/new")
    begin(rewards, DIVIDES)
    try_it(rewards)  # before it is saved: the same code then
    save(rewards)
    rewards.goto(new)
    add_reward(rewards, "divides")
    warning = rewards.locator(".verdict.warning", has_text="divides")
    expect(warning).to_contain_text("when it was last tried: “ZeroDivisionError: division by zero”. A completion that")
    expect(warning).to_contain_text("Edit it under Rewards.")
    expect(reward(rewards, "divides")).to_contain_text("failed on")
    picture(rewards, "new-run-failed-try")
    assert no_sideways_scroll(rewards)
    reward(rewards, "divides").get_by_role("link", name="Edit divides").click()
    ready(rewards)
    write(rewards, DIVIDES.replace("1 /", "1 +"))
    save(rewards)
    try_it(rewards)
    rewards.goto(new)
    expect(reward(rewards, "divides")).to_be_visible()
    expect(rewards.locator(".preview .of")).to_have_text("of 2,500", timeout=180_000)
    expect(warning).to_have_count(0)
