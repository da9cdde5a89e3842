"""The head of a run's page: how the run ended and what helps; Stop, Resume and Remove from queue."""

from __future__ import annotations

import contextlib
import math
import re
import sqlite3

import pytest
from playwright.sync_api import Route, expect

from groupwise.storage.checks.script import to_script
from groupwise.storage.home import paths
from groupwise.storage.library.rewards import library
from groupwise.storage.record import run_files, states
from groupwise.storage.record.step_record import Completion, Group
from groupwise.storage.registry import commands, registry
from groupwise.storage.spec.spec import parse_spec
from groupwise.worker.supervisor import Supervisor
from tests.browser.conftest import Held, OpenPage, no_sideways_scroll, picture, wake_all
from tests.browser.rewards_page import ready, write
from tests.browser.run_page import ended, head
from tests.support.homes import wait_for
from tests.support.made_runs import made_run, running
from tests.support.records import seal_checkpoint

TRACE = 'Traceback (most recent call last):\n  File "x.py", line 7, in <module>\nValueError: <b>no</b>'


@pytest.fixture(scope="module")
def address(still_dashboard: str) -> str:
    return still_dashboard


# ---- how it ended ----
def test_out_of_memory_offers_a_run_that_takes_less(open_page: OpenPage, address: str) -> None:
    reason = "the device ran out of memory. Lower per_device_train_batch_size or train with LoRA."
    run_id = ended("memory", f"Failed at step 12: {reason}", reason=reason, cause=run_files.MEMORY, traceback=TRACE)
    page = open_page(f"{address}/run?id={run_id}")
    ending = head(page).locator(".ending")
    expect(ending.get_by_role("heading", name="The device ran out of memory")).to_be_visible()
    expect(ending.locator(".rest")).to_have_text("Lower per_device_train_batch_size or train with LoRA.")
    expect(head(page).locator(":is(.actions, .ending) button:visible")).to_have_count(0)  # no Resume, no Start again
    expect(ending.locator("pre")).to_be_hidden()
    ending.get_by_text("Traceback", exact=True).click()
    expect(ending.locator("pre")).to_have_text(TRACE)
    expect(ending.locator(".helps")).to_contain_text("4 completions per device and accumulation 2, not 8 and 1")
    picture(page, "failed")
    assert no_sideways_scroll(page)
    ending.get_by_role("link", name="Open a corrected run").click()
    page.wait_for_url(re.compile(r"/new\?.*per_device_train_batch_size"))
    expect(page.get_by_label("Completions per device", exact=True)).to_have_value("4")


def test_a_model_that_was_not_there_may_be_another_or_there_by_now(open_page: OpenPage, address: str) -> None:
    reason = "“gpt5” is not on this machine, and the hub could not be reached. Check the name and the connection."
    run_id = ended("unfetched", f"Failed at step 0: {reason}", reason=reason, cause=run_files.MODEL)
    page = open_page(f"{address}/run?id={run_id}")
    told = "“gpt5” is not on this machine, and the hub could not be reached"
    expect(head(page).get_by_role("heading", name=told)).to_be_visible()
    expect(head(page).get_by_role("button", name="Start again")).to_be_visible()
    corrected = head(page).get_by_role("link", name="Choose another model")
    expect(corrected).to_have_attribute("href", re.compile(r"&at=model\.id$"))


