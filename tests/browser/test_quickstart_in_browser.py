"""From an empty home to a finished run, as a newcomer would, with what goes wrong on the way, and what it left."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import checkpoint_files, groups, metrics, states
from groupwise.storage.registry import registry
from tests.browser.conftest import OpenPage, no_sideways_scroll, picture
from tests.support import wheels
from tests.support.homes import dashboard, free_port, fresh_home, supervisors, wait_for
from tests.support.runs import acknowledged_step, ask_db

# Points of a chart by its title, and the x range it shows: what Plotly itself holds.
CHART = """title => {
  const panels = [...document.querySelectorAll(".gw-overview .panel")];
  const panel = panels.find(p => p.querySelector("h3")?.textContent === title);
  const plot = panel?.querySelector(".js-plotly-plot");
  return plot ? { points: Math.max(...plot.data.map(t => t.x.length)), range: plot.layout.xaxis.range } : null;
}"""
ZOOM = """() => {
  const panels = [...document.querySelectorAll(".gw-overview .panel")];
  const panel = panels.find(p => p.querySelector("h3")?.textContent === "reward");
  return Plotly.relayout(panel.querySelector(".js-plotly-plot"), { "xaxis.range": [0.5, 3.5] });
}"""


def chart(page: Page, title: str = "reward") -> dict[str, Any]:
    return page.evaluate(CHART, title) or {"points": 0, "range": None}


def wait_points(page: Page, count: int) -> None:
    def enough() -> bool:
        page.wait_for_timeout(100)
        return chart(page)["points"] >= count

    wait_for(f"{count} points", enough)


def the_run() -> registry.Run:
    return registry.list_runs()[0]


def pill(page: Page) -> Locator:
    return page.locator(".gw-header .pill")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command `groupwise` of the wheel, in an environment of its own."""
    wheel = wheels.build(wheels.copy_source(tmp_path_factory.mktemp("wheel") / "source"))
    return wheels.install(wheel) / "groupwise"


def test_a_newcomer_runs_the_quickstart_from_the_wheel(open_page: OpenPage, installed: Path, tmp_path: Path) -> None:
    port = free_port()
    with fresh_home(), contextlib.ExitStack() as open_dashboards:
        app, address = open_dashboards.enter_context(dashboard(port, command=[str(installed)], place=tmp_path))
        page = open_page(address)
        start_from_the_empty_home(page)
        assert {python for _, python in supervisors()} == {str(installed.with_name("python"))}
        zoom_stays_while_points_arrive(page)
        completions_are_there_while_it_runs(page)
        reload_keeps_the_tab(page)
        second = open_page(f"{address}/run?id={the_run().id}")
        wait_points(second, acknowledged_step(the_run().folder) - 3)
        escape_changes_nothing(second)
        stopped = stop_and_save(second, watched_by=page)
        page.close()
        resume(second)
        app.kill()
        app.wait()
        steps_go_on_without_a_dashboard(second)
        second.get_by_role("tab", name="Groups").click()  # what waited on the other tab waits no longer
        open_dashboards.enter_context(dashboard(port, command=[str(installed)], place=tmp_path))
        expect(second.get_by_text("Reconnecting…")).to_be_hidden()  # by itself
        expect(second.locator(".gw-topbar .worker")).to_have_text("Worker ready")
        second.get_by_role("tab", name="Overview").click()
        it_finishes(second)
        look_at_the_finished_run(second)
        look_at_the_table(open_page(address))
        it_learned(the_run().folder)
        everything_it_scored_is_stored(the_run().folder)
        every_metric_has_trls_name(the_run().folder)
        it_left_whole_checkpoints_a_model_and_a_record_of_its_end(the_run().folder, stopped)


def start_from_the_empty_home(page: Page) -> None:
    expect(page.get_by_role("heading", name="Groupwise")).to_be_visible()
    picture(page, "runs-empty")
    page.locator(".empty").get_by_role("button", name="Run the quickstart").click()
    page.wait_for_url("**/run?id=*")
    expect(pill(page)).to_contain_text("Running", timeout=180_000)
    wait_points(page, 3)
    assert the_run().state == states.RUNNING


def zoom_stays_while_points_arrive(page: Page) -> None:
    page.evaluate(ZOOM)
    wait_points(page, chart(page)["points"] + 2)
    assert chart(page)["range"] == [0.5, 3.5]


def completions_are_there_while_it_runs(page: Page) -> None:
    page.get_by_role("tab", name="Groups").click()
    a_whole_group_is_shown(page)
    assert the_run().state == states.RUNNING
    assert "tab=groups" in page.url


def a_whole_group_is_shown(page: Page) -> None:
    """Eight completions; those that are the same are one card, which says how many it stands for."""
    page.wait_for_function(
        """() => [...document.querySelectorAll(".comp")].reduce(
            (sum, card) => sum + (parseInt(card.querySelector(".times")?.textContent) || 1), 0) === 8"""
    )


def reload_keeps_the_tab(page: Page) -> None:
    page.reload()
    expect(page.get_by_role("tab", name="Groups")).to_have_attribute("aria-selected", "true")
    a_whole_group_is_shown(page)


