"""From the settings to a run: one step tried, a launch that fails, and one that ends in a finished run."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from playwright.sync_api import BrowserContext, Page, Route, expect

from groupwise.storage.home import paths
from groupwise.storage.library.rewards import library
from groupwise.storage.record import states
from groupwise.storage.registry import commands, registry
from groupwise.storage.spec import spec
from groupwise.worker.builtin import starter
from tests.browser.conftest import Held, OpenPage, no_sideways_scroll, picture
from tests.browser.new_run_page import follows, launch, show, write_yaml, yaml_of


def test_one_step_is_tried_and_leaves_nothing_behind(new_run: Page) -> None:
    before = {path for path in paths.home().rglob("*") if path.is_dir()}
    clean = yaml_of(new_run)
    new_run.set_viewport_size({"width": 1280, "height": 640})
    new_run.get_by_role("button", name="Try one step").click()
    tried = new_run.locator(".tried")
    expect(new_run.locator(".launch-note")).to_have_text(re.compile(r"^Trying one step… \d+ s$"))
    expect(tried.locator("p").first).to_be_in_viewport(timeout=180_000)
    expect(tried).to_contain_text("One step works", timeout=180_000)
    expect(new_run.locator(".launch-note")).to_have_text("One step works: see below.")
    expect(tried.locator("p").first).to_be_in_viewport(ratio=1)
    edges = """node => [node.querySelector("p").getBoundingClientRect().top,
        node.closest(".preflight").querySelector(".launch-bar").getBoundingClientRect().bottom]"""
    top, covered = tried.evaluate(edges)
    assert top >= covered - 1  # nothing of it is behind Launch
    expect(tried).to_contain_text("A step took")
    expect(tried.locator(".tried-one")).not_to_have_count(0)
    picture(new_run, "new-tried")
    expect(tried.locator(".outdated")).to_be_hidden()
    new_run.get_by_label("Max completion length", exact=True).fill("1")
    expect(tried.locator(".outdated")).to_be_visible()
    new_run.get_by_role("button", name="Try one step").click()
    expect(tried.locator(".verdict-at.warning")).to_contain_text("there is no learning signal", timeout=180_000)
    assert re.match(r"All \d+ completions earned 0,", tried.locator(".verdict-at.warning").inner_text())
    expect(tried.locator(".outdated")).to_be_hidden()
    picture(new_run, "new-tried-alike")
    assert {path for path in paths.home().rglob("*") if path.is_dir()} - before == set()
    library.save_reward("raises", "def raises(completions, **kwargs):\n    return [c.strip() for c in completions]\n")
    write_yaml(new_run, re.sub(r"rewards:\n( *)- ", r"rewards:\n\1- name: raises\n\1- ", clean))
    follows(new_run, "name: raises")
    new_run.get_by_role("button", name="Try one step").click()
    failed = tried.locator(".verdict.blocking")
    expect(failed).to_contain_text(re.compile(r"raises raised AttributeError at line 2, on all \d+ completions: "
                                              "'list' object"), timeout=180_000)  # fmt: skip
    expect(failed.get_by_role("link", name="Edit raises")).to_be_visible()
    expect(tried).not_to_contain_text("One step works")
    expect(tried.locator(".tried-one").first).to_contain_text("raises failed")
    # that it fails was found before, as it was called with sample completions
    expect(new_run.locator("[data-do=problems]")).to_contain_text("1 warning")
    expect(new_run.locator(".verdict.warning")).to_contain_text("“raises” failed when it was called with")
    picture(new_run, "new-tried-failed")


def test_a_try_that_a_reload_cut_short_is_said_to_be_dropped_once(new_run: Page) -> None:
    note = new_run.locator(".launch-note")
    new_run.get_by_label("Name", exact=True).fill("tried and left")
    follows(new_run, "tried and left")
    new_run.get_by_role("button", name="Try one step").click()
    expect(note).to_have_text(re.compile(r"^Trying one step… \d+ s$"))
    new_run.reload()
    expect(new_run.get_by_label("Name", exact=True)).to_have_value("tried and left")
    expect(note).to_have_text("The try was dropped as the page was left. Try again.")
    new_run.wait_for_timeout(1000)
    expect(note).to_have_text("The try was dropped as the page was left. Try again.")
    new_run.reload()
    expect(new_run.locator("[data-ready=yes]")).to_be_visible()
    expect(note).to_be_empty()


def test_a_launch_that_fails_says_why_and_keeps_saying_it(new_run: Page) -> None:
    runs = paths.runs_folder()
    moved = runs.rename(runs.with_name("runs-away"))
    try:
        launch(new_run)
        expect(new_run.locator(".launch-note")).to_contain_text("Nothing was launched", timeout=40_000)
        new_run.wait_for_timeout(800)
        expect(new_run.locator(".launch-note")).to_contain_text("Nothing was launched")
    finally:
        moved.rename(runs)


def test_a_launch_asks_the_worker_again_where_its_question_was_lost(new_run: Page) -> None:
    """As when the helper that would have answered was started anew."""
    lost = {"questions": 3, "armed": False}

    def look(route: Route) -> None:
        said = json.loads(route.request.post_data or "{}")
        if said.get("fn_name") == "ask_worker" and '"build"' in (route.request.post_data or "") and lost["questions"]:
            lost["questions"], lost["armed"] = lost["questions"] - 1, True
        elif said.get("fn_name") == "read_answer" and lost["armed"]:
            lost["armed"] = False
            return route.fulfill(json={"gone": True})
        return route.fallback()

    new_run.route("**/component_server/", look)
    new_run.get_by_label("Steps", exact=True).fill("2")
    launch(new_run)
    new_run.wait_for_url("**/run?id=*", timeout=180_000)
    assert lost["questions"] < 3
    new_run.unroute("**/component_server/")
    with contextlib.suppress(commands.Refused):  # its two steps are over
        commands.ask_of_run(registry.list_runs()[0].id, commands.STOP)


def test_launch_waits_for_the_data_however_long_it_takes_and_says_so(context: BrowserContext, new_run: Page) -> None:
    """What is wrong with a Parquet file is said before a run starts, also where the worker is slow."""
    pq.write_table(pa.table({"Frage": ["1+1?"] * 40, "answer": ["2"] * 40}), paths.data_folder() / "slow.parquet")
    new_run.clock.install()
    runs, note = len(registry.list_runs()), new_run.locator(".launch-note")
    held = Held(new_run, "ask_worker")
    show(new_run, "YAML")
    write_yaml(new_run, yaml_of(new_run).replace("source: task:arithmetic", "source: file:slow.parquet"))
    follows(new_run, "file:slow.parquet")
    expect(new_run.locator(".launch-bar .count")).to_have_text("Reading the data…")
    launch(new_run)
    stay = "The run starts once the data is read: stay on this page until then."
    expect(note).to_have_text(stay)
    asked: list[str] = []
    new_run.once("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    new_run.close(run_before_unload=True)
    new_run.wait_for_timeout(500)
    assert asked == ["beforeunload"]
    new_run.clock.run_for(30_000)
    expect(note).to_have_text(re.compile(re.escape(stay) + r" \(3\d s so far\)"))
    held.release()
    expect(note).to_contain_text("Not started yet. ", timeout=180_000)
    expect(note).to_contain_text("The columns are Frage, answer.")
    assert len(registry.list_runs()) == runs


def test_from_a_csv_and_a_model_folder_to_a_launched_run_by_the_page_alone(
    open_page: OpenPage, new_run: Page, tmp_path: Path, shared_dashboard: str
) -> None:
    folder = tmp_path / "my-model"
    shutil.copytree(starter.MODEL, folder)
    rows = tmp_path / "sums.csv"
    rows.write_text("problem,solution\n" + "\n".join(f"{n}+{n}?,it is #### {2 * n}" for n in range(40)) + "\n,\n")
    new_run.get_by_label("Model", exact=True).fill(str(folder))
    new_run.get_by_label("LoRA", exact=True).check()
    expect(new_run.get_by_label("LoRA rank")).to_have_value("16")
    new_run.locator("label", has_text="File").first.click()
    with new_run.expect_file_chooser() as chooser:
        new_run.get_by_role("button", name="Upload a file").click()
    chooser.value.set_files(rows)
    expect(new_run.get_by_label("File in the home")).to_have_value("file:sums.csv")
    new_run.get_by_role("button", name="Use this mapping").click()
    follows(new_run, "{problem}")
    expect(new_run.locator(".preview .message.user")).to_contain_text("0+0?")
    expect(new_run.locator(".preview .answer b")).to_have_text("0")
    new_run.get_by_label("Name", exact=True).fill("sums with LoRA")
    new_run.get_by_label("Steps", exact=True).fill("4")
    expect(new_run.locator(".checks .facts")).to_contain_text("to train on")
    picture(new_run, "new-run")
    assert no_sideways_scroll(new_run)
    for _ in range(4):  # whatever still blocks is mended by what the page offers
        new_run.wait_for_timeout(1200)
        blocking = new_run.locator(".verdict.blocking .fix")
        if not blocking.count():
            break
        blocking.first.click()
    launch(new_run)
    new_run.wait_for_url("**/run?id=*")
    run = registry.list_runs()[0]
    asked = spec.parse_spec(run.folder.spec.read_text())
    assert (asked.name, asked.model.id, asked.data.source) == ("sums with LoRA", str(folder), "file:sums.csv")
    assert asked.lora is not None
    assert (paths.data_folder() / "sums.csv").read_text() == rows.read_text()
    expect(new_run.locator(".gw-header .pill")).to_contain_text("Finished", timeout=240_000)
    assert registry.list_runs()[0].state == states.FINISHED
    again = open_page(f"{shared_dashboard}/new?from={run.id}")
    expect(again.get_by_label("Name", exact=True)).to_have_value("sums with LoRA-2")
