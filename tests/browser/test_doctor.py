"""The doctor, walked: a sick run's verdict → its evidence → a new run that has it changed; and runs that are well."""

from __future__ import annotations

import random
import re

from playwright.sync_api import Page, expect

from groupwise.storage.analysis.compare import curves as curves_of_runs
from groupwise.storage.home import paths
from groupwise.storage.record import record_check
from groupwise.storage.record.step_record import Group
from tests.browser.conftest import OpenPage, no_sideways_scroll, picture
from tests.support.homes import wait_for
from tests.support.made_runs import curves, learning_group, made_run

LONG = 180_000  # ms, for what a busy machine takes its time with


def sick_run() -> str:
    """A run whose KL runs away, whose completions are cut off, and whose groups have tags stuffed into them."""
    rng = random.Random(3)

    def metrics(step: int) -> dict[str, float | None]:
        return curves(step, 60, rng) | {"kl": 0.02 * 1.08**step, "completions/clipped_ratio": step / 80}

    def group(step: int, n: int) -> Group:
        made = learning_group(step, n, 60, 8, ("format", "correctness"), 16, rng)
        for completion in made.completions if step > 40 else []:
            completion.text = "<answer></answer>" * 30
        return made

    return made_run("<b>sick</b> run", 60, metrics=metrics, make_group=group)


def test_from_a_verdict_to_its_evidence_and_to_a_new_run(open_page: OpenPage, reading_dashboard: str) -> None:
    run_id = sick_run()
    page = open_page(f"{reading_dashboard}/run?id={run_id}")
    doctor = page.locator(".gw-doctor")
    expect(doctor.locator(".headline")).to_contain_text("Learned, with a problem: reward went up", timeout=LONG)
    expect(doctor.locator("article .level")).to_have_text(["Problem", "Warning", "Suspicion"])
    _says_why(page)
    _shows_the_chart(page)
    expect(page.locator(".gw-header .pill")).to_have_text("Finished · verdict: completions are cut off", timeout=LONG)
    assert no_sideways_scroll(page)
    picture(page, "doctor")
    page.locator("article[data-key=truncated]").get_by_role("link", name="The cut-off completions").click()
    for part in ("tab=completions", "truncated=yes", "steps="):
        expect(page).to_have_url(re.compile(part))
    page.go_back()
    page.locator("article[data-key=kl]").get_by_role("link", name="KL weight").click()
    expect(page.locator(".arrival li")).to_have_text(["KL weight 0.02 → 0.04"], timeout=LONG)
    expect(page.locator(".arrival")).to_be_in_viewport(ratio=1)
    expect(page.get_by_label("Name", exact=True)).to_have_value("<b>sick</b> run-2")
    expect(page.get_by_label("KL weight", exact=True)).to_have_value("0.04")
    page.reload()  # the address holds what it changed
    expect(page.get_by_label("KL weight", exact=True)).to_have_value("0.04", timeout=LONG)
    page.goto(f"{reading_dashboard}/run?id={run_id}")
    page.get_by_role("link", name="Find which function rewards it").click()
    page.wait_for_selector("[data-ready]", timeout=LONG)
    expect(page.locator("select.history")).to_have_value(run_id)
    expect(page.locator(".view-rescore")).to_be_visible()
    led_here = page.locator(".led-here")  # and says what was wrong, beside the function that it is about
    expect(led_here).to_contain_text("From run <b>sick</b> run: Is a pattern rewarded? ", timeout=LONG)
    expect(led_here).to_contain_text(re.compile("% of the last completions that earn .* open the same tag"))
    expect(led_here.get_by_role("link")).to_have_attribute("href", f"/run?id={run_id}")
    built_in = "is built in, so its code cannot be changed here. Build without code makes a function to use in its "
    expect(led_here).to_contain_text(f"{built_in}place; Copy as my own makes a copy to change in code.")
    expect(led_here.get_by_role("button")).to_have_text(["Build without code", "Copy as my own"])
    picture(page, "led-here")
    page.locator(".lists").get_by_role("button", name=re.compile("^keywords")).first.click()
    expect(led_here).to_be_hidden()


