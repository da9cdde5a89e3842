"""Launch, and what keeps a run from it, in sight wherever one is on the New run page; and all of it at once."""

from __future__ import annotations

import json
import random
import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from groupwise.app.pages.new import presets
from groupwise.storage.home import paths
from groupwise.storage.registry import trash
from tests.app.test_preflight_timing import slow_down
from tests.browser.conftest import Held, OpenPage, no_sideways_scroll, picture
from tests.browser.new_run_page import follows, show, write_yaml, yaml_of
from tests.support.homes import wait_for
from tests.support.made_runs import curves, made_run, stopped_before_it_started

MANY = {"Group size": "7", "Learning rate": "fast", "Model": "/no/such/folder", "Steps": "soon", "Temperature": "0.2"}


def launch_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Launch", exact=True)


def scroll(page: Page, to: int) -> None:
    page.evaluate("top => scrollTo({ top, behavior: 'instant' })", to)


def make_wrong(page: Page, fields: dict[str, str] = MANY) -> None:
    for label, typed in fields.items():
        page.get_by_label(label, exact=True).fill(typed)


def test_estimates_problems_and_launch_stay_in_sight(new_run: Page) -> None:
    make_wrong(new_run)
    expect(new_run.locator(".verdict.blocking")).to_have_count(4)
    for place in (0, 700, 1500, 10**6):
        scroll(new_run, place)
        for what in (
            launch_button(new_run),
            new_run.locator(".launch-bar .blocking"),
            new_run.get_by_text("Once the problems below are fixed, this says what the run will do."),
        ):
            expect(what).to_be_in_viewport(ratio=0.9)
    new_run.set_viewport_size({"width": 1280, "height": 420})  # too low for all of it: what starts the run stays
    for place in (0, 10**6):
        new_run.locator(".right").evaluate("(side, top) => side.scrollTo(0, top)", place)
        expect(launch_button(new_run)).to_be_in_viewport(ratio=0.9)


def test_on_a_phone_a_slim_bar_has_launch_and_what_is_wrong(new_run: Page) -> None:
    make_wrong(new_run)
    expect(new_run.locator(".launch-bar .count")).to_contain_text("4 problems")
    new_run.set_viewport_size({"width": 390, "height": 844})
    for place in (0, 900, 10**6):
        scroll(new_run, place)
        expect(launch_button(new_run)).to_be_in_viewport(ratio=1)
        expect(new_run.locator(".launch-bar .blocking")).to_be_in_viewport(ratio=1)
    bar = new_run.locator(".launch-bar").bounding_box()
    assert bar and bar["height"] < 70 and bar["y"] + bar["height"] == pytest.approx(844, abs=1)
    scroll(new_run, 0)
    new_run.locator(".launch-bar .count").click()
    new_run.wait_for_timeout(1000)  # what stands above is made only now
    expect(new_run.locator(".of-level.blocking")).to_be_in_viewport()
    expect(new_run.locator(".verdict.blocking").first).to_be_in_viewport(ratio=0.9)
    assert no_sideways_scroll(new_run)


