"""A run's page around its charts: how it ended and what helps, Stop and Resume, Checkpoints, the Log, and addresses
that lead nowhere."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import tarfile
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from groupwise.app.pages.run.checkpoints import remove_checkpoint
from groupwise.storage.checks.script import to_script
from groupwise.storage.home import files, paths
from groupwise.storage.record import run_files, states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Checkpoint
from groupwise.storage.registry import commands, registry
from groupwise.storage.registry.messages.facts import Catalogue
from groupwise.storage.spec.spec import parse_spec
from tests.browser.conftest import OpenPage, no_sideways_scroll, picture
from tests.support.homes import dashboard, fresh_home, no_worker, wait_for
from tests.support.made_runs import made_run, running
from tests.support.records import seal_checkpoint

# What of the head is not within the page, or cut off; the tabs can be scrolled, and show that they can.
OVERFLOWS = """() => [...document.querySelectorAll(".gw-header .found :is(h1, .pill, .line, .sentence, .btn)")]
  .filter((one) => one.getClientRects().length && (one.scrollHeight > one.clientHeight + 2 && one.matches("h1")
    || one.getBoundingClientRect().right > 390)).map((one) => one.className || one.tagName)"""
TRACE = 'Traceback (most recent call last):\n  File "x.py", line 7, in <module>\nValueError: <b>no</b>'


@pytest.fixture(scope="module")
def address(catalogue: Any) -> Iterator[str]:
    """A dashboard whose runs stay as they are put: it has no worker."""
    with fresh_home():
        registry.publish_fact(Catalogue.from_plain(catalogue))
        with no_worker(), dashboard() as (_, place):
            yield place


def ended(name: str, sentence: str, state: str = states.FAILED, *, saved: int = 0, **record: Any) -> str:
    """A run that ended so, with the exit record that its process left."""
    run_id = made_run(name, 40, groups=1, size=2, state=state)
    registry.set_state(run_id, state, sentence)
    run = registry.get_run(run_id)
    assert run is not None
    if record:
        known = {"attempt": run.attempt, "outcome": "failed", "step": 12, "planned": 40}
        files.write_json(run.folder.exit, known | record)
    if saved:
        with_checkpoint(run_id, saved)
    return run_id


def with_checkpoint(run_id: str, *steps: int) -> None:
    folder = paths.run_folder(run_id)
    writer = RunWriter(folder.db, 1, {"format": 1.0, "correctness": 2.0})
    for step in steps:
        place = seal_checkpoint(folder.checkpoints / f"checkpoint-{step}")
        size = sum(path.stat().st_size for path in place.iterdir())
        writer.commit(step, checkpoint=Checkpoint(step, f"checkpoints/checkpoint-{step}", size))
    writer.close()


def head(page: Page) -> Any:
    return page.locator(".gw-header")


# ---- how it ended ----
def test_out_of_memory_offers_a_run_that_takes_less(open_page: OpenPage, address: str) -> None:
    reason = "the device ran out of memory. Lower per_device_train_batch_size or train with LoRA."
    run_id = ended("memory", f"Failed at step 12: {reason}", reason=reason, cause=run_files.MEMORY, traceback=TRACE)
    page = open_page(f"{address}/run?id={run_id}")
    ending = head(page).locator(".ending")
    expect(ending.get_by_role("heading", name="The device ran out of memory")).to_be_visible()
    expect(ending.locator(".rest")).to_have_text("Lower per_device_train_batch_size or train with LoRA.")
    expect(head(page).get_by_role("button")).to_have_count(0)  # no Resume, no Start again
    expect(ending.locator("pre")).to_be_hidden()
    ending.get_by_text("Traceback", exact=True).click()
    expect(ending.locator("pre")).to_have_text(TRACE)
    expect(ending.locator(".helps")).to_contain_text("4 completions per device and accumulation 2, not 8 and 1")
    picture(page, "failed")
    assert no_sideways_scroll(page)
    ending.get_by_role("link", name="Open a corrected run").click()
    page.wait_for_url(re.compile(r"/new\?.*per_device_train_batch_size"))
    expect(page.get_by_label("Completions per device", exact=True)).to_have_value("4")


def test_weights_that_are_lost_are_the_rate_and_not_the_prompts(open_page: OpenPage, address: str) -> None:
    reason = "the model's weights are ruined: its output is inf or nan, so it cannot generate. Lower learning_rate."
    run_id = ended("ruined", f"Failed at step 12: {reason}", reason=reason, cause=run_files.WEIGHTS)
    folder = paths.run_folder(run_id)
    told = folder.spec.read_text(encoding="utf-8")
    folder.spec.write_text(re.sub('"learning_rate": [^,]+', '"learning_rate": 0.5', told), encoding="utf-8")
    page = open_page(f"{address}/run?id={run_id}")
    expect(head(page).get_by_role("heading", name="The model's weights are ruined")).to_be_visible()
    expect(head(page).get_by_role("button")).to_have_count(0)
    expect(head(page).locator(".helps")).to_contain_text("Learning rate 0.0001, not 0.5")
    expect(page.locator(".gw-doctor .headline")).to_contain_text("Its weights were ruined: reward went ")
    first = page.locator(".gw-doctor article").first
    expect(first.get_by_role("heading", name="The learning rate is too high")).to_be_visible()
    expect(first).to_contain_text("Steps at a learning rate of 0.5 are too large.")
    picture(page, "ruined")
    head(page).get_by_role("link", name="Open a corrected run").click()
    page.wait_for_url(re.compile(r"/new\?.*learning_rate"))
    expect(page.get_by_label("Learning rate", exact=True)).to_have_value("0.0001")


def test_a_failed_reward_function_opens_at_its_line(open_page: OpenPage, address: str) -> None:
    from groupwise.storage.library.rewards import library

    code = "def graded(completions, **kwargs):\n    scores = []\n    return [1 / 0 for _ in completions]\n"
    library.save_reward("graded", code)
    reason = "the reward function “graded” scored nothing in 3 calls in a row: ZeroDivisionError: division by zero."
    run_id = ended("graded", f"Failed at step 3: {reason}", reason=reason, cause="reward", function="graded", line=3)
    page = open_page(f"{address}/run?id={run_id}")
    expect(head(page).get_by_role("button")).to_have_count(0)
    head(page).get_by_role("link", name="Open graded at line 3").click()
    page.wait_for_url(re.compile(r"/rewards\?name=graded"))
    expect(page.locator(".ace_gutter-active-line, .ace_gutter-cell.ace_gutter-active-line").first).to_have_text("3")


def test_a_full_disk_says_to_free_some_and_offers_resume(open_page: OpenPage, address: str) -> None:
    reason = "the disk is full. Free some space; Resume continues from the last whole checkpoint."
    run_id = ended("full", f"Failed at step 12: {reason}", saved=10, reason=reason, cause=run_files.DISK)
    page = open_page(f"{address}/run?id={run_id}")
    expect(head(page).locator(".helps")).to_contain_text("Free some space first: ")
    expect(head(page).get_by_role("button", name="Resume from step 10")).to_have_count(1)
    killed = ended("killed", "Killed at step 12 (SIGKILL), which nobody here sent: by hand.", states.KILLED, saved=10)
    page.goto(f"{address}/run?id={killed}")
    expect(head(page).get_by_role("heading", name="Killed at step 12")).to_be_visible()
    expect(head(page).locator(".helps").get_by_role("button", name="Resume from step 10")).to_be_visible()


def test_what_failed_before_a_checkpoint_for_another_reason_leads_to_its_log(open_page: OpenPage, address: str) -> None:
    run_id = ended("odd", "Failed at step 3: KeyError: 'x'", reason="KeyError: '<img src=x>'", cause="other")
    page = open_page(f"{address}/run?id={run_id}")
    expect(head(page).get_by_role("heading", name="An unexpected error ended it")).to_be_visible()
    expect(head(page).locator(".rest")).to_have_text("KeyError: '<img src=x>'")
    expect(head(page).get_by_role("button")).to_have_count(0)
    head(page).get_by_role("link", name="Read the log").click()
    expect(page.get_by_role("tab", name="Log")).to_have_attribute("aria-selected", "true")


def test_a_run_whose_spec_is_lost_says_so_and_leads_on(open_page: OpenPage, address: str) -> None:
    words = "Stopped at step 12, as asked. Resume continues from step 10."
    run_id = ended("lost spec", words, states.STOPPED, saved=10)
    folder = paths.run_folder(run_id)
    before = folder.spec.read_text()
    folder.script.write_text(to_script(parse_spec(before)))
    page = open_page(f"{address}/run?id={run_id}")
    resume = head(page).get_by_role("button", name="Resume from step 10")
    expect(resume).to_be_visible()
    expect(head(page).locator(".sentence")).to_have_text("Stopped at step 12, as asked.")  # the button says the rest
    folder.spec.unlink()
    expect(head(page).locator(".note")).to_have_text(
        f"Its spec.yaml is missing. Put the file as it was into {folder.path}, then resume. Or start a new run: its "
        "train.py has the same settings."
    )
    expect(resume).to_have_count(0)
    registry.set_state(run_id, states.QUEUED, "Waiting.", attempt=2)
    told = f"its spec.yaml is missing. {run_files.how_to_restore(folder)}"
    registry.set_state(run_id, states.FAILED, f"Could not be started: {told}")
    expect(head(page).get_by_role("heading", name="Its spec.yaml is missing")).to_be_visible()
    expect(head(page).locator(".note")).to_be_hidden()  # it is said above
    picture(page, "no-spec")
    assert no_sideways_scroll(page)
    folder.spec.write_text(before)
    expect(head(page).locator(".helps").get_by_role("button", name="Resume from step 10")).to_be_visible()
    folder.spec.write_text("rewards: [: {{ nothing\n")
    head(page).get_by_role("link", name="New run from its train.py").click()
    arrival = page.locator(".arrival")
    expect(arrival).to_contain_text("cannot be read: it is not YAML. These settings were read from its train.py")
    expect(page.get_by_label("Steps", exact=True)).to_have_value("40")


@pytest.mark.parametrize("saved", [0, 1200])
def test_a_phone_shows_the_whole_head_in_160_pixels(open_page: OpenPage, address: str, saved: int) -> None:
    name = "grpo-qwen2.5-0.5b-instruct-gsm8k-lora-r16-lr1e-5-beta0.04-seed3-final"
    words = "Stopped at step 1207, as asked. Resume continues from step 1200."
    run_id = ended(name, words, states.STOPPED, saved=saved) if saved else running(made_run(name, state=states.QUEUED))
    page = open_page(f"{address}/run?id={run_id}")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(head(page).get_by_role("button").last).to_be_visible()
    assert page.evaluate(OVERFLOWS) == []
    box = head(page).bounding_box()
    assert box and box["height"] <= 160


# ---- what is asked answers at once ----
def test_stop_answers_at_once_and_a_second_click_asks_nothing(open_page: OpenPage, address: str) -> None:
    run_id = running(made_run("trains", 40, groups=1, size=2, state=states.QUEUED))
    page = open_page(f"{address}/run?id={run_id}")
    stop = head(page).get_by_role("button", name="Stop and save")
    expect(stop).to_be_visible()
    asked: list[Route] = []
    page.route("**/component_server/", lambda route: asked.append(route))
    stop.click()
    head(page).locator("dialog").get_by_role("button", name="Stop and save").click()
    expect(head(page).locator(".pill")).to_have_text("Stopping")  # before anything is answered
    expect(head(page).locator(".sentence")).to_contain_text("It saves a checkpoint at the end of this step.")
    for route in asked:
        route.continue_()
    page.unroute("**/component_server/")
    kill = head(page).get_by_role("button", name="Stop now without saving")
    kill.click()  # where the first button was: it asks again before anything is lost
    expect(head(page).get_by_role("heading", name="Stop without saving?")).to_be_visible()
    page.keyboard.press("Escape")
    wait_for("the wish", lambda: page.wait_for_timeout(30) or commands.asked_at(run_id, 1, commands.STOP))
    assert not commands.asked_at(run_id, 1, commands.KILL)
    expect(head(page).locator(".pill")).to_have_text("Stopping")


def test_the_second_click_of_a_double_click_on_a_dialog_is_not_for_the_page_behind(
    open_page: OpenPage, address: str
) -> None:
    run_id = running(made_run("clicked twice", 40, groups=1, size=2, state=states.QUEUED))
    page = open_page(f"{address}/run?id={run_id}")
    head(page).get_by_role("button", name="Stop and save").click()
    confirm = head(page).locator("dialog").get_by_role("button", name="Stop and save")
    box = confirm.bounding_box()
    assert box
    behind = """box => {
      const link = document.createElement("a");
      Object.assign(link, { href: "/new", id: "behind", textContent: "elsewhere" });
      const { x, y, width, height } = box;
      link.style.cssText = `position:fixed;z-index:9;left:${x}px;top:${y}px;width:${width}px;height:${height}px`;
      document.body.append(link);
    }"""
    page.evaluate(behind, box)
    page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(head(page).locator(".pill")).to_have_text("Stopping")
    page.wait_for_timeout(300)
    assert f"/run?id={run_id}" in page.url
    assert not commands.asked_at(run_id, 1, commands.KILL)
    page.wait_for_timeout(700)  # whoever clicks again on purpose has looked first
    page.locator("#behind").click()
    page.wait_for_url("**/new")


def test_a_resume_says_whom_it_waits_for_and_offers_nothing_meanwhile(open_page: OpenPage, address: str) -> None:
    trains = running(made_run("ahead of it", 40, groups=1, size=2, state=states.QUEUED))
    others = {run.id for run in registry.list_runs(only=states.LIVE)} - {trains}
    for other in others:
        registry.set_state(other, states.STOPPED, "Stopped.")
    run_id = ended("goes on", "Stopped at step 12, as asked.", states.STOPPED, saved=10)
    page = open_page(f"{address}/run?id={run_id}")
    head(page).get_by_role("button", name="Resume from step 10").click()
    expect(head(page).locator(".sentence")).to_have_text(
        "Resuming… One run trains at a time: it starts when ahead of it has ended."
    )
    expect(head(page).get_by_role("button")).to_have_count(0)
    page.reload()  # as the server tells it
    expect(head(page).locator(".pill")).to_have_text("Resuming")
    expect(head(page).locator(".sentence")).to_contain_text("it starts when ahead of it has ended")
    expect(head(page).get_by_role("button")).to_have_count(0)
    page.get_by_role("tab", name="Checkpoints").click()
    expect(page.locator(".gw-checkpoints tbody tr")).to_have_count(1)
    expect(page.get_by_role("button", name="Resume from here")).to_have_count(0)
    registry.set_state(run_id, states.QUEUED, "Waiting for ahead of it to end: one run trains at a time.", attempt=2)
    expect(head(page).locator(".pill")).to_have_text(re.compile(r"Queued · \d+(st|nd|rd|th) in queue"))
    expect(head(page).locator(".sentence")).to_contain_text("Waiting for ahead of it to end")


def test_a_queued_run_goes_and_a_refusal_takes_it_back(open_page: OpenPage, address: str) -> None:
    run_id = registry.create_run(
        "name: waits\nrewards: [{name: format}]\n", name="waits", model="starter", data="task:arithmetic"
    )
    page = open_page(f"{address}/run?id={run_id}")
    button = head(page).get_by_role("button", name="Remove from queue")
    expect(button).to_be_visible()

    def end_first(route: Route) -> None:
        """It ends between the click and what the click asks: sooner, the page would take its button away."""
        if "command_run" in (route.request.post_data or ""):
            with contextlib.closing(sqlite3.connect(paths.registry_path())) as behind_its_back, behind_its_back:
                behind_its_back.execute("UPDATE run SET state = ? WHERE id = ?", [states.FINISHED, run_id])
        route.fallback()

    page.route("**/component_server/", end_first)
    button.click()
    expect(head(page).locator(".problem")).to_contain_text("there is nothing to stop")
    expect(head(page).locator(".pill")).to_have_text("Finished")


# ---- checkpoints ----
def test_checkpoints_are_downloaded_copied_and_resumed_from(open_page: OpenPage, address: str) -> None:
    run_id = ended("saved", "Stopped at step 12, as asked.", states.STOPPED)
    with_checkpoint(run_id, 10, 20, 30)
    folder = paths.run_folder(run_id)
    (folder.checkpoints / "checkpoint-20" / "optimizer.pt").unlink()
    seal_checkpoint(folder.final)
    page = open_page(f"{address}/run?id={run_id}&tab=checkpoints")
    rows = page.locator(".gw-checkpoints tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text("incomplete: it lacks optimizer.pt")
    expect(page.locator(".gw-checkpoints .best")).to_have_text(["best reward"])
    expect(rows.nth(0).locator(".best")).to_be_visible()  # the reward rises
    expect(rows.nth(1).get_by_role("button", name="Resume from here")).to_have_count(0)
    expect(page.locator(".gw-checkpoints thead")).to_contain_text("KL")
    expect(page.locator(".snippet")).to_contain_text("AutoModelForCausalLM.from_pretrained(")
    picture(page, "checkpoints")
    assert no_sideways_scroll(page)
    with page.expect_download() as taken:
        rows.nth(2).get_by_role("link", name="Download").click()
    with tarfile.open(taken.value.path()) as tar:
        assert f"{run_id}-checkpoint-10/optimizer.pt" in tar.getnames()
    rows.nth(2).get_by_role("button", name="Resume from here").click()
    dialog = page.locator(".gw-checkpoints dialog")
    expect(dialog).to_contain_text("Resume from step 10?")
    dialog.get_by_role("button", name="Resume", exact=True).click()
    expect(head(page).locator(".sentence")).to_contain_text("Resuming…")
    expect(head(page).locator(".pill")).to_have_text("Resuming")

    def asked() -> list[tuple[str, int | None]]:
        return [(one.action, one.step) for one in commands.open_commands() if one.run == run_id]

    wait_for("the order to resume", lambda: asked() == [("resume", 10)])


# ---- the log ----
@pytest.fixture(scope="module")
def logged(address: str) -> str:
    """A run with a log of 8 MB: metric lines, hostile text, and a needle at its beginning and near its end."""
    run_id = ended("logged", "Stopped at step 12, as asked.", states.STOPPED)
    step = "{'loss': 0.0123, 'grad_norm': 0.4, 'reward': 1.25, 'kl': nan}\n"
    lines = "a line that is as long as lines are in logs\n" * 20 + step
    end = "the needle again\n<img src=x onerror=alert(1)>\n" + "last words\n" * 5
    paths.run_folder(run_id).log.write_text("a needle at the very beginning\n" + lines * 8500 + end)
    return run_id


def test_the_log_is_searched_to_its_beginning(open_page: OpenPage, address: str, logged: str) -> None:
    page = open_page(f"{address}/run?id={logged}&tab=log")
    log = page.locator(".gw-log")
    expect(log.get_by_text("last words").last).to_be_visible()
    expect(log.get_by_text("<img src=x onerror=alert(1)>")).to_be_visible()
    expect(log.locator(".cut")).to_contain_text("The last part is shown")
    expect(log.locator(".dicts")).to_contain_text("metric lines hidden")
    expect(log.locator(".metrics").first).to_be_hidden()
    log.get_by_label("Search the log").fill("NEEDLE")
    expect(log.locator(".count")).to_have_text("1 of 2")
    expect(log.locator(".current")).to_have_text("a needle at the very beginning")
    expect(log.locator(".current mark")).to_have_text("needle")
    expect(log.locator(".current")).to_be_in_viewport()
    expect(log.locator(".ranks")).to_be_hidden()
    picture(page, "log")
    assert no_sideways_scroll(page)
    log.get_by_label("Search the log").press("Enter")
    expect(log.locator(".count")).to_have_text("2 of 2")
    expect(log.locator(".current")).to_have_text("the needle again")
    log.get_by_role("button", name="Back to the end").click()
    expect(log.get_by_text("last words").last).to_be_visible()
    log.get_by_label("Search the log").fill("no such words")
    expect(log.locator(".count")).to_have_text("No match")


def test_metric_lines_are_shown_as_values_and_the_log_is_taken_away(
    open_page: OpenPage, address: str, logged: str
) -> None:
    page = open_page(f"{address}/run?id={logged}&tab=log")
    log = page.locator(".gw-log")
    log.get_by_role("button", name="Show").click()
    expect(log.locator(".metrics").last).to_contain_text("grad_norm 0.400")
    picture(page, "log-metrics")
    with page.expect_download() as taken:
        log.get_by_role("link", name="Download").click()
    words = taken.value.path().read_text()
    assert words.startswith("a needle at the very beginning\n") and words.endswith("last words\n")


def test_the_lines_of_one_rank_can_be_read_alone(open_page: OpenPage, address: str) -> None:
    run_id = ended("two ranks", "Stopped at step 12, as asked.", states.STOPPED)
    lines = ["the launcher", "[rank 0] loads it", "[rank 1] loads it too", "[rank 0] {'loss': 0.5, 'kl': 0.1}"]
    paths.run_folder(run_id).log.write_text("\n".join(lines) + "\n")
    page = open_page(f"{address}/run?id={run_id}&tab=log")
    log = page.locator(".gw-log")
    shown = log.locator(".lines > div:visible")
    expect(shown).to_have_text(lines[:3])
    log.get_by_label("Search the log").fill("loads")
    expect(log.locator(".count")).to_have_text("1 of 2")
    log.get_by_label("Show the lines of").select_option("rank 1")
    expect(shown).to_have_text(lines[2:3])
    expect(log.locator(".count")).to_have_text("1 of 1")
    expect(log.locator(".dicts")).to_be_hidden()
    log.get_by_label("Show the lines of").select_option("rank 0")
    log.get_by_role("button", name="Show").click()
    expect(shown).to_have_text([lines[1], "[rank 0] loss 0.500kl 0.100"])
    picture(page, "log-ranks")
    assert no_sideways_scroll(page)


def test_what_was_set_aside_can_be_removed(open_page: OpenPage, address: str) -> None:
    run_id = ended("went back", "Stopped at step 12, as asked.", states.STOPPED, saved=10)
    folder = paths.run_folder(run_id).checkpoints
    for attempt, step in ((2, 20), (2, 30), (3, 40)):
        seal_checkpoint(folder / f"before-attempt-{attempt}" / f"checkpoint-{step}")
    page = open_page(f"{address}/run?id={run_id}&tab=checkpoints")
    part = page.locator(".gw-checkpoints")
    expect(part.locator("tbody tr")).to_have_count(4)
    together = part.locator(".aside li")
    expect(together).to_have_count(2)
    expect(together.nth(1)).to_contain_text(re.compile(r"2 checkpoints set aside before attempt 2, [\d.]+ KB"))
    picture(page, "checkpoints-aside")
    assert no_sideways_scroll(page)
    together.nth(1).get_by_role("button", name="Remove").click()
    dialog = part.get_by_role("dialog")
    expect(dialog).to_contain_text("removed now and for good")
    dialog.get_by_role("button", name="Cancel").click()
    assert (folder / "before-attempt-2").is_dir()
    together.nth(1).get_by_role("button", name="Remove").click()
    dialog.get_by_role("button", name="Remove").click()
    expect(part.locator("tbody tr")).to_have_count(2)
    expect(together).to_have_count(1)
    assert sorted(path.name for path in folder.iterdir()) == ["before-attempt-3", "checkpoint-10"]


# ---- addresses that lead nowhere ----
def test_unknown_addresses_get_a_page(open_page: OpenPage, address: str, logged: str) -> None:
    page = open_page(f"{address}/run?id={logged}&tab=nope")
    expect(head(page).locator(".no-tab")).to_have_text("There is no tab “nope”. This is the Overview.")
    page.goto(f"{address}/run?id=missing")
    expect(page.get_by_role("heading", name="No such run")).to_be_visible()
    expect(head(page).locator(".why")).to_have_text("There is no run “missing”.")
    reply = page.goto(f"{address}/nope<b>")
    assert reply is not None and reply.status == 404
    expect(page.get_by_role("heading", name="No such page")).to_be_visible()
    expect(page.get_by_text("There is nothing at /nope<b>.")).to_be_visible()
    picture(page, "unknown")
    assert no_sideways_scroll(page)
    page.get_by_role("link", name="See all runs").click()
    expect(page.get_by_role("link", name="logged")).to_be_visible()
    assert page.request.get(f"{address}/nope", headers={"accept": "*/*"}).text() == "There is nothing here.\n"


def test_a_checkpoint_can_be_deleted_once_nothing_trains(open_page: OpenPage, address: str) -> None:
    run_id = ended("two points", "Stopped at step 12, as asked.", states.STOPPED, saved=10)
    with_checkpoint(run_id, 12)
    folder = paths.run_folder(run_id).checkpoints
    page = open_page(f"{address}/run?id={run_id}&tab=checkpoints")
    part = page.locator(".gw-checkpoints")
    expect(part.locator(".lead")).to_contain_text("A checkpoint is the model as it was after a step")
    expect(part.locator(".no-final")).to_have_text(
        f"No trained model in {folder.with_name('final')} yet: a run writes it when it has done all its steps."
    )
    rows = part.locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first.get_by_role("link", name="New run from it")).to_have_attribute(
        "href", re.compile(rf"^/new\?from={run_id}&set=model.id%3D.*checkpoint-12$")
    )
    rows.first.get_by_role("button", name="Delete").click()
    dialog = part.get_by_role("dialog")
    expect(dialog).to_contain_text("Delete the checkpoint of step 12?")
    expect(dialog).to_contain_text("gone for good, and cannot be resumed from")
    dialog.get_by_role("button", name="Cancel").click()
    assert (folder / "checkpoint-12").is_dir()
    rows.first.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(part.locator(".removed")).to_have_text(
        "Removed since, to make room for newer ones (save_total_limit) or by hand: step 12."
    )
    expect(rows).to_have_count(1)
    assert [path.name for path in folder.iterdir()] == ["checkpoint-10"]
    expect(head(page).get_by_role("button", name="Resume from step 10")).to_be_visible()
    picture(page, "checkpoints")
    assert no_sideways_scroll(page)
    running(run_id)
    expect(rows.last.get_by_role("button", name="Delete")).to_have_count(0)
    assert "can be deleted when it has ended" in remove_checkpoint({"run": run_id, "step": 10})["sentence"]
    assert remove_checkpoint({"run": run_id, "step": "10"})["sentence"]
