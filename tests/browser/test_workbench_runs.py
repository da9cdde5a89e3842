"""Completions of past runs in the workbench: they are tried, a run's history is scored anew, and both are cancelled."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from groupwise.storage.home import paths
from groupwise.storage.record import states
from groupwise.storage.registry import questions, registry
from tests.browser.conftest import OpenPage, bring, no_sideways_scroll, picture
from tests.browser.rewards_page import (
    ENDLESS,
    SHORT,
    begin,
    build,
    do,
    open_emptied,
    ready,
    save,
    source,
    try_it,
    write,
)
from tests.support.homes import QUICKSTART, wait_for
from tests.support.made_runs import made_run

LAX = '''def my_format(completions, **kwargs):
    """1 where there is no tag at all."""
    return [float("<answer>" not in completion[0]["content"]) for completion in completions]
'''


@pytest.fixture
def rewards(open_page: OpenPage, shared_dashboard: str) -> Page:
    return open_emptied(open_page, f"{shared_dashboard}/rewards?name=format")


@pytest.fixture(scope="module")
def finished_run(shared_dashboard: str) -> str:
    """The id of a short run of the quickstart that is done."""
    text = QUICKSTART.read_text().replace("max_steps: 60", "max_steps: 6").replace("eval_strategy: steps", "")
    run_id = registry.create_run(text, name="history", model="starter", data="task:arithmetic")

    def finished() -> bool:
        run = registry.get_run(run_id)
        assert run is not None and run.state != states.FAILED, run
        return run.state == states.FINISHED

    wait_for("the short run", finished)
    return run_id


def test_trying_is_cancelled(rewards: Page) -> None:
    begin(rewards, ENDLESS)
    rewards.get_by_label("Timeout of endless").fill("120")
    source(rewards, "Probes")
    do(rewards, "Try")
    rewards.wait_for_timeout(1500)
    expect(rewards.locator("[data-do=try]")).to_have_css("opacity", "1")  # pale words on a pale ground were no words
    do(rewards, "Cancel")
    expect(rewards.locator(".view-try .go .wait")).to_have_text("Cancelled.")
    write(rewards, SHORT)
    expect(try_it(rewards).locator(".card", has_text="short").first).to_be_visible()


def scoring() -> bool:
    return any(one.kind == questions.SCORE for one in questions.abandoned_questions())


def test_a_try_that_is_left_holds_up_none_after_it(rewards: Page, shared_dashboard: str) -> None:
    """Seen: after eight reloads “The worker is busy: 7 other questions like this one came first”."""
    begin(rewards, ENDLESS)
    for leave in (rewards.reload, lambda: rewards.goto(f"{shared_dashboard}/new")):
        ready(rewards)
        rewards.get_by_label("Timeout of endless").fill("280")
        source(rewards, "Probes")
        do(rewards, "Try")
        wait_for("the worker to score", scoring)
        leave()
        wait_for("the worker to stop", lambda: not scoring(), seconds=60)


def test_a_past_run_s_completions_are_tried(rewards: Page, finished_run: str) -> None:
    rewards.reload()
    ready(rewards)
    source(rewards, "A past run")
    rewards.locator("select.run").select_option(finished_run)
    expect(rewards.locator("select.data")).to_have_value(f"run:{finished_run}")
    results = try_it(rewards)
    expect(results.locator(".group")).to_have_count(8)


def test_what_was_chosen_stays_beside_a_past_run(rewards: Page, shared_dashboard: str) -> None:
    """Seen: the run that had just begun took the place of the chosen data, for good, and nothing said so."""
    chosen, later = (made_run(name, 3, groups=1) for name in ("chosen", "later"))
    made_run("just begun", 0, groups=0)
    rewards.goto(f"{shared_dashboard}/rewards?name=format")
    data, run, why = (ready(rewards).locator(one) for one in ("select.data", "select.run", ".why-data"))
    data.select_option("preset:quickstart")
    source(rewards, "A past run")
    expect(run).to_have_value(later)  # the newest that has completions
    expect(data).to_have_value(f"run:{later}")
    expect(why).to_have_text("(of the run whose completions are scored)")
    source(rewards, "The model")
    expect(data).to_have_value("preset:quickstart")
    expect(why).to_have_text("(as before)")
    data.select_option(f"run:{chosen}")
    source(rewards, "A past run")
    expect(run).to_have_value(chosen)
    expect(data).to_have_value(f"run:{chosen}")
    run.select_option(later)
    rewards.reload()
    expect(ready(rewards).locator("select.data")).to_have_value(f"run:{chosen}")


def test_a_run_s_history_is_scored_anew_and_advantages_flip(
    open_page: OpenPage, shared_dashboard: str, rewards: Page, finished_run: str
) -> None:
    page = ready(open_page(f"{shared_dashboard}/rewards?name=format&run={finished_run}&view=rescore"))
    expect(page.locator("select.history")).to_have_value(finished_run)
    begin(page, LAX)
    expect(page.locator("select.instead")).to_have_value("format")
    record = paths.run_folder(finished_run).db
    before = record.read_bytes()
    do(page, "Re-score")
    results = page.locator(".view-rescore .results")
    expect(results).to_contain_text("change their sign", timeout=180_000)
    expect(page.locator(".view-rescore .go .wait")).to_contain_text("completions in")
    expect(results.locator(".sentences")).to_contain_text("The new total counts ")
    expect(results.locator(".sentences")).to_contain_text("; not format (weight 0 instead of 1).")
    expect(results.locator("polyline")).to_have_count(2)
    results.locator("details.group").first.locator("summary").click()
    expect(results.locator("tr.flips").first).to_be_visible()
    picture(page, "rewards-rescored")
    assert no_sideways_scroll(page)
    assert record.read_bytes() == before
    scores_of_a_re_scoring_before_are_marked(page)


def test_the_run_that_is_re_scored_stays_whatever_is_opened(
    rewards: Page, shared_dashboard: str, finished_run: str
) -> None:
    """Seen: a function that was built on other data set it to the newest run."""
    build(rewards, "Right length").locator("[name=name]").fill("elsewhere")
    rewards.locator("select.data").select_option("preset:quickstart")
    save(rewards)
    newest = made_run("newest", 3, groups=1)
    rewards.goto(f"{shared_dashboard}/rewards?name=format&run={finished_run}&view=rescore")
    run = ready(rewards).locator("select.history")
    assert run.evaluate("select => select.options[0].value") == newest
    for chosen in (finished_run, newest):
        run.select_option(chosen)
        rewards.locator(".shelf .take", has_text="elsewhere").last.click()
        expect(rewards.locator(".building")).to_be_visible()
        rewards.wait_for_timeout(300)
        expect(run).to_have_value(chosen)
    rewards.locator(".shelf").get_by_role("button", name="format").first.click()
    run.select_option(finished_run)
    expect(rewards.locator("select.data")).to_have_value(f"run:{finished_run}")
    rewards.locator("select.data").select_option(f"run:{newest}")
    expect(run).to_have_value(newest)  # whoever chooses its data means it
    rewards.locator("select.data").select_option("preset:quickstart")
    rewards.reload()  # the address still says which run one came from
    expect(ready(rewards).locator("select.data")).to_have_value("preset:quickstart")
    expect(rewards.locator(".why-data")).to_have_text("(chosen by you)")


def test_a_re_scoring_counts_the_weights_that_stand_there(rewards: Page) -> None:
    """Seen: weights that “Add the rewards of …” had set stood there and did not count."""
    run_id = made_run("made", 3, groups=1)  # correctness has the weight 2 there
    counts = rewards.locator(".view-rescore .results .sentences")
    rewards.reload()
    ready(rewards).get_by_role("tab", name="Re-score a run").click()
    begin(rewards, SHORT)
    rewards.locator("select.history").select_option(run_id)
    do(rewards, "Re-score")
    expect(counts).to_contain_text("correctness (weight 2)", timeout=180_000)
    rewards.get_by_role("tab", name="Try").click()
    rewards.locator("select.data").select_option("preset:quickstart")
    do(rewards, "Add the rewards of “Quickstart”")
    expect(rewards.get_by_label("Weight of correctness")).to_have_value("1")
    rewards.get_by_role("tab", name="Re-score a run").click()
    rewards.locator("select.history").select_option(run_id)
    do(rewards, "Re-score")
    expect(counts).to_contain_text("correctness (weight 1 instead of 2)", timeout=60_000)
    do(rewards, "Add the rewards of “made”")  # all as the run has it, where a weight may move: nothing is set anew
    do(rewards, "Re-score")
    expect(counts).to_contain_text("correctness (weight 2)", timeout=60_000)


def test_the_weight_that_is_shown_is_the_one_that_counts(rewards: Page) -> None:
    """The run's 2 counted, and 1 stood in the field; typed there, it was another."""
    run_id = made_run("made", 3, groups=1)  # correctness has the weight 2 there
    rewards.reload()
    ready(rewards)
    rewards.locator(".shelf").get_by_text("correctness", exact=True).click()
    weight = rewards.get_by_label("Weight of correctness")
    expect(weight).to_have_value("1")
    rewards.get_by_role("tab", name="Re-score a run").click()
    rewards.locator("select.history").select_option(run_id)
    expect(weight).to_have_value("2")
    weight.fill("3")
    rewards.get_by_role("tab", name="Try").click()
    expect(weight).to_have_value("3")
    rewards.get_by_role("tab", name="Re-score a run").click()
    expect(weight).to_have_value("3")