def test_the_head_of_a_phone_is_low_with_all_that_it_may_have(new_run: Page) -> None:
    new_run.set_viewport_size({"width": 390, "height": 844})
    new_run.evaluate("for (const one of document.querySelectorAll('.gw-topbar [hidden]')) one.hidden = false")
    bar = new_run.locator(".gw-topbar").bounding_box()
    assert bar and bar["height"] < 160, bar
    new_run.reload()
    expect(new_run.locator(".gw-topbar .worker")).to_be_visible()
    expect(new_run.locator(".gw-topbar .brand")).to_be_visible()
    for words, kind in (("Not connected", "idle away"), ("Starting…", "idle")):
        too_wide = new_run.locator(".gw-topbar").evaluate(
            """(bar, [words, kind]) => {
            const pill = bar.querySelector(".worker");
            Object.assign(pill, { hidden: false, className: `worker pill s ${kind}` });
            pill.lastElementChild.textContent = words;
            return bar.scrollWidth - bar.clientWidth;
        }""",
            [words, kind],
        )
        assert too_wide <= 0, words
    new_run.get_by_label("Name", exact=True).fill("x" * 75)
    length = new_run.locator(".field[data-path=name] .length").first
    expect(length).to_have_text("75 of 80 characters")
    picture(new_run, "new-run-long-name")
    new_run.get_by_label("Name", exact=True).fill("x" * 306)
    expect(length).to_have_text("306 characters: 226 too many")
    expect(new_run.locator(".launch-bar .count")).to_have_text("◆ 1 problem")
    launch_button(new_run).click()
    expect(new_run.locator(".launch-note")).to_contain_text("Name should have at most 80 characters; it has 306.")
    new_run.route("**/component_server/**", lambda route: route.abort())  # it does not answer any more
    expect(new_run.locator(".launch-bar .count")).to_have_text("Not connected")
    expect(new_run.locator("#gw-offline")).to_be_visible()
    expect(new_run.locator(".gw-topbar .brand")).to_be_visible()
    attempt = new_run.get_by_role("button", name="Try one step")
    for button in (launch_button(new_run), attempt):
        expect(button).to_have_class(re.compile("blocked"))
        expect(button).to_have_accessible_description("Not connected")


def test_the_head_and_the_buttons_know_that_the_dashboard_does_not_answer_and_that_it_does_again(
    new_run: Page,
) -> None:
    worker, attempt = new_run.locator(".gw-topbar .worker"), new_run.get_by_role("button", name="Try one step")
    expect(worker).to_have_text("Worker ready")
    # What the bar asks is answered all the while: it goes by what the page has found, too.
    new_run.route("**/component_server/", refuse_edits)
    new_run.get_by_label("Steps", exact=True).fill("62")
    expect(new_run.get_by_text("The dashboard does not answer.")).to_be_visible()
    expect(worker).to_have_text("Not connected")
    for button in (launch_button(new_run), attempt):
        expect(button).to_have_class(re.compile("blocked"))
    new_run.unroute("**/component_server/", refuse_edits)
    expect(worker).to_have_text("Worker ready")
    expect(attempt).not_to_have_class(re.compile("blocked"))
    held = Held(new_run, "worker_status")  # a process that hangs refuses nothing
    expect(worker).to_have_text("Not connected", timeout=40_000)
    held.release()
    expect(worker).to_have_text("Worker ready", timeout=30_000)


def test_the_head_says_that_the_worker_is_loading_until_it_can_answer(new_run: Page) -> None:
    def loads(route: Route) -> None:
        if "worker_status" in (route.request.post_data or ""):
            reply = route.fetch()
            route.fulfill(response=reply, body=reply.text().replace('"loading":false', '"loading":true'))
        else:
            route.fallback()

    worker = new_run.locator(".gw-topbar .worker")
    expect(worker).to_have_text("Worker ready", timeout=30_000)
    new_run.route("**/component_server/", loads)
    expect(worker).to_have_text("Loading the worker…", timeout=30_000)
    new_run.set_viewport_size({"width": 375, "height": 844})  # a phone's width less a classic scrollbar
    expect(worker.locator(".long")).to_be_hidden()
    too_wide = "bar => bar.scrollWidth - bar.clientWidth"
    assert new_run.locator(".gw-topbar").evaluate(too_wide) <= 0
    new_run.locator(".gw-topbar .logout").evaluate("form => { form.hidden = false; }")
    assert new_run.locator(".gw-topbar").evaluate(too_wide) <= 0
    new_run.locator(".gw-topbar .logout").evaluate("form => { form.hidden = true; }")
    picture(new_run, "new-run-worker-loading")
    new_run.unroute("**/component_server/", loads)
    expect(worker).to_have_text("Worker ready", timeout=30_000)


def refuse_edits(route: Route) -> None:
    if "edit_settings" in (route.request.post_data or ""):
        route.abort()
    else:
        route.fallback()


def is_within(inner: Locator, outer: Locator) -> bool:
    box, around = inner.bounding_box(), outer.bounding_box()
    return bool(box and around and box["x"] + box["width"] < around["x"] + around["width"])