def test_weights_that_are_lost_are_the_rate_and_not_the_prompts(open_page: OpenPage, address: str) -> None:
    reason = "the model's weights are ruined: its output is inf or nan, so it cannot generate. Lower learning_rate."
    run_id = ended("ruined", f"Failed at step 12: {reason}", reason=reason, cause=run_files.WEIGHTS)
    folder = paths.run_folder(run_id)
    told = folder.spec.read_text(encoding="utf-8")
    folder.spec.write_text(re.sub('"learning_rate": [^,]+', '"learning_rate": 0.5', told), encoding="utf-8")
    page = open_page(f"{address}/run?id={run_id}")
    expect(head(page).get_by_role("heading", name="The model's weights are ruined")).to_be_visible()
    expect(head(page).locator(":is(.actions, .ending) button:visible")).to_have_count(0)
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
    code = "def graded(completions, **kwargs):\n    scores = []\n    return [1 / 0 for _ in completions]\n"
    library.save_reward("graded", code)
    reason = "the reward function “graded” failed in 3 calls in a row: ZeroDivisionError: division by zero."
    reason += " Fix it under Rewards, then start a new run from this one."
    run_id = ended("graded", f"Failed at step 3: {reason}", reason=reason, cause="reward", function="graded", line=3)
    page = open_page(f"{address}/run?id={run_id}")
    expect(head(page).locator(":is(.actions, .ending) button:visible")).to_have_count(0)
    expect(head(page).locator(".ending h2")).to_have_text(re.compile("failed in 3 calls in a row$"))
    expect(head(page).locator(".rest")).to_have_text("ZeroDivisionError: division by zero.")
    expect(head(page).get_by_text(re.compile("start a new run"))).to_have_count(1)  # beside the button
    head(page).get_by_role("link", name="Open graded at line 3").click()
    page.wait_for_url(re.compile(r"/rewards\?name=graded"))
    expect(page.locator(".ace_gutter-active-line, .ace_gutter-cell.ace_gutter-active-line").first).to_have_text("3")
    write(page, code.replace("1 / 0", "1.0"))
    page.get_by_role("button", name="Save", exact=True).click()
    begun = page.locator(".said-saved").get_by_role("link", name="New run with the fix")
    expect(begun).to_have_attribute("href", f"/new?from={run_id}&fixed=graded")
    picture(page, "fixed")
    page.goto(f"{address}/rewards?name=graded&run={run_id}")
    write(ready(page), code.replace("1 / 0", "2.0"))
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".said-saved")).to_contain_text("Saved as version")
    page.wait_for_timeout(300)
    expect(begun).to_have_count(0)


def test_a_run_that_its_own_function_failed_goes_on_without_it(open_page: OpenPage, address: str) -> None:
    code = "def halved(completions, **kwargs):\n    scores = []\n    return [1 / 0 for _ in completions]\n"
    run_id = failed_by_function("halved", code, "ZeroDivisionError: division by zero")
    told = paths.run_folder(run_id).spec
    told.write_text(told.read_text(encoding="utf-8").replace('"format"', '"halved"'), encoding="utf-8")
    page = open_page(f"{address}/run?id={run_id}")
    without = head(page).get_by_role("link", name="New run without halved")
    expect(without).to_be_visible()
    picture(page, "without")
    assert no_sideways_scroll(page)
    without.click()
    page.wait_for_url(re.compile(r"/new\?.*without=halved"))
    expect(page.locator(".arrival .changes li")).to_have_text("Reward “halved” weight 1 → removed")
    picture(page, "without-arrival")


def failed_by_function(name: str, code: str, error: str) -> str:
    """A run that this function of the library ended at its line 3; it keeps a copy."""
    reason = f"the reward function “{name}” failed in 3 calls in a row: {error}."
    reason += " Fix it under Rewards, then start a new run from this one."
    run_id = ended(name, f"Failed at step 4: {reason}", reason=reason, cause="reward", function=name, line=3, step=4)
    library.save_reward(name, code)
    paths.run_folder(run_id).rewards.mkdir(exist_ok=True)
    (paths.run_folder(run_id).rewards / f"{name}.py").write_text(code, encoding="utf-8")
    return run_id


def test_why_a_function_ended_a_run_stands_at_its_line_until_it_is_fixed(open_page: OpenPage, address: str) -> None:
    code = "def shown(completions, **kwargs):\n    scores = []\n    return [1 / 0 for _ in completions]\n"
    error = "ValueError: <img src=x onerror=alert(1)> \u202edivision " + "by_zero" * 30
    run_id = failed_by_function("shown", code, error)
    page = open_page(f"{address}/run?id={run_id}")
    head(page).get_by_role("link", name="Open shown at line 3").click()
    page.wait_for_url(re.compile(r"/rewards\?name=shown"))
    told, marked = page.locator(".failed-run"), page.locator(".ace_marker-layer .failed-line")
    expect(told).to_contain_text("Line 3: ValueError: <img src=x onerror=alert(1)> ")
    expect(told).to_contain_text("by_zero. Run “shown” failed by it at step 4.")
    assert "\u202e" not in told.inner_text()
    expect(told).to_be_in_viewport()
    expect(told.get_by_role("link")).to_have_attribute("href", f"/run?id={run_id}")
    expect(marked).to_have_count(1)
    expect(page.locator(".ace_gutter-cell.ace_error")).to_have_text("3")
    expect(page.locator(".found")).to_contain_text("line 3 ValueError: <img src=x")
    picture(page, "failed-at-line")
    assert no_sideways_scroll(page)
    write(page, code.replace("1 / 0", "1.0"))
    expect(marked).to_have_count(0)  # its lines may be others now
    expect(told).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".said-saved")).to_contain_text("Saved as version")
    expect(told).to_be_hidden()


