"""Compare where answers come late, out of order, or for runs that are no longer compared."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from groupwise.storage.home import paths
from groupwise.storage.record import states
from groupwise.storage.record.record import RunWriter
from tests.browser.conftest import Held, OpenPage, drag, wake_all
from tests.support.homes import wait_for
from tests.support.made_runs import made_run

Runs = tuple[str, list[str]]
LATER = "() => { const now = Date.now; Date.now = () => now() + 20000; }"  # a live run's prompts are asked for again
SUFFIX = "document.querySelector('[data-chart=reward] .plot').layout?.xaxis.ticksuffix"


@pytest.fixture(scope="module")
def runs(still_dashboard: str) -> Runs:
    """A dashboard and the ids of two learning rates with two seeds each."""
    ids = [
        made_run(f"run {n}", 11, groups=1, prompts=8, seed=n, training={"learning_rate": rate, "seed": n})
        for n, rate in enumerate((1e-5, 1e-5, 1e-4, 1e-4), start=1)
    ]
    return still_dashboard, ids


def compared(open_page: OpenPage, runs: Runs, more: str = "", *others: str) -> Page:
    page = open_page(f"{runs[0]}/compare?ids={','.join(others or runs[1])}{more}")
    page.wait_for_selector(".gw-compare[data-drawn]")
    return page


def remove(page: Page, name: str) -> None:
    page.get_by_role("button", name=f"Remove {name}").click()
    expect(page.get_by_role("button", name=f"Remove {name}")).to_have_count(0)


def held(page: Page, questions: Held, words: str = "", without: str = "nothing") -> Route:
    """The newest held question, once it has these words in it, and is without those."""

    def newest() -> Route | None:
        page.wait_for_timeout(20)
        said = [(route, route.request.post_data or "") for route in questions.kept[-1:]]
        return next((route for route, data in said if words in data and without not in data), None)

    found: Route = wait_for("the question", newest)
    return found


def answer(page: Page, question: Route) -> None:
    """Lets one held question be answered, and the page take the answer."""
    with page.expect_response(lambda response: response.request == question.request) as response:
        question.continue_()
    response.value.finished()
    page.wait_for_timeout(50)


def more(page: Page, run_id: str, step: int) -> None:
    """Records a step of the run, which the page looks for at once."""
    writer = RunWriter(paths.run_folder(run_id).db, 1, {"format": 1.0})
    writer.commit(step, metrics={"reward": 2.0})
    writer.close()
    wake_all(page)


def test_prompts_are_those_of_the_newest_words(open_page: OpenPage, runs: Runs) -> None:
    page = open_page("about:blank")
    settings, questions = Held(page, "compare_settings"), Held(page, "shared_prompts")
    page.goto(f"{runs[0]}/compare?ids={','.join(runs[1])}")
    held(page, settings)
    of_settings = page.get_by_label("Download the settings that differ as CSV")
    expect(of_settings).to_be_hidden()
    settings.release()
    expect(of_settings).to_be_visible()
    page.locator(".alike").scroll_into_view_if_needed()
    expect(page.locator(".told")).to_have_text("Loading prompts…")
    csv = page.get_by_role("button", name="Download the shared prompts as CSV")
    expect(csv).to_be_hidden()  # there is nothing to be saved yet
    questions.release()
    prompts = page.locator(".prompts [data-hash]")
    expect(prompts.nth(1)).to_be_visible()
    expect(csv).to_be_visible()
    first, second = prompts.all_inner_texts()[:2]
    questions, search = Held(page, "shared_prompts"), page.get_by_label("Search prompts")
    search.fill(first)
    late = held(page, questions, first)
    search.fill(second)
    answer(page, held(page, questions, second))
    expect(prompts).to_have_text([second])
    answer(page, late)
    assert prompts.all_inner_texts() == [second]


def test_a_completion_stands_under_its_own_run(open_page: OpenPage, runs: Runs) -> None:
    page = compared(open_page, runs)
    page.locator(".alike").scroll_into_view_if_needed()
    questions, cards = Held(page, "prompt_in_runs"), page.locator(".cards .comp")
    prompts = page.locator(".prompts [data-hash]")
    prompts.first.click()
    late = held(page, questions)
    remove(page, "run 1")
    page.locator(".alike").scroll_into_view_if_needed()  # out of sight, it is not asked for
    answer(page, held(page, questions, without=runs[1][0]))
    expect(cards).to_have_count(3)
    texts = cards.all_inner_texts()
    answer(page, late)
    assert cards.all_inner_texts() == texts

    # on to another prompt, and back before its answer came
    prompts.nth(1).click()
    late = held(page, questions, prompts.nth(1).get_attribute("data-hash") or "none")
    prompts.first.click()
    answer(page, late)
    expect(page.locator(".one pre.asked")).to_have_text(prompts.first.inner_text())


def test_a_closed_list_of_runs_stays_closed(open_page: OpenPage, runs: Runs) -> None:
    page = compared(open_page, runs, "", *runs[1][:2])
    questions = Held(page, "search_runs")
    page.get_by_label("Add a run").focus()
    late = held(page, questions)
    page.keyboard.press("Escape")
    answer(page, late)
    expect(page.locator(".adder .found")).to_be_hidden()
    questions.function = None
    page.get_by_label("Add a run").fill("run")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".adder .option")).to_have_count(2)


def test_runs_are_grouped_by_their_own_settings(open_page: OpenPage, runs: Runs) -> None:
    page = compared(open_page, runs, "&by=training.learning_rate")
    labels = page.locator(".together .label")
    expect(labels).to_have_text(["Learning rate 1e-5 2 runs", "Learning rate 1e-4 2 runs"])
    questions = Held(page, "compare_settings")
    remove(page, "run 1")
    held(page, questions)
    assert [" ".join(label.split()) for label in labels.all_inner_texts()] == [
        "Learning rate 1e-5 1 run", "Learning rate 1e-4 2 runs",
    ]  # fmt: skip
    questions.release()


def test_two_runs_have_no_stretch_to_be_beside(open_page: OpenPage, runs: Runs) -> None:
    page = compared(open_page, runs, "&pick=reward~0.5~1")
    expect(page.locator(".kept")).to_be_visible()
    for name in ("run 1", "run 2"):
        remove(page, name)
    expect(page.locator(".kept")).to_be_hidden()
    expect(page.locator(".chosen.beside")).to_have_count(0)


def test_a_walk_stays_on_its_run_and_prompts_follow(open_page: OpenPage, runs: Runs) -> None:
    live = made_run("live", 3, groups=1, prompts=8, state=states.RUNNING)
    page = compared(open_page, runs, "", live, runs[1][0])
    reward = page.get_by_role("slider", name="reward of the runs", exact=True)
    reward.scroll_into_view_if_needed()
    expect(reward.locator(".main-svg").first).to_be_visible()
    page.locator(".smooth").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Home")
    expect(reward).to_have_attribute("aria-valuenow", "1")
    for key in ("ArrowUp", "ArrowDown"):
        if "run 1" not in (reward.get_attribute("aria-valuetext") or ""):
            page.keyboard.press(key)
    expect(reward).to_have_attribute("aria-valuetext", re.compile("^run 1, step 1:"))
    more(page, live, 4)
    page.wait_for_function("document.querySelector('[data-chart=reward] .plot').data.some(line => line.x.length === 4)")
    expect(reward).to_have_attribute("aria-valuetext", re.compile("^run 1, step 1:"))

    page.locator(".alike").scroll_into_view_if_needed()
    expect(page.locator(".prompts [data-hash]").first).to_be_visible()
    page.locator(".prompts [data-hash]").first.click()
    expect(page.locator(".cards .comp")).to_have_count(2)
    for function, step in (("shared_prompts", 5), ("prompt_in_runs", 6)):
        page.evaluate(LATER)
        questions = Held(page, function)
        page.mouse.move(0, 0)
        more(page, live, step)
        held(page, questions)
        questions.release()
    # not while they are read
    page.evaluate(LATER)
    page.locator(".one").hover()
    questions = Held(page, "prompt_in_runs")
    with page.expect_response(lambda reply: '"fn_name":"shared_prompts"' in (reply.request.post_data or "")):
        more(page, live, 7)
    page.wait_for_timeout(300)
    assert questions.kept == []
    page.mouse.move(0, 0)
    wake_all(page)
    held(page, questions)


def test_curves_keep_their_axis_until_the_others_have_come(open_page: OpenPage, runs: Runs) -> None:
    page = compared(open_page, runs)
    page.locator("[data-chart=reward] .plot").scroll_into_view_if_needed()
    page.wait_for_function(f"{SUFFIX} === ''")
    questions = Held(page, "compare_runs")
    page.locator("[data-x=time]").click()
    held(page, questions)
    assert page.evaluate(SUFFIX) == ""
    drag(page.locator("[data-chart=reward]"), 0.2, 0.6)
    questions.release()
    page.wait_for_function(f"{SUFFIX} !== ''")
    assert "zoom=" not in page.url  # in steps, it would be somewhere else in time
    ends = "document.querySelector('[data-chart=reward] .plot')._fullLayout.xaxis.range"
    page.wait_for_function(f"{ends}[0] === 0 && {ends}[1] > 5.72")  # all eleven steps


def test_buttons_drawn_anew_keep_the_focus(open_page: OpenPage, runs: Runs) -> None:
    page = compared(open_page, runs)
    page.get_by_text("All metrics").click()
    for button in (
        page.locator("table.settings").get_by_role("button", name="Learning rate"),
        page.locator(".all-metrics .names").get_by_role(
            "button", name="reward spread within groups groups/spread", exact=True
        ),
    ):
        button.focus()
        page.keyboard.press("Enter")
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(button).to_be_focused()