def test_the_name_of_the_run_that_a_time_is_known_from_has_room_in_its_sentence(new_run: Page) -> None:
    name = "Klasse 4b – mit „Antwort“ & ‹Länge> copy 2"  # its beginning and its end are to be read
    run_id = made_run(name, 12, groups=1, size=2, spec_yaml=re.sub("(?m)^name: .*", f"name: {name}", yaml_of(new_run)))
    slow_down(run_id, 2.0)
    new_run.reload()
    quoted = new_run.locator(".figures .quoted")
    expect(quoted).to_have_text("“Klasse 4b – mit „Antwort“ & ‹Läng…copy 2”")
    expect(quoted).to_have_attribute("title", name)
    for width in (1440, 390):
        new_run.set_viewport_size({"width": width, "height": 900})
        new_run.locator(".right").evaluate("node => node.scrollIntoView()")  # figures are made where they are in sight
        expect(quoted).to_be_visible()
        cuts = "words => [...words.querySelectorAll('*')].every(one => !one.scrollLeft && "
        cuts += "getComputedStyle(one).overflow === 'visible')"
        wait_for("nothing of it to be cut", lambda cuts=cuts: quoted.evaluate(cuts))  # may be drawn anew
        around = new_run.locator(".figures .figure", has=new_run.locator(".quoted"))
        wait_for("room in its sentence", lambda around=around: is_within(quoted, around))  # may be drawn anew
    picture(new_run, "new-time-of-a-long-name")
    trash.delete_run(run_id)


def test_a_helper_that_ended_says_nothing_of_the_data(new_run: Page) -> None:
    """What was reckoned of it stays, as of no file that cannot be read."""
    rows = new_run.locator(".happening")
    expect(rows).to_contain_text("prompts", timeout=20_000)
    before = rows.inner_text()
    ended = {"error": "The helper process ended before it could answer. Try again.", "field": ""}
    asked: list[object] = []  # questions about the data

    def look(route: Route) -> None:
        said = json.loads(route.request.post_data or "{}")
        about = said.get("data") or {}
        if said.get("fn_name") == "ask_worker" and about.get("kind") in ("preview", "check_data"):
            reply = route.fetch()
            asked.append(reply.json()["question"])
            return route.fulfill(response=reply)
        if said.get("fn_name") == "read_answer" and about.get("question") in asked:
            return route.fulfill(json={"answer": ended})
        return route.fallback()

    new_run.route("**/component_server/", look)
    new_run.get_by_label("System prompt").fill("Answer as a number.")
    expect(new_run.locator(".verdicts")).to_contain_text("The helper process ended")
    expect(new_run.locator(".launch-bar .count")).to_have_text("◆ 1 problem")
    new_run.wait_for_timeout(1000)  # what follows from it is worked out anew
    assert rows.inner_text() == before
    expect(new_run.locator(".preview .wait")).to_have_text("Nothing to show: the data was not read to its end.")
    new_run.unroute("**/component_server/")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("source: file:broken.jsonl", "The data cannot be read as it is set."),
        ("source: file:three.jsonl, prompt_column: question, filter: [answer > 9]", "No row is left to train on."),
    ],
)
def test_what_was_said_of_the_data_is_asked_once(new_run: Page, data: str, words: str) -> None:
    """And stands: it neither comes and goes nor keeps the worker busy."""
    (paths.data_folder() / "broken.jsonl").write_text("nonsense\n")
    (paths.data_folder() / "three.jsonl").write_text('{"question": "1+1?", "answer": 2}\n' * 3)
    show(new_run, "YAML")
    write_yaml(new_run, re.sub(r"(?s)\ndata:.*?\n(?=\w)", f"\ndata: {{{data}}}\n", yaml_of(new_run)))
    follows(new_run, data)
    happening = new_run.locator(".happening")
    expect(happening).to_have_text(words, timeout=20_000)
    new_run.wait_for_timeout(500)
    asked: list[str] = []
    new_run.on("request", lambda request: asked.append(request.post_data or ""))
    new_run.wait_for_timeout(1500)
    assert not [one for one in asked if '"edit_settings"' in one or '"ask_worker"' in one]
    expect(happening).to_have_text(words)