def test_why_a_function_ended_a_run_can_be_dismissed(open_page: OpenPage, address: str) -> None:
    code = "def put_off(completions, **kwargs):\n    scores = []\n    return [1 / 0 for _ in completions]\n"
    run_id = failed_by_function("put_off", code, "ZeroDivisionError: division by zero")
    page = ready(open_page(f"{address}/rewards?name=put_off&run={run_id}&fix=1&line=3"))
    told, marked = page.locator(".failed-run"), page.locator(".ace_marker-layer .failed-line")
    expect(told).to_have_text("Line 3: ZeroDivisionError: division by zero. Run “put_off” failed by it at step 4.×")
    told.get_by_role("button", name="Dismiss").click()
    expect(told).to_be_hidden()
    expect(marked).to_have_count(0)
    page.reload()
    ready(page).wait_for_timeout(500)
    expect(told).to_be_hidden()
    write(page, code.replace("1 / 0", "1.0"))
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".said-saved").get_by_role("link", name="New run with the fix")).to_be_visible()


def test_a_run_whose_function_was_fixed_since_leads_to_a_new_run(open_page: OpenPage, address: str) -> None:
    code = "def repaired(completions, **kwargs):\n    scores = []\n    return [1 / 0 for _ in completions]\n"
    run_id = failed_by_function("repaired", code, "ZeroDivisionError: division by zero")
    page = open_page(f"{address}/run?id={run_id}")
    helps = head(page).locator(".helps")
    expect(helps.get_by_role("link")).to_have_text(["Open repaired at line 3"])
    library.save_reward("repaired", code.replace("1 / 0", "1.0"))
    wake_all(page)
    expect(helps.get_by_role("link")).to_have_text(["New run with the fix", "Open repaired"], timeout=15_000)
    expect(helps).to_contain_text("“repaired” was changed since the version that failed here.")
    expect(helps.locator(".pri")).to_have_attribute("href", f"/new?from={run_id}&fixed=repaired")
    picture(page, "fixed-since")
    assert no_sideways_scroll(page)
    helps.get_by_role("link", name="Open repaired").click()
    ready(page).wait_for_timeout(500)
    expect(page.locator(".failed-run")).to_be_hidden()  # another version failed


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
    expect(head(page).locator(":is(.actions, .ending) button:visible")).to_have_count(0)
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
    wake_all(page)
    expect(head(page).locator(".note")).to_have_text(
        f"Its spec.yaml is missing. Put the file as it was into {folder.path}, then resume. Or start a new run: its "
        "train.py has the same settings."
    )
    expect(resume).to_have_count(0)
    registry.set_state(run_id, states.QUEUED, "Waiting.", attempt=2)
    told = f"its spec.yaml is missing. {run_files.how_to_restore(folder)}"
    registry.set_state(run_id, states.FAILED, f"Could not be started: {told}")
    wake_all(page)
    expect(head(page).get_by_role("heading", name="Its spec.yaml is missing")).to_be_visible()
    expect(head(page).locator(".note")).to_be_hidden()  # it is said above
    picture(page, "no-spec")
    assert no_sideways_scroll(page)
    folder.spec.write_text(before)
    wake_all(page)
    expect(head(page).locator(".helps").get_by_role("button", name="Resume from step 10")).to_be_visible()
    folder.spec.write_text("rewards: [: {{ nothing\n")
    head(page).get_by_role("link", name="New run from its train.py").click()
    arrival = page.locator(".arrival")
    expect(arrival).to_contain_text("cannot be read: it is not YAML. These settings were read from its train.py")
    expect(page.get_by_label("Steps", exact=True)).to_have_value("40")


