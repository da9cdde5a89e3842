"""The tabs of a run's page beside its charts: Checkpoints, the Log, what was set aside; and addresses of nothing."""

from __future__ import annotations

import re
import tarfile

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from groupwise.app.pages.run.checkpoints import remove_checkpoint
from groupwise.app.pages.run.trained_model import say_learned
from groupwise.storage.home import paths
from groupwise.storage.record import log_notes, states
from groupwise.storage.registry import commands
from tests.browser.conftest import OpenPage, no_sideways_scroll, picture
from tests.browser.run_page import ended, head, with_checkpoint
from tests.support.homes import wait_for
from tests.support.made_runs import made_run, running
from tests.support.records import seal_checkpoint


@pytest.fixture(scope="module")
def address(still_dashboard: str) -> str:
    return still_dashboard


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
    expect(rows.nth(1).locator(".state")).to_have_text(re.compile(r"incomplete\s*it lacks optimizer\.pt"))
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
    expect(head(page).locator(".sentence")).to_contain_text("Resuming from step 10…")
    expect(head(page).locator(".pill")).to_have_text("Resuming")
    expect(head(page).locator(".line")).to_contain_text("step 10 of 40")

    def asked() -> list[tuple[str, int | None]]:
        return [(one.action, one.step) for one in commands.open_commands() if one.run == run_id]

    wait_for("the order to resume", lambda: asked() == [("resume", 10)])


def test_what_is_said_of_the_trained_model_follows_a_resume_from_here(open_page: OpenPage, address: str) -> None:
    """The dialog gives the focus back to its button, under which the table was not drawn, nor the sentence below it."""
    run_id = ended("goes on from here", "Stopped at step 12, as asked.", states.STOPPED)
    with_checkpoint(run_id, 10, 20)
    page = open_page(f"{address}/run?id={run_id}&tab=checkpoints")
    said = page.locator(".gw-checkpoints .no-final")
    expect(said).to_contain_text("the run ended before its last step")
    page.locator(".gw-checkpoints tbody tr").nth(1).get_by_role("button", name="Resume from here").click()
    page.locator(".gw-checkpoints dialog").get_by_role("button", name="Resume", exact=True).click()
    expect(head(page).locator(".pill")).to_have_text("Resuming")
    running(run_id)
    expect(said).to_contain_text("when the run has done all its steps")
    expect(page.get_by_role("button", name="Resume from here")).to_have_count(0)
    expect(page.get_by_role("button", name="Delete…")).to_have_count(0)


def test_what_is_said_of_the_trained_model_is_true_while_a_button_has_the_focus(
    open_page: OpenPage, address: str
) -> None:
    run_id = ended("goes on elsewhere", "Stopped at step 12, as asked.", states.STOPPED, saved=10)
    page = open_page(f"{address}/run?id={run_id}&tab=checkpoints")
    said = page.locator(".gw-checkpoints .no-final")
    expect(said).to_contain_text("the run ended before its last step")
    button = page.get_by_role("button", name="Resume from here")
    button.focus()
    running(run_id)
    expect(said).to_contain_text("when the run has done all its steps")
    seal_checkpoint(paths.run_folder(run_id).final)
    expect(said).to_be_hidden()
    expect(page.locator(".gw-checkpoints .final")).to_contain_text("The trained model")
    expect(page.locator(".gw-checkpoints .final").get_by_role("link", name="Read its answers")).to_be_visible()
    expect(button).to_be_focused()