def test_the_keyboard_skips_to_launch(new_run: Page) -> None:
    skip = new_run.get_by_role("link", name="Skip to Launch")
    expect(skip).not_to_be_in_viewport()
    new_run.keyboard.press("Tab")
    new_run.keyboard.press("Enter")  # past the bar
    new_run.keyboard.press("Tab")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    new_run.keyboard.press("Enter")
    expect(launch_button(new_run)).to_be_focused()


def test_problems_warnings_and_advice_are_told_apart(new_run: Page) -> None:
    make_wrong(new_run, {**MANY, "KL weight": "0"})
    heads = new_run.locator(".of-level")
    expect(heads).to_have_text([
        "◆ 4 problems to fix before this can be launched", "▲ 1 warning the run can start all the same",
        "· 2 pieces of advice",
    ])  # fmt: skip
    expect(new_run.locator(".launch-bar .count span")).to_have_text(["◆ 4 problems", "▲ 1 warning"])
    levels = new_run.locator(".verdicts > *").evaluate_all("all => all.map(({ className }) => className.split(' ')[1])")
    assert levels == ["blocking"] * 5 + ["warning"] * 2 + ["advice"] * 3
    first = new_run.locator(".verdict.blocking").first
    expect(first.get_by_role("button", name="Model", exact=True)).to_be_visible()
    expect(first.get_by_role("img", name="problem:")).to_have_text("◆")
    picture(new_run, "new-problems")
    first.get_by_role("button", name="Model", exact=True).click()
    expect(new_run.get_by_label("Model", exact=True)).to_be_focused()
    for label in ("Group size", "Learning rate", "Steps"):
        new_run.get_by_label(label, exact=True).fill("")
    new_run.get_by_label("Model", exact=True).fill("starter")
    expect(new_run.locator(".of-level.blocking")).to_have_count(0)
    expect(new_run.locator(".launch-bar .count")).to_have_text("▲ 1 warning")


def test_a_limit_that_blocks_is_not_said_again_as_a_warning(new_run: Page) -> None:
    new_run.get_by_label("Max completion length", exact=True).fill("100000")
    expect(new_run.locator(".verdict.blocking", has_text="training.max_completion_length")).to_have_count(1)
    new_run.wait_for_timeout(1500)  # the worker's word, and what the checks of the data make of it
    expect(new_run.locator(".verdict", has_text="training.max_completion_length")).to_have_count(1)


def test_a_problem_calls_a_setting_as_the_form_does(new_run: Page) -> None:
    """Its label first, its name second; also where it is not on the short list."""
    show(new_run, "YAML")
    settings = "generation_batch_size: 64\n  steps_per_generation: 1\n  top_p: high"
    write_yaml(new_run, yaml_of(new_run).replace("num_generations: 8", f"num_generations: 8\n  {settings}"))
    verdict = new_run.locator(".verdict.blocking", has_text="training.generation_batch_size")
    expect(verdict).to_contain_text("Cannot be given together with “Steps per generation” (steps_per_generation).")
    expect(verdict.get_by_role("button", name="Generation batch size", exact=True)).to_be_visible()
    other = new_run.locator(".verdict.blocking", has_text="training.top_p")
    other.get_by_role("button", name="Top p", exact=True).click()
    expect(new_run.get_by_label("Top p", exact=True)).to_be_focused()
    picture(new_run, "new-labels")