def test_what_a_run_waits_for_is_said_once_and_its_settings_can_be_used(open_page: OpenPage, address: str) -> None:
    run_id = made_run("waits", state=states.QUEUED, groups=0, steps=0)
    paths.run_folder(run_id).db.unlink()
    registry.set_state(run_id, states.QUEUED, "Waiting for the worker to start it.", attempt=1)
    page = open_page(f"{address}/run?id={run_id}")
    expect(page.get_by_text("No group has been scored.")).to_be_visible()  # the Overview is drawn
    waits = page.get_by_text("Waiting for").locator("visible=true")
    expect(waits).to_have_text(re.compile(r"^Waiting for the worker to start it\."))
    expect(page.locator(".board figure.chart").locator("visible=true")).to_have_count(0)  # nothing to draw
    expect(page.locator(".axes")).to_be_hidden()
    expect(head(page).get_by_role("link", name="Use these settings")).to_be_visible()
    commands.ask_of_run(run_id, commands.STOP)
    wake_all(page)
    expect(head(page).locator(".pill")).to_have_text("Removing…")
    # The worker ends it, and notes a moment later that it has: nothing is said of a checkpoint meanwhile.
    registry.set_state(run_id, states.STOPPED, "Removed from the queue before it started.")
    wake_all(page)
    expect(head(page).locator(".pill")).to_have_text("Stopped")
    expect(head(page).locator(".sentence")).to_have_text("Removed from the queue before it started.")


# ---- what is asked answers at once ----
def test_stop_answers_at_once_and_a_second_click_asks_nothing(open_page: OpenPage, address: str) -> None:
    run_id = running(made_run("trains", 40, groups=1, size=2, state=states.QUEUED))
    page = open_page(f"{address}/run?id={run_id}")
    stop = head(page).get_by_role("button", name="Stop and save")
    expect(stop).to_be_visible()
    asked: list[Route] = []
    page.route("**/component_server/", lambda route: asked.append(route))
    stop.click()
    expect(head(page).get_by_role("dialog")).to_contain_text("Training goes on until you answer.")
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
        "Resuming from step 10… One run trains at a time: it starts when ahead of it has ended."
    )
    expect(head(page).locator(":is(.actions, .ending) button:visible")).to_have_count(0)
    page.reload()  # as the server tells it
    expect(head(page).locator(".pill")).to_have_text("Resuming")
    expect(head(page).locator(".sentence")).to_contain_text("it starts when ahead of it has ended")
    expect(head(page).locator(":is(.actions, .ending) button:visible")).to_have_count(0)
    page.get_by_role("tab", name="Checkpoints").click()
    expect(page.locator(".gw-checkpoints tbody tr")).to_have_count(1)
    expect(page.get_by_role("button", name="Resume from here")).to_have_count(0)
    registry.set_state(run_id, states.QUEUED, "Waiting for ahead of it to end: one run trains at a time.", attempt=2)
    wake_all(page)
    expect(head(page).locator(".pill")).to_have_text(re.compile(r"Queued · \d+(st|nd|rd|th) in queue"))
    expect(head(page).locator(".sentence")).to_contain_text("Waiting for ahead of it to end")
    first = head(page).locator(".sentence").get_by_role("link", name="ahead of it")
    expect(first).to_have_attribute("href", f"/run?id={trains}")


def test_that_it_was_resumed_already_goes_once_it_trains(open_page: OpenPage, address: str) -> None:
    """It was still there a hundred steps later, in a second tab."""
    run_id = ended("twice", "Stopped at step 12, as asked.", states.STOPPED, saved=10)
    page = open_page(f"{address}/run?id={run_id}")
    resume = head(page).get_by_role("button", name="Resume from step 10")
    expect(resume).to_be_visible()
    held = Held(page, "command_run")
    resume.click()
    wait_for("its wish", lambda: page.wait_for_timeout(30) or held.kept)
    registry.set_state(run_id, states.QUEUED, "Waiting.", attempt=2)  # as another tab was first
    running(run_id)
    held.release()
    refusal = head(page).locator(".found > .problem")
    expect(refusal).to_have_text("“twice” was resumed already.")
    expect(head(page).locator(".pill")).to_contain_text("Running", timeout=10_000)
    expect(refusal).to_be_hidden(timeout=15_000)
    registry.set_state(run_id, states.STOPPED, "Stopped.")