# ---- the log ----
@pytest.fixture(scope="module")
def logged(address: str) -> str:
    """A run with a log of 8 MB: metric lines, hostile text, and a needle at its beginning and near its end."""
    run_id = ended("logged", "Stopped at step 12, as asked.", states.STOPPED)
    step = "{'loss': 0.0123, 'grad_norm': 0.4, 'eval_completions/mean_terminated_length': 9, 'kl': nan, 'step': 12}\n"
    lines = "a line that is as long as lines are in logs\n" * 20 + step
    warning = "/lib/trl.py:12: FutureWarning: `use_cache` goes away\n  warnings.warn(\nsaved\n"
    end = "the needle again\n<img src=x onerror=alert(1)>\n" + warning * 12
    log = paths.run_folder(run_id).log
    log.write_text("a needle at the very beginning\n" + lines * 8500 + end)
    log_notes.append_note(log, "Checkpoint saved at step 10.")
    with log.open("a") as more:
        more.write("last words\n" * 5)
    return run_id


LOGGED_ERRORS = f"""{log_notes.note_text("Loading ends.")}
{log_notes.note_text("mine gave no score to 8 of 8 completions: ZeroDivisionError.", "reward")}
Error rates fall, says a library
Traceback (most recent call last):
  File "train.py", line 3, in <module>
ValueError: of no use
[rank 1] Traceback (most recent call last):
plain beside it
[rank 1] KeyError: 'x'
2026-01-01 10:00:00,001 - root - ERROR - it is lost
{log_notes.note_text("Failed. The training process ended at step 3.")}
"""


def test_errors_in_the_log_are_seen_by_their_kind(open_page: OpenPage, address: str) -> None:
    run_id = ended("errors", "Failed at step 3.", states.FAILED)
    paths.run_folder(run_id).log.write_text(LOGGED_ERRORS)
    page = open_page(f"{address}/run?id={run_id}&tab=log")
    log = page.locator(".gw-log")
    expect(log.get_by_text("it is lost")).to_be_visible()
    told = [line.partition("]")[2] or line for line in log.locator(".lines > .error").all_inner_texts()]
    kinds = ("Error: mine gave", "Traceback", "ValueError: of", " Traceback", " KeyError", "- ERROR -", "Failed. The")
    assert len(told) == len(kinds) and all(kind in line for kind, line in zip(kinds, told, strict=True)), told
    colours = "all => [...new Set(all.map(one => getComputedStyle(one).color))]"
    bad, plain = (log.locator(f".lines > {which}").evaluate_all(colours) for which in (".error", ":not(.error)"))
    assert len(bad) == 1 and not {*bad} & {*plain}
    picture(page, "log-errors")


def test_the_log_is_searched_to_its_beginning(open_page: OpenPage, address: str, logged: str) -> None:
    page = open_page(f"{address}/run?id={logged}&tab=log")
    log = page.locator(".gw-log")
    expect(log.get_by_text("last words").locator("visible=true")).to_have_attribute("data-times", "5 times")
    expect(log.get_by_text("<img src=x onerror=alert(1)>")).to_be_visible()
    the_log_fits_the_window(page)
    expect(log.locator(".cut")).to_contain_text("The last part is shown")
    expect(log.locator(".dicts")).to_contain_text("metric lines hidden")
    expect(log.locator(".metrics").first).to_be_hidden()
    expect(log.locator(".lines > div", has_text="FutureWarning").locator("visible=true")).to_have_count(1)
    expect(log.locator(".lines > [data-times]", has_text="FutureWarning")).to_have_attribute("data-times", "12 times")
    expect(log.locator(".lines > [data-times]", has_text="as long as").nth(1)).to_have_attribute(
        "data-times", "20 times"
    )
    expect(log.locator(".lines > div", has_text="warnings.warn(").locator("visible=true")).to_have_count(0)
    expect(log.locator(".ours")).to_have_text(re.compile(r"^— [\d-]{10} [\d:]{8} Checkpoint saved at step 10\. —$"))
    log.get_by_label("Search the log").fill("NEEDLE")
    expect(log.locator(".count")).to_have_text("1 of 2 lines")
    expect(log.locator(".current")).to_have_text("a needle at the very beginning")
    expect(log.locator(".current mark")).to_have_text("needle")
    expect(log.locator(".current")).to_be_in_viewport()
    expect(log.locator(".ranks")).to_be_hidden()
    picture(page, "log")
    assert no_sideways_scroll(page)
    log.get_by_label("Search the log").press("Enter")
    expect(log.locator(".count")).to_have_text("2 of 2 lines")
    expect(log.locator(".current")).to_have_text("the needle again")
    log.get_by_role("button", name="Back to the end").click()
    expect(log.get_by_text("last words").first).to_be_visible()
    log.get_by_label("Search the log").fill("FutureWarning")
    expect(log.locator(".count")).to_have_text("1 of 12 lines")
    expect(log.locator("mark:visible")).to_have_count(12)  # folded away until then
    expect(log.locator("[data-times]", has_text="FutureWarning")).to_have_count(0)
    log.get_by_label("Search the log").press("Enter")
    expect(log.locator(".current")).to_be_in_viewport()
    log.get_by_label("Search the log").fill("no such words")
    expect(log.locator(".count")).to_have_text("No match")
    expect(log.locator(".lines > [data-times]", has_text="FutureWarning")).to_have_attribute("data-times", "12 times")
    expect(log.locator(".lines > [data-times]", has_text="as long as").nth(1)).to_have_attribute(
        "data-times", "20 times"
    )


