"""The Runs page as a person works with it: sort, filter, columns, the keyboard; what one chose stays meanwhile."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from groupwise.storage.record import states
from groupwise.storage.registry import labels, registry, trash
from tests.browser.conftest import OpenPage, low_targets, no_sideways_scroll, picture, set_params
from tests.browser.runs_page import COUNTER, SPEC, name_of, order, run, some, table
from tests.support.made_runs import made_run, running


@pytest.fixture(scope="module")
def home(still_dashboard: str) -> str:
    return still_dashboard


def test_a_click_or_the_keyboard_sorts_and_the_address_keeps_it(open_page: OpenPage, home: str) -> None:
    word, (high, low) = some(2)
    registry.set_facts(high, reward=9.0)
    registry.set_facts(low, reward=1.0)
    page = table(open_page, home, word, 2)
    order(page, [low, high])
    head = page.locator('th:has([data-sort="reward"])')
    expect(head).to_have_attribute("aria-sort", "none")
    page.locator('[data-sort="reward"]').click()
    order(page, [high, low])
    expect(head).to_have_attribute("aria-sort", "descending")
    page.locator('[data-sort="reward"]').focus()
    page.keyboard.press("Enter")
    order(page, [low, high])
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(page.locator('[data-sort="reward"]')).to_be_focused()
    expect(page).to_have_url(re.compile("sort=reward"))
    page.reload()
    order(page, [low, high])
    expect(head).to_have_attribute("aria-sort", "ascending")
    page.go_back()
    order(page, [high, low])


def test_states_and_words_narrow_the_table_and_stand_in_the_address(open_page: OpenPage, home: str) -> None:
    word, (done,) = some(1)
    broken = made_run(f"{word} broken", 3, groups=0, state=states.FAILED)
    page = table(open_page, home, word, 2)
    chip = page.locator('.chip[data-state="failed"]')
    expect(chip).to_have_text("Failed 1")
    chip.click()
    order(page, [broken])
    expect(chip).to_have_attribute("aria-pressed", "true")
    page.reload()
    order(page, [broken])
    chip.click()
    order(page, [broken, done])
    page.get_by_label("Search runs").fill(f"{word} nothing")
    expect(page.locator(".none")).to_contain_text(f"No run matches “{word} nothing”.")
    page.get_by_label("Search runs").fill(f"{word} broken")
    order(page, [broken])
    page.wait_for_url("**broken**")
    page.get_by_label("Search runs").fill("")
    chip.click()  # at once: what stands in the field is what counts
    page.wait_for_url(lambda url: "state=failed" in url and "q=" not in url)
    expect(run(page, broken)).to_be_visible()
    expect(page.get_by_label("Search runs")).to_have_value("")
    page.go_back()
    expect(run(page, done)).to_be_visible()
    assert "q=" not in page.url


def test_columns_of_any_setting_or_metric_are_remembered_and_shared(
    context: BrowserContext, open_page: OpenPage, home: str
) -> None:
    word, (one,) = some(1, training={"learning_rate": 3e-4})
    page = table(open_page, home, word, 1)
    page.get_by_role("button", name="Columns").click()
    chooser = page.get_by_role("dialog", name="Columns")
    chooser.get_by_label("Search columns").fill("learning")
    chooser.get_by_label("training.learning_rate").check()
    chooser.get_by_label("Search columns").fill("kl")
    chooser.get_by_label("kl", exact=True).check()
    chooser.get_by_label("Search columns").fill("launched")
    chooser.get_by_label("launched").uncheck()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Columns")).to_be_focused()
    expect(run(page, one).locator('[data-label="Learning rate"]')).to_have_text("3e-4")
    expect(run(page, one).locator('[data-label="kl"]')).to_have_text(re.compile(r"0\.\d+"))
    expect(page.locator('[data-sort="created"]')).to_have_count(0)
    page.locator('[data-sort="name"]').click()
    page.wait_for_url("**sort=name**")
    shared = page.url
    again = open_page(f"{home}/?q={word}")
    expect(again.locator('th:has([data-sort="name"])')).to_have_attribute("aria-sort", "ascending")
    expect(run(again, one).locator('[data-label="Learning rate"]')).to_have_text("3e-4")
    again.evaluate("localStorage.clear()")
    theirs = open_page(shared)
    expect(run(theirs, one).locator('[data-label="kl"]')).to_have_text(re.compile(r"0\.\d+"))
    theirs.get_by_role("button", name="Columns").click()
    theirs.get_by_role("button", name="Usual columns").click()
    expect(theirs.locator('[data-sort="created"]')).to_have_count(1)
    expect(theirs.locator('[data-label="kl"]')).to_have_count(0)


def test_many_columns_fit_beside_each_other_and_long_names_give_way(open_page: OpenPage, home: str) -> None:
    word = f"test{next(COUNTER)}"
    long = made_run(f"{word} a name as long as names of experiments are when they say all", 12, groups=1, size=2)
    other = made_run(f"{word} short", 12, groups=1, size=2, training={"beta": 0.5})
    usual = "spark,reward,step,duration,data,created"
    page = table(open_page, home, word, 2, f"&cols={usual},set:training.learning_rate,set:training.beta,metric:kl")
    expect(run(page, other).locator('[data-label="KL weight"]')).to_have_text("0.5")
    fits = "() => [...document.querySelectorAll('.panel.flush')].every(box => box.scrollWidth <= box.clientWidth)"
    page.wait_for_function(fits)
    expect(run(page, long).locator(".title")).to_have_attribute("title", name_of(long))
    expect(run(page, long).locator(".title")).to_have_text(name_of(long))
    start, end = (run(page, long).locator(".kept-end > span").nth(n) for n in (0, 1))
    whole = "node => node.scrollWidth <= node.clientWidth || getComputedStyle(node).display === 'inline'"
    assert not start.evaluate(whole) and end.evaluate(whole), "a name is cut in its middle: copies differ at their ends"
    assert (
        end.bounding_box()["x"] + end.bounding_box()["width"]
        <= run(page, long).locator("td").nth(2).bounding_box()["x"]
    )
    tools = run(page, long).locator(".edits")
    seen = "node => getComputedStyle(node).opacity"
    page.mouse.move(5, 5)
    assert tools.evaluate(seen) == "0"
    run(page, long).get_by_role("checkbox").focus()  # by keyboard the tools are there
    assert tools.evaluate(seen) == "1"
    page.get_by_role("button", name="Columns").click()
    groups = page.locator(".chooser legend")
    expect(groups).to_have_text(["Basics", "Settings that differ", "Other settings", "Metrics"])
    expect(page.locator(".chooser fieldset").nth(1)).to_contain_text("training.beta")
    page.set_viewport_size({"width": 390, "height": 844})
    title = run(page, long).locator(".title")
    assert title.evaluate("node => node.scrollWidth <= node.clientWidth"), "the whole name can be read"
    for what in (run(page, long).get_by_role("checkbox"), run(page, long).get_by_role("button", name="Rename")):
        box = what.bounding_box()
        assert box and min(box["width"], box["height"]) >= 24, box
    cut = """() => [...document.querySelectorAll("tbody td[data-label]")].filter((cell) => {
      const label = getComputedStyle(cell, "::before");
      return label.display !== "none" && cell.scrollWidth > cell.clientWidth;
    }).map((cell) => cell.dataset.label)"""
    assert page.evaluate(cut) == [] and low_targets(page) == []


def test_what_is_typed_of_a_run_is_saved_as_one_turns_to_something_else_of_it(open_page: OpenPage, home: str) -> None:
    """Seen: the focus stayed in the note, which got the tags that were typed next."""
    word, (one,) = some(1)
    page = table(open_page, home, word, 1)
    row = run(page, one)
    row.hover()
    row.get_by_role("button", name="Edit note").click()
    page.keyboard.type("half a thought")
    row.get_by_role("button", name="Edit tags").click()
    expect(row.get_by_label("Tags, with commas between")).to_be_focused()
    page.keyboard.type("paper")
    row.get_by_role("button", name="Edit note").click()
    expect(row.get_by_label("Note", exact=True)).to_be_focused()
    expect(row.get_by_label("Note", exact=True)).to_have_value("half a thought")
    page.keyboard.press("Escape")
    expect(row.locator(".tag")).to_have_text(["paper"])
    expect(row.locator("bdi.note")).to_have_text("half a thought")


def test_a_short_name_tag_and_note_have_two_lines_on_a_phone(open_page: OpenPage, home: str) -> None:
    """They had four: the name, what edits, the tags and the note."""
    word, (one,) = some(1)
    labels.retag([one], add=["paper"])
    labels.write_note(one, "short")
    page = table(open_page, home, word, 1)
    page.set_viewport_size({"width": 390, "height": 844})
    middle = "node => { const { top, bottom } = node.getBoundingClientRect(); return (top + bottom) / 2 }"
    row = run(page, one)
    for left, right in ((".title", ".edits"), (".tag", "bdi.note")):
        apart = abs(row.locator(left).evaluate(middle) - row.locator(right).evaluate(middle))
        assert apart <= 4, (left, right, apart)
    labels.write_note(one, "a note that is longer than what a phone has beside a tag")
    expect(row.locator("bdi.note")).to_contain_text("longer")
    assert row.locator("bdi.note").evaluate(middle) > row.locator(".tag").evaluate(middle) + 10
    assert low_targets(page) == [] and no_sideways_scroll(page)


def test_one_more_column_leaves_the_state_its_width(open_page: OpenPage, home: str) -> None:
    word, (one,) = some(1, state=states.STOPPED)
    usual = "spark,reward,step,duration,data,created"
    page = table(open_page, home, word, 1, f"&cols={usual},metric:kl")
    words = run(page, one).locator(".state .pill > span")
    expect(words).to_contain_text("verdict")
    picture(page, "runs-one-more-column")
    box = run(page, one).locator(".state .pill").bounding_box()
    assert box and box["width"] > 220 and box["height"] < 45, "two lines, also of longer verdicts"


def test_a_reason_takes_what_room_the_other_columns_leave(open_page: OpenPage, home: str) -> None:
    """It was cut at 190 px beside a name that left half of the row empty."""
    word, _ = some(1)
    failed = made_run(f"{word} broken", 3, groups=0, state=states.FAILED)
    sentence = "The GPU ran out of memory while it generated completions at step 12. Use fewer completions per step."
    registry.set_state(running(failed), states.FAILED, sentence)
    page = table(open_page, home, word, 2)
    reason = page.locator(f'tr[data-run="{failed}"] .why')
    inside = """node => { const { right } = node.getBoundingClientRect(); const cell = node.closest("td");
      const scroller = node.closest(".panel");
      return right <= cell.getBoundingClientRect().right && scroller.scrollWidth <= scroller.clientWidth }"""
    for width, least in ((1440, 300), (1100, 190), (390, 190)):
        page.set_viewport_size({"width": width, "height": 900})
        picture(page, f"runs-reason-{width}")
        assert reason.evaluate(inside) and no_sideways_scroll(page), width
        box = reason.bounding_box()
        assert box and box["width"] >= least, (width, box)
    assert reason.evaluate("node => node.scrollHeight <= node.clientHeight")


def test_nothing_that_happens_takes_away_what_is_written_chosen_or_focused(open_page: OpenPage, home: str) -> None:
    word, (one, two) = some(2)
    page = table(open_page, home, word, 2)
    run(page, two).get_by_role("checkbox").check()
    expect(run(page, one).locator(".edits")).to_have_css("opacity", "0")
    run(page, one).locator("td").last.hover()  # anywhere in its row
    expect(run(page, one).locator(".edits")).to_have_css("opacity", "1")
    run(page, one).get_by_role("button", name="Edit note").click()
    page.keyboard.type("half a thou")
    third = made_run(f"{word} 2", 3, groups=0)
    labels.rename(one, f"{word} renamed elsewhere")
    labels.write_note(one, "said by another")
    registry.set_facts(two, reward=5.0)
    expect(page.locator("tbody tr")).to_have_count(3)
    expect(run(page, two).locator('[data-label="reward"]')).to_have_text("5.00")
    page.keyboard.type("ght")
    expect(run(page, one).get_by_label("Note", exact=True)).to_have_value("half a thought")
    expect(run(page, one).get_by_label("Note", exact=True)).to_be_focused()
    run(page, one).get_by_role("button", name="Edit tags").click()
    told = "The note has since been changed to “said by another”."
    first = f"{told} Save or cancel the note first."
    expect(run(page, one).locator(".editing .problem")).to_have_text(first)
    page.keyboard.type("into no field")
    expect(run(page, one).get_by_label("Note", exact=True)).to_have_value("half a thought")
    set_params(page, {"deleted": "1"})
    expect(run(page, one)).to_be_hidden()  # it is none of the deleted ones
    set_params(page, {"deleted": None})
    expect(run(page, one).get_by_label("Note", exact=True)).to_have_value("half a thought")
    run(page, one).get_by_label("Note", exact=True).focus()
    expect(run(page, two).get_by_role("checkbox")).to_be_checked()
    page.locator('[data-sort="name"]').click()
    order(page, [two, third, one])
    expect(run(page, one).get_by_label("Note", exact=True)).to_have_value("half a thought")
    expect(run(page, one).get_by_role("alert")).to_have_text(first)
    expect(run(page, one).get_by_label("Note", exact=True)).to_have_value("half a thought")
    expect(run(page, one).get_by_role("alert")).to_be_in_viewport(ratio=1)
    picture(page, "runs-written-meanwhile")
    run(page, one).get_by_role("button", name="Keep the other").click()
    expect(run(page, one).locator("bdi.note")).to_have_text("said by another")
    run(page, one).get_by_role("button", name="Edit note").click()
    labels.write_note(one, "said again")
    run(page, one).get_by_label("Note", exact=True).fill("half a thought")
    page.keyboard.press("Enter")
    run(page, one).get_by_role("button", name="Keep mine").click()
    expect(run(page, one).locator("bdi.note")).to_have_text("half a thought")
    run(page, one).get_by_role("button", name="Edit tags").click()
    labels.retag([one], add=["theirs"])
    run(page, one).get_by_label("Tags, with commas between").fill("mine")
    page.keyboard.press("Enter")
    expect(run(page, one).locator(".tag")).to_have_text(["mine", "theirs"])
    expect(run(page, one).locator(".title")).to_have_text(f"{word} renamed elsewhere")
    run(page, two).get_by_role("checkbox").focus()
    registry.set_facts(two, reward=6.0)
    expect(run(page, two).locator('[data-label="reward"]')).to_have_text("6.00")
    expect(run(page, two).get_by_role("checkbox")).to_be_focused()


def test_the_keyboard_does_it_all(open_page: OpenPage, home: str) -> None:
    word, ids = some(4)
    page = table(open_page, home, word, 4)
    page.keyboard.press("/")
    expect(page.get_by_label("Search runs")).to_be_focused()
    page.locator("tbody .pick input").first.focus()
    for keys in ("Shift+ArrowDown", "Shift+ArrowDown"):
        page.keyboard.press(keys)
    expect(page.locator(".choosing .many")).to_have_text("3 runs chosen")
    page.keyboard.press("Escape")
    expect(page.locator(".choosing")).to_be_hidden()
    page.locator("tbody .pick input").first.focus()
    page.keyboard.press("F2")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(f"{word} by keyboard")
    page.keyboard.press("Enter")
    expect(run(page, ids[3]).locator(".title")).to_have_text(f"{word} by keyboard")
    page.locator("tbody .pick input").nth(1).focus()
    page.keyboard.press("Delete")
    order(page, [ids[3], ids[1], ids[0]])
    expect(page.locator(".undo span")).to_have_text("1 run deleted.")
    for gone, next_one in ((1, 0), (0, 3)):  # the row below takes the focus, below the last the one above
        expect(run(page, ids[gone]).get_by_role("checkbox")).to_be_focused()
        page.keyboard.press("Delete")
        expect(run(page, ids[next_one]).get_by_role("checkbox")).to_be_focused()
    page.get_by_label("Search runs").focus()
    page.keyboard.press("ControlOrMeta+z")  # a text field's own
    expect(page.locator(".undo")).to_be_visible()
    page.locator("tbody .pick input").first.focus()
    page.keyboard.press("ControlOrMeta+z")
    order(page, [ids[3], ids[0]])
    expect(page.locator(".undo")).to_be_hidden()
    page.keyboard.press("ControlOrMeta+z")  # once
    order(page, [ids[3], ids[0]])


def test_what_a_run_came_to_stands_beside_its_state_and_the_queue_says_who_is_next(
    open_page: OpenPage, home: str
) -> None:
    word, (bad,) = some(1)
    fell: dict[str, Any] = {"metrics": lambda step: {"reward": 2.0 - step / 30, "kl": 0.01}}
    bad = made_run(f"{word} bad", 40, groups=0, resumed_at=9, **fell)
    live_now = running(made_run(f"{word} live", 5, groups=0, state=states.STOPPED))
    waits = [registry.create_run(SPEC, name=f"{word} waits", model="starter", data="task:arithmetic") for _ in range(2)]
    page = table(open_page, home, word, 5)
    expect(run(page, bad).locator(".pill.bad")).to_have_text("Finished · verdict: the reward fell")
    expect(run(page, live_now).locator(".pill.run")).to_have_text("Running")
    usual_columns_fit_beside_a_long_state(page, bad)
    places = [run(page, one).locator(".pill").inner_text() for one in waits]
    assert [int(re.findall(r"(\d+)(?:st|nd|rd|th) in queue", place)[0]) for place in places] == sorted(
        int(re.findall(r"\d+", place)[0]) for place in places
    )
    for one in (live_now, *waits):
        expect(run(page, one).get_by_role("checkbox")).to_be_visible()
        run(page, one).get_by_role("checkbox").check()
    run(page, live_now).get_by_role("checkbox").uncheck()
    page.locator(".choosing").get_by_role("button", name="Remove 2 from the queue", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text("Remove 2 from the queue?They will not start.")
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    run(page, live_now).get_by_role("checkbox").check()
    page.locator(".choosing").get_by_role("button", name="Stop 3 runs", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text("Stop 3 runs?")
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert no_sideways_scroll(page)
    picture(page, "runs")


def usual_columns_fit_beside_a_long_state(page: Page, run_id: str) -> None:
    """At 1280 px, for a run that was resumed, too."""
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(run(page, run_id).locator('[data-label="step"]')).to_have_text("40 resumed from 9")
    expect(run(page, run_id).locator(".from")).to_be_visible()
    words = run(page, run_id).locator(".pill > span")
    spare = words.evaluate("""words => {
        words.textContent = "Finished · the prompts are too hard";
        const box = words.closest(".panel.flush");
        return box.clientWidth - box.scrollWidth;
    }""")
    assert spare >= 0
    assert words.evaluate("words => words.offsetHeight") < 24, "a long verdict stands in one line"
    words.evaluate("words => { words.textContent = 'Finished · the temperature is too low for so small a model'; }")
    assert words.evaluate("words => words.scrollHeight <= words.clientHeight"), "a longer one in two, and whole"
    run(page, run_id).get_by_role("checkbox").focus()
    page.keyboard.press("Tab")  # by keyboard: all of it is there
    expect(words).to_have_css("-webkit-line-clamp", "none")
    page.set_viewport_size({"width": 390, "height": 844})  # as a card
    step = run(page, run_id).locator('[data-label="step"] > bdi').bounding_box()
    assert step and step["width"] >= 12, "its step stands beside “resumed from 9”"
    page.set_viewport_size({"width": 1440, "height": 900})


def test_the_chosen_runs_have_their_colours_in_compare_and_compare_is_in_the_navigation(
    open_page: OpenPage, home: str
) -> None:
    word, ids = some(3)
    registry.set_facts(ids[0], number=7)
    registry.set_facts(ids[1], number=27)  # of the same colour by itself
    page = table(open_page, home, word, 3)
    for run_id in ids:
        run(page, run_id).get_by_role("checkbox").check()
    colour = "node => getComputedStyle(node).backgroundColor"
    page.wait_for_function(
        "() => new Set([...document.querySelectorAll('tbody .dot')].map(dot => dot.style.background)).size === 3"
    )
    page.wait_for_timeout(1500)
    seen = [run(page, run_id).locator(".dot").evaluate(colour) for run_id in ids]
    assert len(set(seen)) == 3
    page.locator('[data-sort="name"]').click()
    order(page, ids)
    page.locator(".choosing").get_by_role("link", name="Compare").click()
    page.wait_for_selector(".gw-compare[data-drawn]")
    page.go_back()  # everything is as it was left
    order(page, ids)
    expect(page.locator(".choosing .many")).to_have_text("3 runs still chosen")
    expect(run(page, ids[0]).get_by_role("checkbox")).to_be_checked()
    page.reload()
    expect(page.locator(".choosing .many")).to_have_text("3 runs still chosen")
    trash.delete_run(ids[2])  # elsewhere
    expect(page.locator(".choosing .many")).to_have_text("2 runs still chosen")
    expect(page.locator(".choosing .words")).to_have_text("1 run deleted since then")
    trash.restore_run(ids[2])
    run(page, ids[2]).get_by_role("checkbox").check()
    expect(page.locator(".choosing .many")).to_have_text("3 runs chosen")
    expect(page.locator(".choosing .words")).to_have_text("2 of them from before")
    page.locator(".choosing").get_by_role("button", name="Delete 3 runs", exact=True).click()
    question = page.get_by_role("dialog")
    expect(question).to_contain_text(f"“{word} 0”, “{word} 1” and “{word} 2”. Deleted runs can be restored")
    picture(page, "runs-delete-from-before")
    question.get_by_role("button", name="Cancel").click()
    page.wait_for_timeout(1500)
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Compare").click()
    page.wait_for_selector(".gw-compare[data-drawn]")
    drawn = "node => getComputedStyle(node).stroke"
    assert [page.locator(f'.chosen[data-run="{run_id}"] line').evaluate(drawn) for run_id in ids] == seen
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Compare").click()
    expect(page.get_by_role("heading", name="Choose runs to compare")).to_be_visible()
    expect(page.locator(".choose .go")).to_have_attribute("aria-disabled", "true")
    page.get_by_role("checkbox", name=f"{word} 0").check()
    page.get_by_role("checkbox", name=f"{word} 2").check()
    assert no_sideways_scroll(page)
    picture(page, "compare-empty")
    page.get_by_role("link", name="Compare 2 runs").click()
    expect(page.locator(".chosen")).to_have_count(2)
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Runs").click()  # not Back: begun anew
    page.wait_for_selector("[data-drawn=yes]")
    expect(page.locator(".choosing")).to_be_hidden()
    page.goto(f"{home}/?q={word}")
    order(page, ids)
    expect(page.locator("tbody :checked")).to_have_count(0)