@pytest.mark.parametrize("saved", [0, 10])
def test_a_run_to_be_started_again_tells_of_before_and_out_of_the_queue_of_its_end(
    open_page: OpenPage, address: str, saved: int
) -> None:
    resume = f"Resume continues from step {saved}." if saved else "There is no checkpoint: it would start again."
    killed = f"Killed at step 40 (SIGKILL), which Groupwise did not send: by hand. {resume}"
    run_id = ended(f"killed {saved}", killed, states.KILLED)
    if saved:
        seal_checkpoint(paths.run_folder(run_id).checkpoints / f"checkpoint-{saved}")
    page = open_page(f"{address}/run?id={run_id}")
    title, line = page.locator(".figures h2"), head(page).locator(".line")
    expect(page.locator(".gw-doctor .headline")).to_contain_text("at the end")
    expect(title).to_contain_text("At the end")
    obey(run_id, commands.RESUME)
    wake_all(page)
    before = f"goes on from step {saved} of 40 · before, it reached step 40" if saved else ""
    expect(line).to_have_text(before or "starts from the beginning · before, it reached step 40 of 40")
    expect(head(page).locator(".bar")).to_have_attribute("aria-valuenow", str(saved * 100 // 40))
    expect(title).to_contain_text("Before the resume")
    for _ in range(2):  # also for whoever comes now
        expect(page.locator(".gw-doctor .headline")).to_contain_text("reward went up")
        expect(page.locator(".gw-doctor .headline")).to_contain_text("before the resume")
        expect(page.locator(".gw-doctor .headline")).not_to_contain_text("at the end")
        expect(page.locator(".gw-doctor .stands .at")).to_contain_text("before the resume, at step 40")
        expect(page.locator(".gw-doctor .next")).to_be_hidden()
        page.reload()
    picture(page, f"to-start-again-{saved}")
    obey(run_id, commands.STOP)
    wake_all(page)
    expect(head(page).locator(".pill")).to_have_text("Killed")
    expect(head(page).locator(".ending h2")).to_contain_text("Killed at step 40 (SIGKILL)")
    expect(line).to_contain_text("step 40 of 40")
    expect(title).to_contain_text("At the end")
    expect(page.locator(".event.killed")).to_have_count(1)


def test_where_the_last_steps_scored_nothing_how_old_the_reward_is_stands_beside_it(
    open_page: OpenPage, address: str
) -> None:
    """A window was said that was the reward's alone, of which nothing came in the last two steps."""

    def logged(step: int) -> dict[str, float]:
        scored = 1.0 if step <= 3 else math.nan
        length = {"completions/mean_length": 4.0 + step / 4, "completions/clipped_ratio": 0.25}
        return {"reward": scored, "frac_reward_zero_std": scored, **length}

    run_id = made_run("fails late", 5, groups=0, metrics=logged, training={"logging_steps": 1})
    board = open_page(f"{address}/run?id={run_id}")
    figures = board.locator("aside .figures")
    expect(figures.locator(".window")).to_have_text("mean of the last 2 logged steps")
    expect(figures.locator(".now")).to_contain_text("(step 3)")
    told = dict(zip(figures.locator("dt").all_inner_texts(), figures.locator("dd").all_inner_texts(), strict=True))
    assert told["Reward"].endswith(" (step 3)") and told["Tied groups"].endswith(" (step 3)")
    assert told["Length"] == "5.13 tokens", "of steps 4 and 5"


def test_where_scoring_stopped_midway_lines_titles_and_the_side_are_of_the_same_steps(
    open_page: OpenPage, address: str
) -> None:
    """The title said 0, of steps 4 and 5, and its line ended at 0.2, of all five; no group had been scored, it said."""
    nothing = [Completion("none", 9, False, None, 0.0, [(None, "error"), (None, "error")]) for _ in range(4)]
    some = [Completion("<answer>2</answer>", 9, False, score, 0.0, [(score, "ok"), (None, "none")]) for score in (0, 1)]

    def made(step: int, _: int) -> Group:
        done = some * 2 if step <= 5 else nothing
        return Group("train", step, [{"role": "user", "content": f"{step}+1?"}], {"answer": "2"}, done)

    def logged(step: int) -> dict[str, float]:
        scored = {1: 1.0}.get(step, 0.0) if step <= 5 else math.nan
        return {"reward": scored, "frac_reward_zero_std": scored, "kl": step / 100, "completions/mean_length": 9.0}

    run_id = made_run("stops scoring", 10, groups=1, size=4, metrics=logged, make_group=made)
    board = open_page(f"{address}/run?id={run_id}")
    expect(board.locator(".smoothed")).to_contain_text("Bold: the mean of the last 5 logged steps.")
    figures = board.locator("aside .figures")
    expect(figures.locator(".window")).to_have_text("mean of the last 5 logged steps")
    expect(figures.locator(".now")).to_contain_text("(steps 4–5)")
    plot = board.locator('[data-chart="reward"] .plot')
    plot.scroll_into_view_if_needed()
    expect(plot.locator(".main-svg").first).to_be_visible()
    ends = plot.evaluate(
        "node => node.data.filter(line => line.hovertemplate).map(line => line.y.filter(y => y !== null).at(-1))"
    )
    assert set(ends) == {0}, "as its title says"
    expect(board.locator(".latest")).to_contain_text("step 5")
    titles = [board.locator(f'[data-chart="{name}"] .values') for name in ("reward", "KL")]
    expect(titles[0]).to_have_text("0 (steps 4–5)")
    expect(titles[1]).to_have_text("0.080")
    board.goto(f"{address}/compare?ids={run_id},{made_run('scores all', 10, groups=1)}")
    row = board.locator(f'.finals [data-run="{run_id}"]')
    expect(row.locator(".means-of")).to_have_text("steps 6–10")
    expect(row.locator('[data-name="reward"]')).to_have_text("0 steps 4–5")
    expect(row.locator('[data-name="KL"]')).to_have_text("0.080")


def test_the_head_of_a_run_is_low_on_a_phone_also_with_a_long_state(open_page: OpenPage, address: str) -> None:
    """How far it was went to another line: 174 px to the lower edge of the tabs."""
    run_id = made_run("long state", 30, groups=1, state=states.FINISHED)
    page = open_page(f"{address}/run?id={run_id}")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".gw-header .stand .line")).to_contain_text("step 30 of 30")
    measured = """words => {
      const part = (name) => document.querySelector(`.gw-header ${name}`);
      const [pill, line, tabs] = [part(".stand .pill"), part(".stand .line"), part(".tabs")];
      pill.querySelector("span").textContent = words;
      return [tabs.getBoundingClientRect().bottom, pill.offsetWidth, line.scrollWidth - line.clientWidth];
    }"""
    bottom, wide, cut = page.evaluate(measured, "Finished · verdict: running on to the limit was rewarded")
    assert bottom < 160 and wide > 150 and cut <= 0 and no_sideways_scroll(page)