def test_a_metric_is_found_as_it_is_read_and_a_paused_log_says_what_waits(open_page: OpenPage, address: str) -> None:
    run_id = running(made_run("reads", 40, groups=1, size=2, state=states.QUEUED))
    path = paths.run_folder(run_id).log
    path.write_text("".join(f"{{'loss': 0.5, 'kl': '{step}.59649', 'step': {step}}}\n" for step in (2, 25, 1250)))
    page = open_page(f"{address}/run?id={run_id}&tab=log")
    log = page.locator(".gw-log")
    search, marks = log.get_by_label("Search the log"), log.locator("mark:visible")
    for words, shown in (("step 25", "step 25"), ("step 1250", "step 1,250"), ("kl 2.596", "kl 2.596")):
        search.fill(words)
        expect(marks).to_have_text(shown)
        expect(log.locator(".count")).to_have_text("1 of 1 line")
    search.fill("'kl': '2.59649'")
    expect(marks).to_have_text("kl 2.596")
    picture(page, "log-metric-found")
    search.fill("warning")
    expect(log.locator(".count")).to_have_text("No match")
    with path.open("a") as more:
        more.write("a warning\na warning\n")
    expect(log.locator(".count")).to_have_text("2 lines")
    search.press("Enter")
    expect(log.locator(".count")).to_have_text("1 of 2 lines")
    log.get_by_role("button", name="Pause").click()
    with path.open("a") as more:
        more.write("one\n{'loss': 0.5, 'step': 1251}\nmore\n")
    log.get_by_role("button", name="Follow · 2 new lines").click()
    expect(log.get_by_text("more", exact=True)).to_be_visible()
    expect(log.get_by_role("button", name="Pause")).to_have_text("Pause")