def scores_of_a_re_scoring_before_are_marked(page: Page) -> None:
    view = page.locator(".view-rescore")
    expect(view.locator(".outdated")).to_be_hidden()
    write(page, LAX.replace("])", ")"))
    expect(view.locator(".outdated")).to_have_text(
        "These are the scores of the code before your last change. Re-score again."
    )
    do(page, "Re-score")
    expect(view.locator(".go.failed .wait")).to_contain_text("This is not Python")
    expect(view.locator(".outdated")).to_contain_text("before your last change")
    expect(view.locator(".results")).to_have_class(re.compile(r"\bold\b"))
    write(page, LAX)
    expect(view.locator(".outdated")).to_have_text("These are the scores of the re-scoring before.")
    do(page, "Re-score")
    expect(view.locator(".go.failed")).to_have_count(0)
    expect(view.locator(".go .wait")).to_contain_text("completions in", timeout=180_000)
    expect(view.locator(".outdated")).to_be_hidden()
    weight = page.locator(".chosen input.weight").first
    weight.fill("3")
    expect(view.locator(".outdated")).to_have_text(
        "These are the scores of the weights before your last change. Re-score again."
    )
    weight.fill("1")
    expect(view.locator(".outdated")).to_be_hidden()
    page.get_by_label("Advantages scaled by").select_option("none")
    expect(view.locator(".outdated")).to_contain_text("of the settings before your last change")