def test_what_a_person_must_choose_is_where_the_new_run_opens(open_page: OpenPage, reading_dashboard: str) -> None:
    """Of a run whose prompts are too hard: it leads to the data, and to the rewards."""

    def metrics(step: int) -> dict[str, float | None]:
        tied = {"groups/tied": 0.9, "groups/all_low": 0.9, "groups/any_solved": 0.1, "groups/solved": 0.05}
        return curves(step, 60, random.Random(step)) | tied | {"reward": 0.1, "kl": 0.01}

    page = open_page(f"{reading_dashboard}/run?id={made_run('too hard', 60, metrics=metrics, groups=0)}")
    expect(page.locator(".advised").first).to_have_text("Easier prompts: choose the data in a new run", timeout=LONG)
    picture(page, "doctor-advice")
    page.get_by_role("link", name="The chart of tied groups").click()  # which draws either of two metrics
    expect(page.locator("figure.pointed-at h3")).to_have_text("tied groups")
    changes = page.locator("article[data-key=too_hard] .changes")
    expect(changes.locator(".btn")).to_have_count(1, timeout=LONG)  # a larger group: the rest is no button
    told = {"data": "Easier prompts: choose the data below. ", "rewards": "choose the rewards below. "}
    for words, place in (("choose the data", ".source"), ("choose the rewards", ".rewards")):
        changes.get_by_role("link", name=f"{words} in a new run").click(timeout=LONG)
        page.wait_for_selector("[data-ready]", timeout=LONG)
        page.wait_for_function("place => document.activeElement.closest(place) !== null", arg=place)
        expect(page.locator(".arrival")).to_contain_text("with nothing changed yet.")
        expect(page.locator(".arrival")).to_contain_text(told[words.split()[-1]] + "The prompts are too hard. ")
        expect(page.locator(":focus")).to_be_in_viewport()
        expect(page.locator(".arrival")).to_be_in_viewport(ratio=1)  # it says why one was led there
        page.go_back()


def _says_why(page: Page) -> None:
    """Folded away until asked for, and reached by keyboard."""
    verdict = page.locator("article[data-key=kl]")
    expect(verdict.get_by_text("Shown from 0.5 on")).to_be_hidden()
    verdict.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(verdict.get_by_text("Shown from 0.5 on")).to_contain_text("common practice")


def _shows_the_chart(page: Page) -> None:
    expect(page.locator('figure[data-metrics~="kl"]')).to_be_attached(timeout=LONG)
    page.locator("article[data-key=kl]").get_by_role("link", name="The chart of KL").click()
    expect(page.locator("figure.pointed-at")).to_be_in_viewport()
    expect(page.locator("figure.pointed-at h3")).to_have_text("KL")


def test_a_healthy_run_and_one_that_ended_too_soon_are_told_so(open_page: OpenPage, reading_dashboard: str) -> None:
    run_id = made_run("well", 60)
    paths.run_folder(run_id).final.mkdir(exist_ok=True)
    page = open_page(f"{reading_dashboard}/run?id={run_id}")
    expect(page.locator(".gw-doctor .headline")).to_contain_text(
        "Learned, no problems detected: reward went up", timeout=LONG
    )
    expect(page.locator(".gw-doctor article")).to_have_count(0)
    page.locator(".gw-doctor .calm summary").click()
    expect(page.locator(".gw-doctor .calm li")).to_contain_text(["normal in GRPO"])
    follows = page.locator(".gw-doctor .next")
    expect(follows).to_have_text("Next: 60 more steps from the trained model, as the reward was still rising.")
    assert no_sideways_scroll(page)
    picture(page, "doctor-well")
    # As soon as the charts show more than it tells of, it asks: its figures stood a step or two behind those beside.
    asked: list[str] = []
    page.on("request", lambda request: "diagnose_run" in (request.post_data or "") and asked.append(request.url))
    with record_check.read_record(paths.run_folder(run_id).db) as record:
        newest = curves_of_runs.newest_seq(record)
    detail = {"seq": newest + 1, "line": "step 61 of 61", "progress": 1}

    def asks_on() -> bool:  # told again and again: the charts' own next look says what there is
        page.evaluate("detail => dispatchEvent(new CustomEvent('groupwise:charted', { detail }))", detail)
        page.wait_for_timeout(50)
        return len(asked) > 2

    wait_for("it asks until it has it", asks_on)
    anew = re.compile("optimizer and schedule start over, and KL is measured from here")
    expect(follows.get_by_role("link", name="more steps")).to_have_attribute("title", anew)
    follows.get_by_role("link", name="more steps").click()  # from the model that the run has trained
    page.wait_for_url(re.compile(r"/new\?from=.*model\.id"))
    page = open_page(f"{reading_dashboard}/run?id={made_run('young', 4)}")
    over = "It ended after 4 logged steps: too short for diagnostics, which need 10."
    expect(page.locator(".gw-doctor .headline")).to_have_text(over, timeout=LONG)