def test_the_bars_of_the_latest_group_are_full_at_the_most_that_can_be_earned(
    open_page: OpenPage, address: str
) -> None:
    """As in Groups; a group whose completions all earned half of it had full bars."""
    halves = [Completion("<answer>3</answer>", 9, False, 1.5, 0.0, [(1.0, "ok"), (0.25, "ok")]) for _ in range(4)]

    def half(step: int, _: int) -> Group:
        return Group("train", step, [{"role": "user", "content": "1+1?"}], {"answer": "2"}, halves)

    run_id = made_run("halves", 12, groups=1, size=4, make_group=half)
    board = open_page(f"{address}/run?id={run_id}")
    expect(board.locator(".latest .score")).to_have_count(3)
    most = float(board.locator(".figures").inner_text().split("of at most ")[1].split()[0])
    for bar in board.locator(".latest .score").all():
        drawn = bar.locator("i").evaluate("(one) => one.getBoundingClientRect().width / one.parentNode.clientWidth")
        assert (most, bar.inner_text().split()[1]) == (3, "1.50") and abs(drawn - 0.5) < 0.02


def obey(run_id: str, kind: str) -> None:
    """As the worker does."""
    commands.ask_of_run(run_id, kind)
    for asked in commands.open_commands():
        if asked.run == run_id:
            Supervisor().obey(asked)


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
    expect(head(page).locator(".found > .problem")).to_contain_text("there is nothing to stop")
    expect(head(page).locator(".pill")).to_have_text("Finished")
