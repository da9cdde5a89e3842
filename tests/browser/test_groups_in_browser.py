"""The Groups of a run in a browser: by keys and by buttons, from a step to a completion and to its prompt's past."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from groupwise.storage.registry import notes
from tests.browser.conftest import OpenPage, no_sideways_scroll, picture
from tests.support.made_runs import made_run


@pytest.fixture(scope="module")
def made(reading_dashboard: str) -> str:
    """12 steps of 3 groups of the same 3 prompts; the second attempt began after step 4."""
    return made_run("walked", 12, groups=3, size=4, prompts=3, resumed_at=4, eval_every=6)


def at(page: Page, **expected: str | None) -> None:
    """Wait until the address says this."""
    for name, value in expected.items():
        pattern = rf"[?&]{name}={value}(&|$)" if value is not None else rf"^((?![?&]{name}=).)*$"
        expect(page).to_have_url(re.compile(pattern))


def chosen(page: Page) -> str | None:
    return page.locator(".options [aria-selected=true]").get_attribute("data-group")


def test_a_person_reads_groups(open_page: OpenPage, reading_dashboard: str, made: str) -> None:
    page = open_page(f"{reading_dashboard}/run?id={made}&tab=groups&step=7")
    expect(page.locator(".one .comp")).to_have_count(4)
    keys_lead_through_steps_groups_and_completions(page)
    a_star_and_a_note_stay(page, made)
    the_best_comes_first(page)
    differences_are_marked(page)
    the_same_prompt_then_and_now(page)
    the_past_before_a_resume_is_reached(page)
    assert no_sideways_scroll(page)


def keys_lead_through_steps_groups_and_completions(page: Page) -> None:
    page.keyboard.press("]")
    at(page, step="8")
    expect(page.locator(".where")).to_have_text("group at step 8")
    page.keyboard.press("[")
    at(page, step="7")
    expect(page.locator(".where")).to_have_text("group at step 7")
    first = chosen(page)
    page.keyboard.press("j")
    expect(page.locator(".options [role=option]").nth(1)).to_have_attribute("aria-selected", "true")
    at(page, group=str(chosen(page)))
    page.keyboard.press("k")
    at(page, group=str(first))
    expect(page.locator(f".one .comp[data-group='{first}']")).to_have_count(4)
    page.keyboard.press("n")
    page.keyboard.press("n")
    expect(page.locator(".one .comp").nth(1)).to_be_focused()
    expect(page.locator(".one .comp").nth(1)).to_have_attribute("aria-current", "true")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("next or previous group")
    page.keyboard.press("j")  # not while the dialog is open
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.locator(".gw-groups .step").first.focus()
    page.keyboard.press("]")  # nor in a field
    at(page, step="7", group=str(first))


def a_star_and_a_note_stay(page: Page, run_id: str) -> None:
    card = page.locator(".one .comp[aria-current=true]")
    card.focus()
    page.keyboard.press("s")
    expect(card.get_by_role("button", name="Star")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("a")
    field = card.get_by_label("Note on this completion")
    field.fill("not this")
    field.press("Escape")
    expect(field).to_be_hidden()
    card.get_by_role("button", name="Add a note").dblclick()
    expect(field).to_be_focused()
    page.keyboard.type("so")  # in the field: it is no key of the page
    expect(card.get_by_role("status")).to_have_text("Saved")
    picture(page, "groups-note-typed")
    expect(card.get_by_role("button", name="Star")).to_have_attribute("aria-pressed", "true")
    assert [note.words for note in notes.of_run(run_id)] == ["so"]
    field.press("Escape")
    expect(field).to_be_hidden()
    assert [note.words for note in notes.of_run(run_id)] == [""]
    card.get_by_role("button", name="Add a note").click()
    field.fill("<b>guesses</b>")
    field.press("Enter")
    expect(card.locator(".words")).to_have_text("<b>guesses</b>")
    page.reload()
    card = page.locator(".one .comp[aria-current=true]")
    expect(card).to_be_in_viewport()
    expect(card.locator(".words")).to_have_text("<b>guesses</b>")
    expect(page.locator(".options [aria-selected=true] .starred")).to_be_visible()
    group, idx = card.get_attribute("data-group"), card.get_attribute("data-idx")
    assert notes.starred_completions(run_id) == [(int(str(group)), int(str(idx)))]
    assert [note.words for note in notes.of_run(run_id)] == ["<b>guesses</b>"]


def the_best_comes_first(page: Page) -> None:
    page.get_by_role("button", name="worst").click()
    at(page, pick="worst", group=None)
    means = [float(mean) for mean in page.locator(".options .n:nth-child(3)").all_inner_texts()]
    expect(page.locator(".options [role=option]").first).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="best", exact=True).click()
    at(page, pick="best")
    expect(page.locator(".options .n:nth-child(3)").first).to_have_text(re.compile(rf"^{max(means):g}"))
    page.get_by_role("button", name="random").click()
    at(page, pick="random", group=r"\d+")


def differences_are_marked(page: Page) -> None:
    page.get_by_label("differences from").select_option("completion 2")
    at(page, diff="1")
    expect(page.locator(".one .comp.reference")).to_have_attribute("data-idx", "1")
    heads_of_cards_are_whole(page)
    picture(page, "run-groups-differences")
    page.locator(".where").click()  # leaves the field
    page.keyboard.press("d")
    at(page, diff=None)
    expect(page.locator(".one .comp.reference")).to_have_count(0)


def heads_of_cards_are_whole(page: Page) -> None:
    """With all that a card's head can say, the reference's too, where three cards stand beside each other."""
    usual = page.viewport_size
    assert usual is not None
    best = page.locator(".one .comp.reference header > .row").first
    best.evaluate("node => node.insertAdjacentHTML('beforeend', '<span class=\"badge times\">12 ×</span>')")
    for width in (1280, 1110):
        page.set_viewport_size({"width": width, "height": 800})
        cut = """cards => cards.flatMap((card) => [...card.querySelectorAll("header *")].filter((part) => {
            const [a, b] = [part.getBoundingClientRect(), card.getBoundingClientRect()];
            return a.right > b.right || a.left < b.left;
        }).map((part) => part.outerHTML))"""
        assert page.locator(".one .comp").evaluate_all(cut) == []
    page.set_viewport_size(usual)


def the_same_prompt_then_and_now(page: Page) -> None:
    page.get_by_role("button", name="Then and now").click()
    expect(page.get_by_role("heading", name="This prompt over time")).to_be_visible()
    expect(page.locator(".same .js-plotly-plot")).to_be_visible()
    expect(page.locator(".pairs h3").first).to_contain_text("Then: step 1")
    expect(page.locator(".pairs h3").nth(1)).to_contain_text("Now: step 7")
    page.locator(".same").get_by_label("now").select_option(index=1)
    expect(page.locator(".pairs h3").nth(1)).to_contain_text("Now: step 2")
    page.get_by_label("each completion").check()
    expect(page.locator(".pairs .comp")).to_have_count(8)
    picture(page, "run-same-prompt")
    page.reload()
    expect(page.locator(".pairs .comp")).to_have_count(8)
    expect(page.locator(".pairs h3").nth(1)).to_contain_text("Now: step 2")


def the_past_before_a_resume_is_reached(page: Page) -> None:
    over = page.locator(".same select[name=then] option", has_text="attempt 1, trained again later").first
    page.locator(".same select[name=then]").select_option(str(over.get_attribute("value")))
    expect(page.locator(".pairs h3").first).to_contain_text("of attempt 1, trained again later")
    page.locator(".pairs").get_by_role("button", name="Open the group").first.click()
    at(page, prompt=None, group=str(over.get_attribute("value")))
    expect(page.locator(".one .prompt")).to_contain_text("From attempt 1, before the run was resumed")
    page.go_back()
    expect(page.locator(".pairs h3").first).to_contain_text("of attempt 1, trained again later")


def test_from_a_curve_to_the_same_prompt_earlier(open_page: OpenPage, reading_dashboard: str, made: str) -> None:
    page = open_page(f"{reading_dashboard}/run?id={made}")
    plot = page.locator('[data-chart="reward"] .nsewdrag')
    expect(plot).to_be_visible()
    box = plot.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + box["height"] / 2)
    page.wait_for_url(re.compile(r"tab=groups&step=\d+"))
    step = re.findall(r"step=(\d+)", page.url)[0]
    assert 8 <= int(step) <= 11  # the point that was clicked
    expect(page.locator(".where")).to_have_text(f"group at step {step}")
    option = page.locator(".options [role=option]").nth(1)
    asked = (option.locator(".what").text_content() or "").strip()
    option.click()
    expect(page.locator(".one .asked")).to_have_text(asked)
    page.get_by_role("button", name="Then and now").click()
    expect(page.locator(".same .asked")).to_have_text(asked)
    expect(page.locator(".pairs h3").first).to_contain_text("Then: step 1")
    expect(page.locator(".pairs h3").nth(1)).to_contain_text(f"Now: step {step}")
    expect(page.locator(".pairs .comp").first).to_be_visible()


def test_an_address_of_one_completion_alone_leads_to_it(open_page: OpenPage, reading_dashboard: str, made: str) -> None:
    page = open_page(f"{reading_dashboard}/run?id={made}&tab=groups&group=5&idx=3")
    at(page, step="2")
    expect(page.locator(".one .comp[data-group='5'][data-idx='3']")).to_have_attribute("aria-current", "true")
    expect(page.locator(".where")).to_have_text("group at step 2")
    expect(page.locator(".options [aria-selected=true]")).to_have_attribute("data-group", "5")
    for strange in ("&group=99999", "&prompt=99999", "&group=<b>&idx=-1&diff=<b>&pick=<b>&step=1e99"):
        page = open_page(f"{reading_dashboard}/run?id={made}&tab=groups{strange}")
        expect(page.locator(".gw-groups")).to_contain_text(re.compile("There is no such|group at step"))


def test_a_step_beyond_the_last_leads_to_it_and_a_part_that_is_not_answered_says_so(
    open_page: OpenPage, reading_dashboard: str, made: str
) -> None:
    page = open_page(f"{reading_dashboard}/run?id={made}&tab=groups&step=99999")
    at(page, step="12")
    expect(page.locator(".gw-groups .astray")).to_have_text(
        "There is no step 99,999 here: this is step 12, the nearest with groups."
    )
    picture(page, "groups-astray")
    # pressed faster than a step is drawn: each counts
    page.locator(".gw-groups .earlier").evaluate("button => [1, 2, 3].forEach(() => button.click())")
    at(page, step="9")
    page.keyboard.press("]")
    page.keyboard.press("]")
    at(page, step="11")
    expect(page.locator(".where")).to_have_text("group at step 11")
    astray = page.locator(".gw-groups .astray")
    expect(astray).to_be_hidden()

    # what is typed is a step, or is said to be none; and the box has the step that is shown
    box = page.get_by_label("Step number")
    box.select_text()
    page.locator(".gw-groups .earlier").dispatch_event("click")  # as another step is drawn by itself
    expect(box).to_have_value("10")
    page.keyboard.type("11")  # over what is selected still
    expect(box).to_have_value("11")
    box.press("Enter")
    at(page, step="11")
    for words, why, step in (
        ("999", "There is no step 999 here: this is step 12, the nearest with groups.", "12"),
        ("2,5", "“2,5” is not a step: type a whole number from 1 to 12.", "12"),
        ("abc", "“abc” is not a step: type a whole number from 1 to 12.", "12"),
        ("8", None, "8"),
    ):
        box.fill(words)
        box.press("Enter")
        at(page, step=step)
        expect(box).to_have_value(step)
        expect(astray).to_have_text(why) if why else expect(astray).to_be_hidden()
        if words == "999":  # once: nothing is wrong with step 12 when one comes back to it
            page.locator(".gw-groups .earlier").click()
            at(page, step="11")
            page.locator(".gw-groups .later").click()
            at(page, step="12")
            expect(page.locator(".where")).to_have_text("group at step 12")
            expect(astray).to_be_hidden()
            box.fill(words)
            box.press("Enter")
            expect(astray).to_have_text(why)
            page.get_by_role("tab", name="Statistics").click()
            page.get_by_role("tab", name="Groups").click()
            expect(page.locator(".where")).to_be_visible()
            expect(astray).to_be_hidden()
    box.press("ArrowDown")
    at(page, step="7")
    page.get_by_role("button", name="held-out", exact=True).click()
    expect(astray).to_have_text("There was no evaluation at step 7: this is the one at step 6, the nearest.")
    expect(page.locator(".where")).to_have_text("held-out at step 6")
    at(page, step="6", mode="eval")

    page.goto(f"{reading_dashboard}/run?id={made}")
    expect(page.locator(".now dt", has_text="Tied groups")).to_have_attribute(
        "title", "all rewards alike: no learning signal; top score: the highest seen, where scores differ"
    )
    lies = """() => ['.annotation', '.nsewdrag'].map(part => document.querySelector('.gw-overview figure ' + part)
        .getBoundingClientRect())"""
    page.locator(".gw-overview figure .annotation").first.wait_for()
    label, curves = page.evaluate(lies)
    assert label["bottom"] <= curves["top"] + 1, "the attempt's name lies over the curves"
    picture(page, "run-two-attempts")

    page.route("**/component_server/", lambda route: route.abort())
    page.get_by_role("tab", name="Statistics").click()
    page.locator(".gw-statistics[data-unanswered]").wait_for()
    said = "part => getComputedStyle(part, '::before').content"
    assert "has not answered yet" in page.locator(".gw-statistics").evaluate(said)
    picture(page, "run-unanswered")
    page.unroute("**/component_server/")
    expect(page.locator(".gw-statistics[data-unanswered]")).to_have_count(0)


def test_a_prompt_that_came_once_has_no_then_and_no_before(open_page: OpenPage, reading_dashboard: str) -> None:
    """It stood beside itself, as the very same text both times, and had one number “before” and “lately”."""
    run_id = made_run("once", 1, groups=1, prompts=1)
    page = open_page(f"{reading_dashboard}/run?id={run_id}&tab=groups&prompt=1")
    same = page.locator(".same")
    expect(same.get_by_text("Seen once, at step 1: nothing to compare.")).to_be_visible()
    expect(same.get_by_role("heading", name="Step 1")).to_be_visible()
    expect(same.locator(".comp")).to_have_count(1)
    expect(same.get_by_label("then", exact=True)).to_be_hidden()
    expect(same.locator(".hint")).to_be_hidden()
    picture(page, "seen-once")
    again = made_run("seen again", 30, groups=1, prompts=31, resumed_at=29)
    page.goto(f"{reading_dashboard}/run?id={again}&tab=groups&prompt=30")
    expect(same.get_by_text("Seen once, at step 30, and 1 time in a step that a later attempt trained")).to_be_visible()
    expect(same.locator(".pairs h3").first).to_have_text(re.compile("^Then: step 30 of attempt 1, trained again later"))
    expect(same.locator(".xtick text").first).to_be_visible()
    ticks = same.locator(".xtick text").all_text_contents()
    assert all(tick.isdecimal() for tick in ticks), f"steps are whole: {ticks}"
    picture(page, "seen-again")
    page.goto(f"{reading_dashboard}/run?id={run_id}&tab=statistics")
    table = page.locator('[data-panel="prompts"] table')
    expect(table.locator("th")).to_have_text(["prompt", "step 1", "solved"])
    page.locator('[data-panel="prompts"]').scroll_into_view_if_needed()
    picture(page, "seen-once-table")