def test_a_slip_of_the_yaml_hides_nothing_of_the_rest(new_run: Page) -> None:
    show(new_run, "YAML")
    text = yaml_of(new_run).replace("max_steps: 60", "max_steps: soon").replace("id: starter", "id: /no/such")
    broken = text.replace("limit: 2500", "limit: [2500").replace("beta: 0.02", "beta: 0.02\n  beta: 0.1")
    write_yaml(new_run, broken)
    verdicts = new_run.locator(".verdict.blocking")
    expect(verdicts.filter(has_text="This is not YAML")).to_have_count(1)
    expect(verdicts.filter(has_text="given twice (first in line")).to_have_count(1)
    expect(verdicts.filter(has_text="There is no folder /no/such")).to_have_count(1)
    expect(new_run.locator(".launch-bar .blocking")).to_have_text(f"◆ {verdicts.count()} problems")
    verdicts.filter(has_text="given twice").get_by_role("button", name="KL weight").click()
    selected = new_run.locator(".yaml textarea").evaluate(
        "box => box.value.slice(box.selectionStart, box.selectionEnd)"
    )
    assert selected.strip() == "beta: 0.1"


def test_what_was_changed_of_a_run_is_named_on_arrival(open_page: OpenPage, shared_dashboard: str) -> None:
    run_id = stopped_before_it_started("<b>sums</b>", presets.quickstart_text())
    asked = "set=training.max_completion_length=96&set=rewards.0.weight=0.5&set=training.top_p=0.9"
    page = open_page(f"{shared_dashboard}/new?from={run_id}&{asked}")
    told = page.locator(".arrival")
    expect(told.locator("p").first).to_have_text("From run <b>sums</b>, with:")
    expect(told.locator("li")).to_have_text(
        ["Max completion length 48 → 96", "Weight of format 1.0 → 0.5", "Top p 1.0 → 0.9"]
    )
    expect(told).to_contain_text("This is a new run, named <b>sums</b>-2. That one stays as it is.")
    expect(page.get_by_label("Name", exact=True)).to_have_value("<b>sums</b>-2")
    expect(page.get_by_label("Max completion length", exact=True)).to_have_value("96")
    picture(page, "new-from-a-verdict")
    page.get_by_label("Max completion length", exact=True).fill("64")
    expect(told.locator("li")).to_have_text(["Weight of format 1.0 → 0.5", "Top p 1.0 → 0.9"])
    page.get_by_role("button", name="Undo").click()
    expect(told.locator("li")).to_have_count(3)
    assert no_sideways_scroll(page)
    told.get_by_role("button", name="Dismiss").click()
    expect(told).to_be_hidden()
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    page.goto(f"{shared_dashboard}/new?from={run_id}")
    expect(told).to_contain_text("From run <b>sums</b>, with nothing changed.")
    page.get_by_label("Steps", exact=True).fill("7")
    expect(told).to_contain_text("From run <b>sums</b>, with what you changed since.")
    expect(told).not_to_contain_text("named")
    page.get_by_role("button", name="Undo").click()
    expect(told).to_contain_text("From run <b>sums</b>, with nothing changed.")
    told.get_by_role("link").click()
    expect(page).to_have_url(re.compile(rf"/run\?id={run_id}"))


def test_lists_and_shelves_of_other_pages_stay_in_sight(open_page: OpenPage, shared_dashboard: str) -> None:
    run_id = made_run("long", 12, metrics=lambda step: curves(step, 12, random.Random(step)))
    page = open_page(f"{shared_dashboard}/run?id={run_id}&tab=groups")
    expect(page.locator(".gw-part-groups .option").first).to_be_visible()
    page.add_style_tag(content=".gw-part-groups .gw { min-height: 3000px }")
    scroll(page, 900)
    expect(page.locator(".sides .list").first).to_be_in_viewport()
    page.goto(f"{shared_dashboard}/rewards")
    shelf = page.locator(".gw-rewards_page .shelf")
    expect(shelf).to_be_visible()
    page.add_style_tag(content=".gw-rewards_page .shelf + * { min-height: 3000px }")
    scroll(page, 900)
    expect(shelf).to_be_in_viewport()


def test_every_view_of_the_page_can_be_launched(new_run: Page) -> None:
    """From the YAML and the script, too, nobody scrolls for it."""
    for view in ("YAML", "Script"):
        show(new_run, view)
        scroll(new_run, 10**6)
        expect(launch_button(new_run)).to_be_in_viewport(ratio=0.9)
    show(new_run, "Form")
    follows(new_run, "name: arithmetic-quickstart")