def test_what_libraries_warn_of_is_folded_and_a_bar_shows_its_last_state(open_page: OpenPage, address: str) -> None:
    """For somebody who does not code both look like something wrong. Nothing else is hidden."""
    run_id = ended("warned", "Stopped at step 12, as asked.", states.STOPPED)
    library, bar = "/venv/lib/python3.11/site-packages", "Loading: {:3}%|##  | {}/10 [00:01<00:01, 3.2it/s]"
    folded = [
        f"{library}/transformers/x.py:12: FutureWarning: `use_cache` goes away", "  warnings.warn(",
        f"{library}/torch/x.py:99: UserWarning: CUDA initialization", "  return torch._C._cuda_getDeviceCount() > 0",
        "[rank 1] <frozen importlib._bootstrap>:241: DeprecationWarning: builtin type",
        bar.format(0, 0), bar.format(50, 5),
    ]  # fmt: skip
    shown = [
        bar.format(30, 10), "Traceback (most recent call last):",
        f'  File "{library}/torch/x.py", line 99, in f', "RuntimeError: a UserWarning: CUDA out of memory",
        "/home/me/rewards.py:3: UserWarning: mine", f"{library}/groupwise/worker/x.py:3: UserWarning: ours",
        f"{bar.format(50, 5)} ValueError: half", "— 2026-03-01 10:00:00 Asked to stop. —",
    ]  # fmt: skip
    full = bar.format(100, 10)
    paths.run_folder(run_id).log.write_text("\n".join([*folded, full, *shown]) + "\n")
    page = open_page(f"{address}/run?id={run_id}&tab=log")
    log = page.locator(".gw-log")
    lines = log.locator(".lines > div:visible")
    expect(lines).to_have_text(shown)
    expect(log.locator(".warnings")).to_have_text("6 lines of libraries (warnings, progress) hiddenShow")
    picture(page, "log-warnings")
    log.get_by_label("Search the log").fill("use_cache")
    expect(log.locator(".count")).to_have_text("No match in the shown lines")
    expect(lines).to_have_text(shown)
    log.get_by_role("button", name="Show 1 in hidden lines").click()
    expect(log.locator(".count")).to_have_text("1 of 1 line")
    expect(log.locator(".current")).to_have_text(folded[0])
    expect(log.locator(".current")).to_be_in_viewport()
    log.locator(".warnings").get_by_role("button", name="Hide").click()
    log.get_by_label("Search the log").fill("")
    expect(lines).to_have_text(shown)
    log.locator(".warnings").get_by_role("button", name="Show").click()
    expect(lines).to_have_text([*folded[:5], full, *shown])
    log.locator(".warnings").get_by_role("button", name="Hide").click()
    expect(lines).to_have_text(shown)


def test_checkpoints_saved_in_a_row_are_one_line_that_opens(open_page: OpenPage, address: str) -> None:
    """Ten lines alike stood between what one looked for."""
    run_id = made_run("often saved", 3, state=states.FINISHED)
    ours = [f"— 2026-03-01 10:00:{step:02} Checkpoint saved at step {step}. —" for step in range(5, 55, 5)]
    begin, end = "— 2026-03-01 10:00:00 Attempt 1 starts —", "— 2026-03-01 10:01:00 Finished after 50 steps. —"
    metric = "{'loss': 0.1, 'reward': 1.5}"
    lines = [begin, *(line for one in ours for line in (metric, one)), end, *ours[:2]]
    paths.run_folder(run_id).log.write_text("\n".join(lines) + "\n")
    page = open_page(f"{address}/run?id={run_id}&tab=log")
    log = page.locator(".gw-log")
    folded = log.get_by_role("button", name="10 checkpoints saved, steps 5–50")
    shown = log.locator(".lines > div:visible")
    expect(shown).to_have_text([begin, end, *ours[:2]])
    picture(page, "log-checkpoints")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    log.locator(".copy").click()
    wait_for("all of them", lambda: page.evaluate("navigator.clipboard.readText()") == "\n".join(
        [begin, *ours, end, *ours[:2]]))  # fmt: skip
    folded.click()
    expect(folded).to_have_attribute("aria-expanded", "true")
    expect(shown).to_have_text([begin, *ours, end, *ours[:2]])
    folded.click()
    log.get_by_label("Search the log").fill("at step 35")
    expect(log.locator(".current")).to_have_text(ours[6])
    expect(log.locator(".current")).to_be_visible()
    log.get_by_label("Search the log").fill("")
    expect(shown).to_have_count(4)
    log.locator(".dicts button").click()
    expect(folded).to_be_hidden()  # they stand among their metrics
    expect(log.locator(".ours:visible")).to_have_count(14)