def escape_changes_nothing(page: Page) -> None:
    """The dialog's first focus is Cancel."""
    page.get_by_role("button", name="Stop and save").click()
    expect(page.get_by_role("dialog").get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert the_run().state == states.RUNNING


def stop_and_save(page: Page, watched_by: Page) -> int:
    """The step at which it stopped."""
    page.get_by_role("button", name="Stop and save").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop and save").click()
    expect(pill(page)).to_contain_text("Stopped", timeout=180_000)
    expect(pill(watched_by)).to_contain_text("Stopped")
    assert 0 < the_run().step < 60
    picture(page, "run-stopped")
    return the_run().step


def resume(page: Page) -> None:
    page.get_by_role("button", name=f"Resume from step {the_run().step}").click()
    expect(pill(page)).to_contain_text("Running", timeout=180_000)


def steps_go_on_without_a_dashboard(page: Page) -> None:
    reached = acknowledged_step(the_run().folder)
    wait_for("steps without a dashboard", lambda: acknowledged_step(the_run().folder) >= reached + 2)
    expect(page.get_by_text("Reconnecting…")).to_be_visible()
    expect(page.locator(".gw-topbar .worker")).to_have_text("Not connected")


def it_finishes(page: Page) -> None:
    expect(pill(page)).to_contain_text("Finished", timeout=300_000)
    wait_points(page, 60)
    run = the_run()
    assert (run.step, run.attempt) == (60, 2)


def look_at_the_table(page: Page) -> None:
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody .pill")).to_contain_text("Finished")
    picture(page, "runs")
    assert no_sideways_scroll(page)


def look_at_the_finished_run(page: Page) -> None:
    """Every tab has something to show, fits a phone, and is photographed."""
    shows = {
        "Overview": ".js-plotly-plot", "Groups": ".comp", "Completions": ".hits .hit",
        "Statistics": ".gw-statistics .js-plotly-plot", "Config": ".gw-config", "Log": ".gw-log",
        "Checkpoints": ".gw-checkpoints",
    }  # fmt: skip
    for tab, what in shows.items():
        page.get_by_role("tab", name=tab).click()
        expect(page.locator(what).first).to_be_visible()
        assert no_sideways_scroll(page), tab
        picture(page, f"run-{tab.lower()}")
        if tab == "Groups":  # “all at top score” is the longest of what stands there
            beyond = "all => all.map((one) => one.scrollWidth - one.clientWidth)"
            cells = page.locator(".list .option .n").evaluate_all(beyond)
            assert cells and max(cells) <= 0, "what a group came to is whole"
    page.get_by_role("tab", name="Overview").click()
    wanted = os.environ.get("GROUPWISE_PICTURE")
    if wanted:  # `make picture`: the README's
        page.wait_for_timeout(500)
        page.screenshot(path=Path(wanted))


def it_learned(folder: RunFolder) -> None:
    """The mean reward of the last ten steps is at least half a point above the first ten's."""
    rewards = metrics.read_metrics(folder.db)["curves"]["reward"]["y"]
    assert len(rewards) == 60
    assert sum(rewards[-10:]) / 10 - sum(rewards[:10]) / 10 >= 0.5


def everything_it_scored_is_stored(folder: RunFolder) -> None:
    by_mode = "SELECT mode, count(*) FROM completion JOIN grp ON grp.id = grp GROUP BY mode ORDER BY mode"
    assert ask_db(folder, by_mode) == [("eval", 4 * 16 * 4), ("train", 60 * 64)]
    assert groups.span(folder.db) == (1, 60)
    assert len(groups.at_step(folder.db, 60)) == 8


def every_metric_has_trls_name(folder: RunFolder) -> None:
    names = set(metrics.read_metrics(folder.db)["curves"])
    assert names >= {
        "loss", "grad_norm", "learning_rate", "num_tokens", "epoch", "step_time", "reward", "reward_std", "kl",
        "frac_reward_zero_std", "entropy", "clip_ratio/region_mean", "rewards/format/mean", "rewards/correctness/std",
        "completions/mean_length", "completions/clipped_ratio", "completions/mean_terminated_length", "eval_reward",
    }  # fmt: skip


def it_left_whole_checkpoints_a_model_and_a_record_of_its_end(folder: RunFolder, stopped: int) -> None:
    saved = metrics.checkpoints(folder.db)
    assert [each["step"] for each in saved] == sorted({60, 40, 20, stopped}, reverse=True)
    assert all(checkpoint_files.problem(folder.path / each["path"]) is None for each in saved)
    assert (folder.final / "model.safetensors").is_file()
    assert json.loads(folder.exit.read_text())["outcome"] == "finished"
    assert json.loads(folder.state.read_text())["state"] == states.FINISHED
    happened = [(event["kind"], event["step"]) for event in metrics.events(folder.db)]
    kept = [("checkpoint", step) for step in sorted({20, 40, 60, stopped})]
    at = kept.index(("checkpoint", stopped)) + 1
    assert happened == [("begin", 0), *kept[:at], ("stopped", stopped), ("begin", stopped), *kept[at:]]
    seen = metrics.progress(folder.db)
    assert (seen["step"], seen["total"], seen["begun"], len(seen["spark"])) == (60, 60, True, 40)


def test_a_run_that_does_not_exist_is_said_kindly(open_page: OpenPage, reading_dashboard: str) -> None:
    page = open_page(f"{reading_dashboard}/run?id=nothing-here")
    expect(page.get_by_role("heading", name="No such run")).to_be_visible()
    expect(page.get_by_role("link", name="See all runs")).to_be_visible()
    picture(page, "run-missing")


@pytest.mark.parametrize("query", ["", "?id=", "?id=../../etc", "?id=%00", "?id=<script>alert(1)</script>"])
def test_a_strange_address_is_said_kindly(open_page: OpenPage, reading_dashboard: str, query: str) -> None:
    page = open_page(f"{reading_dashboard}/run{query}")
    expect(page.get_by_role("heading", name="No such run")).to_be_visible()