def test_re_scoring_is_cancelled_and_asked_again(open_page: OpenPage, shared_dashboard: str, finished_run: str) -> None:
    page = ready(open_page(f"{shared_dashboard}/rewards?name=format&run={finished_run}&view=rescore"))
    expect(page.locator("select.history")).to_have_value(finished_run)
    begin(page, ENDLESS)
    page.get_by_label("Timeout of endless").fill("120")
    do(page, "Re-score")
    page.wait_for_timeout(1500)
    page.locator("[data-do=halt]").click()
    expect(page.locator(".view-rescore .go .wait")).to_have_text("Cancelled. Nothing was changed.")
    write(page, LAX)
    do(page, "Re-score")
    expect(page.locator(".view-rescore .results")).to_contain_text("change their sign", timeout=180_000)


def test_a_re_scoring_of_a_run_without_scores_shows_dashes(rewards: Page) -> None:
    """As it was seen: “0 %” and “0 of 0” of a run in which nothing was scored."""
    drawn = """([old, share]) => {
      const totals = { edges: [0, 1], old: [0], new: [2], old_mean: old, old_std: old, new_mean: 0.5, new_std: 0.5 };
      const box = document.createElement("div");
      drawRescored(box, {
        sentences: [], totals, functions: [], steps: { step: [] }, groups: [],
        advantages: { total: 2, flipped: 0, share: 0 },
        ranks: { pairs: share, swapped: 0, share: 0, merged: 3, parted: 0 },
        ties: { old: { bearing: 0, groups: 1 }, new: { bearing: 1, groups: 1 } },
      });
      return [...box.querySelectorAll(".figure")].slice(0, 2).flatMap((one) => [...one.children].slice(1))
        .map((one) => one.textContent);
    }"""
    page = bring(rewards, "pages/rewards/rescored.js", "drawRescored")
    assert page.evaluate(drawn, [None, 0]) == ["–", "no scores to compare with"] * 2
    pairs = "0 of 1 pair within a group, not counting ties · 3 more tied now"
    assert page.evaluate(drawn, [0.5, 1]) == ["0\u202f%", "0 of 2 change sign", "0\u202f%", pairs]
    assert page.evaluate(drawn, [0.5, 0])[2:] == ["–", "no pairs to compare"]