def test_the_search_counts_and_copies_the_lines_that_are_shown(
    context: BrowserContext, open_page: OpenPage, address: str
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    run_id = ended("searched", "Stopped at step 12, as asked.", states.STOPPED)
    warning = "/venv/lib/python3.11/site-packages/torch/x.py:{}: UserWarning: a checkpoint of old"
    ours = [f"— 2026-03-01 10:00:0{step} Checkpoint saved at step {step}. —" for step in (5, 9)]
    path = paths.run_folder(run_id).log
    path.write_text("\n".join([ours[0], *map(warning.format, range(10)), ours[1]]) + "\n")
    page = open_page(f"{address}/run?id={run_id}&tab=log")
    log = page.locator(".gw-log")
    log.get_by_label("Search the log").fill("checkpoint")
    expect(log.locator(".count")).to_have_text("1 of 2 lines")
    expect(log.locator(".lines > div:visible")).to_have_text(ours)
    more = log.get_by_role("button", name="Show 10 more in hidden lines")
    expect(more).to_be_visible()
    picture(page, "log-search-hidden")
    assert no_sideways_scroll(page)
    log.get_by_role("button", name="Copy shown matches").click()
    assert page.evaluate("navigator.clipboard.readText()") == "\n".join(ours)
    log.get_by_label("Search the log").press("Enter")
    expect(log.locator(".count")).to_have_text("2 of 2 lines")
    more.click()
    expect(more).to_be_hidden()
    expect(log.locator(".count")).to_have_text("12 of 12 lines")  # still the same line
    expect(log.locator(".lines > div:visible")).to_have_count(12)
    log.locator(".warnings").get_by_role("button", name="Hide").click()
    expect(log.locator(".count")).to_have_text("2 of 2 lines")
    with path.open("a") as file:
        file.write(warning.format(11) + "\na checkpoint\n")
    expect(log.locator(".count")).to_have_text("2 of 3 lines")
    expect(log.get_by_role("button", name="Show 11 more in hidden lines")).to_be_visible()


def the_log_fits_the_window(page: Page) -> None:
    for width, height in ((390, 844), (1280, 800), (1440, 900)):
        page.set_viewport_size({"width": width, "height": height})
        expect(page.locator(".gw-log").get_by_text("last words").first).to_be_in_viewport(ratio=1)
        wait_for("one scroll bar", lambda: page.evaluate("document.documentElement.scrollHeight <= innerHeight"))


def test_metric_lines_are_shown_as_values_and_the_log_is_taken_away(
    open_page: OpenPage, address: str, logged: str
) -> None:
    page = open_page(f"{address}/run?id={logged}&tab=log")
    log = page.locator(".gw-log")
    log.get_by_role("button", name="Show", exact=True).click()
    expect(log.locator(".metrics").last).to_contain_text("grad_norm 0.4")
    expect(log.locator(".metrics").last.locator(".of-step")).to_have_text("step 12")
    long = log.locator(".metrics .pair", has_text="mean_terminated_length").last.locator(".mut")
    assert long.inner_html() == "eval_<wbr>completions/<wbr>mean_<wbr>terminated_<wbr>length "
    log.get_by_role("button", name="Hide").click()
    log.get_by_label("Search the log").fill("TERMINATED_l")
    expect(log.locator(".current mark")).to_have_text("terminated_l")
    log.get_by_label("Search the log").fill("")
    expect(log.locator(".metrics:visible, mark")).to_have_count(0)
    log.get_by_role("button", name="Show", exact=True).click()
    picture(page, "log-metrics")
    with page.expect_download() as taken:
        log.get_by_role("link", name="Download").click()
    words = taken.value.path().read_text()
    assert words.startswith("a needle at the very beginning\n") and words.endswith("last words\n")


def test_a_finished_run_leads_to_its_model_and_its_end_is_among_its_events(open_page: OpenPage, address: str) -> None:
    run_id = ended("done", "Done: step 40 of 40. The trained model is in final/.", states.FINISHED)
    page = open_page(f"{address}/run?id={run_id}")
    expect(page.locator(".events li").first).to_contain_text(
        re.compile(r"· step 40 · finished\s*Done: step 40 of 40\.")
    )
    expect(page.locator(".events li").nth(1)).to_contain_text("begin")
    head(page).get_by_role("link", name="final/").click()
    expect(page.locator(".gw-checkpoints")).to_be_visible()
    folder = paths.run_folder(run_id).path
    folder.rename(folder.with_name("elsewhere"))
    expect(head(page).locator(".note")).to_contain_text("is not where it was", timeout=10_000)
    expect(head(page).get_by_role("link", name="final/")).to_have_count(0)
    expect(head(page).locator(".sentence")).to_have_text("Done: step 40 of 40. The trained model is in final/.")


def test_the_lines_of_one_rank_can_be_read_alone(open_page: OpenPage, address: str) -> None:
    run_id = ended("two ranks", "Stopped at step 12, as asked.", states.STOPPED)
    lines = ["the launcher", "[rank 0] loads it", "[rank 1] loads it too", "[rank 0] {'loss': 0.5, 'kl': 0.1}"]
    own = ["— 2026-03-01 10:00:00 Asked to stop. —", "[rank 0] — 2026-03-01 10:00:01 Loads no more. —"]
    warning = "/lib/trl.py:12: FutureWarning: `use_cache` goes away"
    warned = [f"[rank {rank}] {words}" for words in (warning, "  warnings.warn(") for rank in (0, 1)]
    again = ["— 2026-03-01 11:00:00 Attempt 2 starts: loading the model and the data. —", warned[0]]
    paths.run_folder(run_id).log.write_text("\n".join([*lines, *own, *warned, *again, warned[1]]) + "\n")
    page = open_page(f"{address}/run?id={run_id}&tab=log")
    log = page.locator(".gw-log")
    shown = log.locator(".lines > div:visible")
    expect(shown).to_have_text([*lines[:3], *own, warned[0], *again])
    times = log.locator("[data-times]")  # an attempt's warnings are its own
    expect(times).to_have_count(2)
    assert times.evaluate_all("nodes => nodes.map(({ dataset }) => dataset.times)") == ["2 times"] * 2
    log.get_by_label("Search the log").fill("loads")
    expect(log.locator(".count")).to_have_text("1 of 3 lines")
    log.get_by_label("Show the lines of").select_option("rank 1")
    expect(shown).to_have_text([lines[2], *own, warned[1], again[0], warned[1]])
    expect(log.locator("[data-times]")).to_have_count(0)
    expect(log.locator(".count")).to_have_text("1 of 2 lines")
    expect(log.locator(".dicts")).to_be_hidden()
    log.get_by_label("Show the lines of").select_option("rank 0")
    log.get_by_role("button", name="Show", exact=True).click()
    expect(shown).to_have_text([lines[1], "[rank 0] loss 0.5kl 0.1", *own, warned[0], *again])
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    copied = "navigator.clipboard.readText()"
    log.get_by_role("button", name="Copy shown matches").click()
    expect(log.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate(copied).split("\n") == [lines[1], own[1]]
    log.get_by_label("Search the log").fill("")
    log.get_by_role("button", name="Copy shown lines").click()
    expect(log.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate(copied).split("\n") == [lines[1], lines[3], *own, warned[0], *again]
    expect(log.get_by_role("link", name="Download all")).to_have_attribute("title", "The whole log, of all ranks")
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
    expect(part.locator("tbody .delete")).to_have_count(1)
    for width in (1280, 900):
        page.set_viewport_size({"width": width, "height": 900})
        assert part.locator(".list").evaluate("list => list.scrollWidth <= list.clientWidth")  # no button is off
    picture(page, "checkpoints-aside")
    assert no_sideways_scroll(page)
    the_tab_that_is_chosen_is_whole_on_a_phone(page)
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


def the_tab_that_is_chosen_is_whole_on_a_phone(page: Page) -> None:
    """Also as the bar gets narrower without the window: a scroll bar came with the tab's content."""
    page.set_viewport_size({"width": 390, "height": 844})
    bar = head(page).locator(".tabs")
    bar.evaluate("bar => { bar.style.marginRight = '24px'; }")
    edge = "bar => bar.getBoundingClientRect().right - bar.querySelector('[aria-selected=true]')"
    wait_for("the whole tab", lambda: bar.evaluate(f"{edge}.getBoundingClientRect().right") >= -1)
    bar.evaluate("bar => bar.removeAttribute('style')")
    page.set_viewport_size({"width": 1440, "height": 900})


# ---- addresses that lead nowhere ----
def test_unknown_addresses_get_a_page(open_page: OpenPage, address: str, logged: str) -> None:
    page = open_page(f"{address}/run?id={logged}&tab=nope")
    expect(head(page).locator(".no-tab")).to_have_text("There is no tab “nope”. This is the Overview.")
    reply = page.goto(f"{address}/run?id=missing")
    assert reply is not None and reply.status == 404
    expect(page.get_by_role("heading", name="No such run")).to_be_visible()
    expect(head(page).locator(".why")).to_have_text("There is no run “missing”.")
    page.goto(f"{address}/runs")
    expect(page).to_have_url(f"{address}/")
    expect(page).to_have_title(re.compile("^Runs"))
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
        f"No trained model in {folder.with_name('final')}: the run ended before its last step, which writes it. "
        "Resume the run, or use one of its checkpoints."
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


def test_the_trained_model_says_what_it_learned_and_leads_to_its_answers(open_page: OpenPage, address: str) -> None:
    run_id = made_run("it learned", 40, groups=1, size=2, eval_every=10)
    with_checkpoint(run_id, 20, 25, 40)
    seal_checkpoint(paths.run_folder(run_id).final)
    page = open_page(f"{address}/run?id={run_id}&tab=checkpoints")
    final = page.locator(".gw-checkpoints .final")
    held_out = page.locator(".gw-checkpoints tbody [data-name='held-out reward']")
    expect(held_out).to_have_count(3)
    now, _, then = held_out.all_inner_texts()
    expect(final.locator(".learned")).to_contain_text(f"Held-out reward {now} after step 40; ")
    better = f" The checkpoint of step 20 did better: {then}."
    assert (better in final.locator(".learned").inner_text()) == (float(then) > float(now))
    further = final.get_by_role("link", name="New run from it")
    expect(further).to_have_attribute("href", re.compile(rf"^/new\?from={run_id}&set=model.id%3D.*final$"))
    expect(final.locator(".snippet")).to_contain_text("AutoModelForCausalLM.from_pretrained(")
    picture(page, "checkpoints-trained")
    assert no_sideways_scroll(page)
    final.get_by_role("link", name="Read its answers").click()
    groups = page.locator(".gw-groups")
    expect(groups.locator(".where")).to_have_text("held-out at step 40")
    page.go_back()
    for row, where in ((1, "group at step 25"), (2, "held-out at step 20")):
        page.locator(".gw-checkpoints tbody tr").nth(row).get_by_role("link", name="Answers").click()
        expect(groups.locator(".where")).to_have_text(where)
        page.go_back()


def test_what_is_said_of_a_model_goes_by_what_was_evaluated() -> None:
    best = {"best": "best held-out reward", "step": 40, "title": "step 40", "values": {"held-out reward": "1.70"}}
    rows = [{"best": "", "step": 60}, best]
    now = "Held-out reward 1.50 after step 60; 0.50"
    assert say_learned([], rows) == say_learned([(60, 1.5)], rows) == ""
    assert say_learned([(0, 0.5), (60, 1.5)], rows[:1]) == f"{now} before the first step."
    better = " The checkpoint of step 40 did better: 1.70."
    assert say_learned([(20, 0.5), (60, 1.5)], rows) == f"{now} after step 20.{better}"
    assert say_learned([(20, 0.5), (40, 1.5)], rows[1:]) == "Held-out reward 1.50 after step 40; 0.50 after step 20."
