"""What a person changes on the Runs page: names, notes and tags, many runs at once, what is deleted and taken back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from groupwise.storage.record import states
from groupwise.storage.registry import labels, registry, trash
from tests.browser.conftest import OpenPage, no_sideways_scroll, picture
from tests.browser.runs_page import SPEC, name_of, order, run, some, table
from tests.support.homes import wait_for
from tests.support.made_runs import made_run, running

HOSTILE = '<img src=x onerror=alert(1)>"\u202e'


@pytest.fixture(scope="module")
def home(still_dashboard: str) -> str:
    return still_dashboard


def test_a_row_that_is_being_edited_is_counted_as_in_sight(open_page: OpenPage, home: str) -> None:
    word, (one,) = some(1)
    page = table(open_page, home, word, 1)
    row = run(page, one)
    row.locator("td.name").hover()
    row.get_by_role("button", name="Rename").click()
    page.get_by_label("Search", exact=False).first.fill("nothing-like-it")
    expect(page.locator(".foot .counts")).to_have_text(re.compile(r"^0 of \d+ runs? .*· showing 1\.$"))
    expect(row).to_be_visible()
    row.get_by_role("button", name="Cancel").click()
    expect(row).to_be_hidden()
    expect(page.locator(".foot .counts")).to_have_text(re.compile(r"^0 of \d+ runs?\.$"))


def test_a_name_a_note_and_tags_are_written_where_they_stand(open_page: OpenPage, home: str) -> None:
    word, (one,) = some(1)
    page = table(open_page, home, word, 1)
    row = run(page, one)
    row.locator("td.name").hover()
    row.get_by_role("button", name="Rename").click()
    field = row.get_by_label("Name", exact=True)
    expect(field).to_have_value(f"{word} 0")
    field.fill("  ")
    page.keyboard.press("Enter")
    expect(row.get_by_role("alert")).to_have_text("A run needs a name.")
    field.fill("x" * 71)
    expect(row.get_by_role("alert")).to_be_hidden()  # it was said of other words
    expect(row.locator(".length")).to_be_hidden()
    page.keyboard.type("x" * 2)
    expect(row.locator(".length")).to_have_text("73 of 80 characters")
    page.keyboard.type("🏃" * 8)
    expect(row.locator(".length")).to_have_text("81 characters: 1 too many")
    picture(page, "runs-name-too-long")
    made_run(f"{word}x", 1, groups=0)
    field.fill(f"{word}x")
    page.keyboard.press("Enter")
    expect(row.get_by_role("alert")).to_contain_text(f"Another run is called “{word}x” already.")
    field.fill(f"{word} {HOSTILE}")
    page.keyboard.press("Enter")
    expect(row.locator(".title")).to_have_text(f"{word} {HOSTILE[:-1]}⟨U+202E⟩")
    expect(row.get_by_role("button", name="Rename")).to_be_focused()
    assert name_of(one) == f"{word} {HOSTILE}"
    row.get_by_role("button", name="Rename").click()
    expect(field).to_have_value(f"{word} {HOSTILE}")  # the name itself, not how it is shown
    page.keyboard.press("Escape")
    row.get_by_role("button", name="Edit note").click()
    row.get_by_label("Note", exact=True).fill("why does it fall?")
    page.keyboard.press("Enter")
    expect(row.locator("bdi.note")).to_have_text("why does it fall?")
    row.get_by_role("button", name="Edit tags").click()
    row.get_by_label("Tags, with commas between").fill("baseline, paper")
    row.get_by_role("button", name="Save").click()
    expect(row.locator(".tag")).to_have_text(["baseline", "paper"])
    note, tag = row.locator("bdi.note").bounding_box(), row.locator(".tag").first.bounding_box()
    assert note and tag and note["y"] > tag["y"] + tag["height"] and note["x"] == tag["x"]
    row.get_by_role("button", name="Edit tags").click()
    assert page.evaluate("(box => box.scrollWidth <= box.clientWidth)(document.querySelector('.panel.flush'))")
    row.get_by_label("Tags, with commas between").fill("paper")
    page.keyboard.press("Escape")
    expect(row.locator(".tag")).to_have_text(["baseline", "paper"])
    row.get_by_role("button", name="Edit tags").click()
    expect(row.get_by_text("Tags, with commas between")).to_be_visible()  # which of them is written is seen
    row.get_by_label("Tags, with commas between").fill("x" * 45)
    page.keyboard.press("Enter")
    expect(row.get_by_role("alert")).to_contain_text("at most 40 characters")
    row.get_by_role("button", name="Edit note").click()
    expect(row.get_by_role("alert")).to_contain_text("at most 40 characters")
    expect(row.get_by_role("alert")).to_contain_text("Save or cancel the tags first.")
    picture(page, "runs-tags-refused")
    page.keyboard.press("Escape")
    row.get_by_role("button", name="Edit tags").click()
    row.get_by_label("Tags, with commas between").fill("paper")
    page.keyboard.press("Enter")
    expect(row.locator(".tag")).to_have_text(["paper"])
    picture(page, "runs-labels")
    row.locator(".tag").click()
    page.wait_for_url("**q=paper**")
    order(page, [one])
    labels.rename(one, f"{word} short")
    expect(row.locator(".title")).to_have_text(f"{word} short")
    row.locator("td.name").hover()
    expect(row.locator(".edits")).to_have_css("opacity", "1")
    name, edits = row.locator(".title").bounding_box(), row.locator(".edits").bounding_box()
    assert name and edits and 0 <= edits["x"] - name["x"] - name["width"] <= 16, "right behind the name, not the cell"
    long = f"{word} a name with <b>signs</b> ".ljust(80, "x")
    labels.rename(one, long)
    expect(row.locator(".title")).to_have_text(long)
    covered = """row => {
      const edits = row.querySelector(".edits").getBoundingClientRect();
      const meets = (node) => {
        const box = node.getBoundingClientRect();
        return box.left < edits.right && box.right > edits.left && box.top < edits.bottom && box.bottom > edits.top;
      };
      const others = row.querySelectorAll(".title, .said > *, .pill, .why, td:not(.name)");
      return [...others].filter(meets).map((node) => node.className);
    }"""
    title = "row => row.querySelector('.kept-end > span').getBoundingClientRect().width"
    for width in (390, 1024, 1280, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        page.mouse.move(5, 5)
        before, room = row.bounding_box(), row.evaluate(title)
        row.locator("td.state").hover()
        expect(row.locator(".edits")).to_have_css("opacity", "1")
        assert row.evaluate(covered) == [], f"what edits covers nothing, {width} px wide"
        assert (row.bounding_box(), row.evaluate(title)) == (before, room), "the row and its name stay as they are"


def test_what_keeps_a_name_from_being_saved_goes_once_it_is_over(open_page: OpenPage, home: str) -> None:
    word, (one,) = some(1)
    page = table(open_page, home, word, 1)
    row = run(page, one)
    row.locator("td.name").hover()
    row.get_by_role("button", name="Rename").click()
    field, why, back = row.get_by_label("Name", exact=True), row.get_by_role("alert"), row.get_by_text("Restore")
    field.fill(f"{word} typed")
    trash.delete_run(one)
    field.press("Enter")
    expect(why).to_have_text(f"“{word} 0” was deleted in another window.")
    picture(page, "runs-renamed-and-deleted")
    back.click()
    expect(why).to_be_hidden()
    expect(back).to_be_hidden()
    wait_for("the run to be back", lambda: page.wait_for_timeout(30) or registry.get_run(one))
    expect(field).to_have_value(f"{word} typed")
    trash.delete_run(one)
    field.press("Enter")
    expect(back).to_be_visible()
    page.wait_for_timeout(4000)  # it is not over: the list is looked at meanwhile
    expect(why).to_have_text(f"“{word} 0” was deleted in another window.")
    trash.restore_run(one)
    expect(why).to_be_hidden()
    expect(back).to_be_hidden()
    page.route("**/component_server/**", lambda route: route.abort())
    field.press("Enter")
    expect(why).to_have_text("The dashboard did not answer. Nothing was changed.")
    page.unroute("**/component_server/**")
    expect(why).to_be_hidden(timeout=20_000)
    field.press("Enter")
    expect(row.locator(".title")).to_have_text(f"{word} typed")
    row.get_by_role("button", name="Rename").click()
    trash.delete_run(one)
    expect(row).to_have_attribute("data-unlisted", "")
    page.keyboard.press("Escape")
    expect(page.locator(".none")).to_be_visible()  # it stayed only for what was being written


def test_what_is_typed_of_a_run_is_there_again_after_a_reload_and_on_its_own_page(
    open_page: OpenPage, home: str
) -> None:
    word, (one,) = some(1)
    page = table(open_page, home, word, 1)
    row, note = run(page, one), run(page, one).get_by_label("Note", exact=True)
    row.locator("td.name").hover()
    row.get_by_role("button", name="Edit note").click()
    note.fill("half a thought")
    page.reload()
    expect(note).to_have_value("half a thought")
    picture(page, "runs-note-again")
    page.goto(f"{home}/run?id={one}")
    dialog, typed = page.locator("dialog.labels"), page.locator(".gw-header .typed")
    expect(typed).to_contain_text("Not saved yet: the note you typed.")
    expect(dialog).to_be_hidden()
    picture(page, "run-note-typed")
    typed.get_by_role("button", name="Edit").click()
    expect(dialog.get_by_label("Note", exact=True)).to_have_value("half a thought")
    expect(dialog.get_by_label("Name", exact=True)).to_have_value(f"{word} 0")
    dialog.get_by_label("Note", exact=True).fill("a whole thought")
    dialog.get_by_label("Tags").fill("later")
    page.reload()
    expect(typed).to_contain_text("Not saved yet: the tags and note you typed.")
    typed.get_by_role("button", name="Edit").click()
    expect(dialog.get_by_label("Tags")).to_have_value("later")
    picture(page, "run-note-again")
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator(".gw-header .about")).to_have_text("a whole thought")
    expect(typed).to_be_hidden()
    page.get_by_role("button", name="Name, tags and note").click()
    dialog.get_by_label("Name", exact=True).fill("given up")
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator(".gw-header .about")).to_have_text("a whole thought")
    expect(dialog).to_be_hidden()
    page.goto(f"{home}/?q={word}")
    expect(row.locator("bdi.note")).to_have_text("a whole thought")
    expect(row.locator(".editing")).to_have_count(0)
    row.locator("td.name").hover()
    row.get_by_role("button", name="Rename").click()
    row.get_by_label("Name", exact=True).fill("given up")
    row.get_by_role("button", name="Cancel").click()
    page.reload()
    expect(row.locator(".title")).to_have_text(f"{word} 0")
    expect(row.locator(".editing")).to_have_count(0)


def test_many_are_chosen_tagged_deleted_and_taken_back(open_page: OpenPage, home: str) -> None:
    word, ids = some(5)
    page = table(open_page, home, word, 5)
    boxes = page.locator("tbody .pick input")
    boxes.nth(0).click()
    boxes.nth(2).click(modifiers=["Shift"])
    expect(page.locator(".choosing .many")).to_have_text("3 runs chosen")
    picture(page, "runs-chosen")
    page.locator(".choosing").get_by_role("button", name="Tag 3 runs").click()
    page.get_by_label("Tags", exact=True).fill("night, -day")
    page.keyboard.press("Enter")
    expect(page.locator("tbody .tag")).to_have_text(["night"] * 3)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.post_data or ""))
    page.locator(".choosing").get_by_role("button", name="Delete 3 runs", exact=True).dblclick()
    expect(page.locator("tbody tr")).to_have_count(2)
    assert sum('"delete_runs"' in sent for sent in asked) == 1
    expect(page.locator(".of-page")).to_be_hidden()
    expect(page.locator(".undo span")).to_have_text("3 runs deleted.")
    expect(page.locator(".choosing")).to_be_hidden()
    expect(page.locator(".panel.scroll")).to_be_focused()  # not the search, which opens a phone's keyboard
    assert {gone.run.id for gone in trash.deleted_runs()} >= set(ids[2:])
    page.goto(f"{home}/new")  # elsewhere, and back by another way
    page.goto(f"{home}/?q={word}")
    expect(page.locator(".undo span")).to_have_text("3 runs deleted.")
    picture(page, "runs-undo")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("tbody tr")).to_have_count(5)
    expect(page.locator(".undo")).to_be_hidden()
    page.reload()
    expect(page.locator("tbody tr")).to_have_count(5)
    expect(page.locator(".undo")).to_be_hidden()
    expect(page.locator("tbody .tag")).to_have_text(["night"] * 3)
    page.get_by_label("Choose all runs of this list").check()
    expect(page.locator(".choosing .many")).to_have_text("5 runs chosen")
    waits = running(registry.create_run(SPEC, name=f"{word} waits", model="starter", data="task:arithmetic"))
    run(page, waits).get_by_role("checkbox").check()
    page.locator(".choosing").get_by_role("button", name="Delete 5 of 6 runs", exact=True).click()
    question = page.get_by_role("dialog")
    expect(question.get_by_role("heading")).to_have_text("Delete 5 of 6 runs?")
    expect(question).to_contain_text(f"“{word} 4”")
    expect(question).to_contain_text(f"“{word} waits” trains and stays: stop it first.")
    registry.set_state(waits, states.STOPPED, "Over.")  # while one reads
    question.get_by_role("button", name="Delete").click()
    expect(page.locator(".undo span")).to_have_text("5 runs deleted.")
    expect(page.locator(".choosing .many")).to_have_text("1 run chosen")
    expect(page.locator(".choosing .stop")).to_be_hidden()  # the page knows that it ended
    running(waits)
    expect(page.locator(".choosing .stop")).to_be_visible()
    page.locator(".choosing").get_by_role("button", name="Delete 1 run", exact=True).click()
    expect(page.locator(".choosing .problem")).to_have_text(f"“{word} waits” trains and stays: stop it first.")
    expect(page.locator(".choosing .problem")).to_be_in_viewport(ratio=1)
    picture(page, "runs-not-deleted")
    undo, bar = page.locator(".undo").bounding_box(), page.locator(".choosing").bounding_box()
    assert undo and bar and undo["y"] + undo["height"] <= bar["y"]
    order(page, [waits])
    assert registry.get_run(waits) is not None
    page.get_by_role("button", name="See Deleted").click()
    page.wait_for_url("**deleted=1**")
    expect(page.locator(".undo")).to_be_hidden()
    expect(page.locator("tbody tr", has_text=word)).to_have_count(5)


def test_what_is_chosen_and_out_of_sight_is_named_before_it_is_deleted(open_page: OpenPage, home: str) -> None:
    word, ids = some(9)
    page = table(open_page, home, word, 9)
    run(page, ids[0]).get_by_role("checkbox").check()
    run(page, ids[1]).get_by_role("checkbox").check()
    search = page.get_by_label("Search runs")
    search.fill(ids[0])
    order(page, [ids[0]])
    run(page, ids[0]).get_by_role("checkbox").focus()
    page.keyboard.press("Delete")
    question = page.get_by_role("dialog")
    expect(question.get_by_role("heading")).to_have_text("Delete 2 runs?")
    expect(question).to_contain_text(f"Not in this list: “{word} 1”.")
    picture(page, "runs-delete-out-of-view")
    question.get_by_role("button", name="Cancel").click()
    page.set_viewport_size({"width": 1280, "height": 420})
    search.fill(word)
    expect(page.locator("tbody tr")).to_have_count(9)
    page.evaluate("scrollTo(0, 0)")
    run(page, ids[0]).get_by_role("checkbox").uncheck()
    page.evaluate("scrollTo(0, 0)")
    page.locator(".choosing").get_by_role("button", name="Delete 1 run", exact=True).click()
    expect(question).to_contain_text(f"“{word} 1”.")  # below what one sees, and in the list
    expect(question).not_to_contain_text("Not in")
    labels.rename(ids[3], f"{word} renamed")  # while one reads, the table is drawn anew
    expect(run(page, ids[3])).to_contain_text(f"{word} renamed")
    question.get_by_role("button", name="Cancel").click()
    page.locator(".choosing").get_by_role("button", name="Delete 1 run", exact=True).click()
    expect(question).to_contain_text(f"“{word} 1”.")
    expect(question).not_to_contain_text("Not in")
    question.get_by_role("button", name="Delete").click()
    expect(page.locator(".undo span")).to_have_text("1 run deleted.")
    assert registry.get_run(ids[1]) is None and registry.get_run(ids[0])


def test_deleted_runs_are_found_restored_and_removed_for_good(open_page: OpenPage, home: str) -> None:
    word, (one, two) = some(2)
    for run_id in (one, two):
        trash.delete_run(run_id)
    page = open_page(f"{home}/?q={word}")
    expect(page.locator(".none")).to_contain_text(f"No run matches “{word}”.")
    page.locator('.chip[data-state="deleted"]').click()
    page.wait_for_url("**deleted=1**")
    order(page, [two, one])
    picture(page, "runs-deleted")
    expect(page.locator(".kept-for")).to_contain_text("A deleted run stays here for 24 hours.")
    run(page, one).get_by_role("button", name="Restore").click()  # nothing has to be chosen first
    order(page, [two])
    wait_for("the run to be back", lambda: page.wait_for_timeout(30) or registry.get_run(one))
    expect(page.locator(".undo span")).to_have_text("1 run restored.")
    assert no_sideways_scroll(page)
    page.set_viewport_size({"width": 390, "height": 420})
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    card, bar = run(page, two).bounding_box(), page.locator(".undo").bounding_box()
    assert card and bar and card["y"] + card["height"] <= bar["y"]
    picture(page, "runs-restored")
    page.reload()
    order(page, [two])
    expect(page.locator(".undo")).to_be_hidden()  # only what was deleted is offered back after that
    run(page, two).get_by_role("link", name=f"{word} 1").click()
    page.wait_for_url(re.compile(rf"/run\?id={two}$"))
    expect(page.get_by_role("button", name="Restore this run")).to_be_visible()
    page.go_back()
    order(page, [two])
    run(page, two).get_by_role("checkbox").check()
    page.locator(".choosing .erase").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    order(page, [two])
    page.locator(".choosing .erase").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete for good").click()
    expect(page.locator(".none")).to_contain_text(f"No deleted run matches “{word}”.")
    assert not trash.trashed_folder(two).path.exists()
    trash.delete_run(one)
    gone = open_page(f"{home}/run?id={one}")
    expect(gone.locator(".gw-header .why")).to_contain_text("was deleted. It can be restored for a day")
    expect(gone.get_by_role("heading", name="This run was deleted")).to_be_visible()
    picture(gone, "run-deleted")
    gone.get_by_role("button", name="Restore this run").click()
    expect(gone.locator(".gw-header .found h1")).to_have_text(f"{word} 0")
    expect(gone.locator(".gw-header .missing")).to_be_hidden()
    assert registry.get_run(one)
