"""What a form was begun from stays with it: on the way out and back, over a reload, in the next tab; and it is said."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from groupwise.app.pages.new import presets
from groupwise.storage.home import paths
from groupwise.storage.library.rewards import library
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Catalogue
from tests.browser.conftest import Held, OpenPage, no_sideways_scroll, picture
from tests.browser.new_run_page import follows, launch, reward, show, write_yaml, yaml_of
from tests.support.homes import wait_for
from tests.support.made_runs import stopped_before_it_started
from tests.support.runs import ended_run

SHORT = "def short(completions, **kwargs):\n    return [float(len(text) < 9) for text in completions]\n"


@pytest.fixture(scope="module")
def past(shared_dashboard: str) -> str:
    """A run that was made before; its id."""
    run_id = stopped_before_it_started("sums", presets.quickstart_text())
    library.save_reward("short", SHORT)
    return run_id


def leave_and_come_back(page: Page) -> None:
    """By the bar on top, as a person does."""
    page.get_by_role("link", name="Rewards", exact=True).click()
    expect(page.locator(".gw-rewards_page .shelf")).to_be_visible()
    page.get_by_role("link", name="New run", exact=True).click()
    expect(page.locator(".gw-new_run[data-ready]")).to_be_attached()


def test_a_form_begun_from_a_run_is_there_after_leaving_reloading_and_in_the_next_tab(
    open_page: OpenPage, shared_dashboard: str, past: str
) -> None:
    page = open_page(f"{shared_dashboard}/new?from={past}&set=training.max_completion_length=96")
    length = page.get_by_label("Max completion length", exact=True)
    expect(length).to_have_value("96")
    for way in (leave_and_come_back, lambda one: one.reload()):
        way(page)
        expect(length).to_have_value("96")
        expect(page.locator(".origin")).to_have_text("From run “sums”")
        expect(page.locator(".arrival li")).to_have_text(["Max completion length 48 → 96"])
        assert f"from={past}" in page.url
    page.get_by_label("Steps", exact=True).fill("77")
    follows(page, "max_steps: 77")
    leave_and_come_back(page)
    shown = Held(page, "edit_settings")
    page.reload()
    expect(page.locator(".loading")).to_have_text("Restoring the draft…")  # and no form with other values meanwhile
    wait_for("the question", lambda: page.wait_for_timeout(30) or shown.kept)
    expect(page.get_by_label("Steps", exact=True)).to_be_hidden()
    expect(page.locator(".loading")).to_be_visible()
    shown.release()
    expect(page.locator(".loading")).to_be_hidden()
    expect(page.get_by_label("Steps", exact=True)).to_have_value("77")
    expect(page.locator(".origin")).to_have_text("From run “sums” · Draft restored. Start over")
    said = page.locator(".arrival .told > p")
    kept = "This is a new run. That one stays as it is. Start with the quickstart"
    expect(said).to_have_text(["And with what you changed since.", kept])
    picture(page, "new-from-a-run-again")
    assert no_sideways_scroll(page)
    page.set_viewport_size({"width": 390, "height": 844})
    lines = page.get_by_role("button", name="Start with the quickstart").evaluate("box => box.getClientRects().length")
    assert lines <= 2  # it goes on in the text, and is not squeezed beside it
    page.close()
    second = open_page(f"{shared_dashboard}/new")
    offered = second.locator(".offered li")
    expect(offered).to_contain_text("Unfinished draft sums-2 · From run “sums”")
    offered.get_by_role("button", name="Continue with it").click()
    expect(second.get_by_label("Steps", exact=True)).to_have_value("77")
    expect(second.locator(".arrival li")).to_have_text(["Max completion length 48 → 96"])
    leave_and_come_back(second)
    expect(second.get_by_label("Steps", exact=True)).to_have_value("77")
    second.get_by_role("button", name="Start over").click()
    expect(second.get_by_label("Steps", exact=True)).to_have_value("60")
    expect(second.get_by_label("Max completion length", exact=True)).to_have_value("96")


def test_what_was_done_while_the_server_answers_is_undone_step_by_step(new_run: Page) -> None:
    held = Held(new_run, "edit_settings")
    new_run.get_by_label("Temperature", exact=True).fill("0.9")
    wait_for("the question", lambda: new_run.wait_for_timeout(30) or held.kept)
    new_run.get_by_label("Steps", exact=True).fill("78")
    new_run.get_by_label("KL weight", exact=True).fill("0.3")
    held.release()
    follows(new_run, "beta: 0.3")
    new_run.get_by_role("button", name="Undo").click()
    expect(new_run.get_by_label("KL weight", exact=True)).to_have_value("0.02")
    expect(new_run.get_by_label("Steps", exact=True)).to_have_value("78")


def test_settings_that_were_only_looked_at_leave_new_run_as_it_was(
    open_page: OpenPage, shared_dashboard: str, past: str
) -> None:
    page = open_page(f"{shared_dashboard}/new?from={past}")
    expect(page.locator(".origin")).to_have_text("From run “sums”")
    leave_and_come_back(page)
    expect(page.locator(".origin")).not_to_contain_text("sums")
    assert "from=" not in page.url
    page.goto(f"{shared_dashboard}/new?from={past}&set=training.max_completion_length=96")
    expect(page.locator(".arrival")).to_contain_text("48 → 96")
    picture(page, "new-from-a-run-start-anew")
    page.get_by_label("Steps", exact=True).fill("78")
    page.get_by_label("KL weight", exact=True).fill("0.3")  # another field, within a moment, is another step
    follows(page, "beta: 0.3")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("KL weight", exact=True)).not_to_have_value("0.3")
    expect(page.get_by_label("Steps", exact=True)).to_have_value("78")
    page.get_by_role("button", name="Start with the quickstart").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("arithmetic-quickstart")
    expect(page.locator(".offered li")).to_contain_text("Unfinished draft")


def test_a_page_that_has_to_load_itself_anew_still_knows_how_one_came(
    open_page: OpenPage, shared_dashboard: str, past: str
) -> None:
    page = open_page(f"{shared_dashboard}/new?from={past}&set=training.max_completion_length=96")
    expect(page.locator(".gw-new_run[data-ready]")).to_be_attached()
    page.goto(f"{shared_dashboard}/rewards")
    page.route("**/pages/new/*.js*", lambda route: route.abort())
    page.get_by_role("link", name="New run", exact=True).click()
    expect(page.locator("#gw-lost")).to_have_text("Reconnecting…")
    page.unroute("**/pages/new/*.js*")
    expect(page.get_by_label("Max completion length", exact=True)).to_have_value("96")
    expect(page.locator(".origin")).to_have_text("From run “sums”")
    assert page.evaluate("performance.getEntriesByType('navigation')[0].type") == "reload"


@pytest.fixture
def held_back(catalogue: Any, shared_dashboard: str) -> Iterator[Callable[[], None]]:
    """For a test the worker has not said yet what is installed, until what this gives is called."""
    with registry.write_registry() as db:
        db.execute("DELETE FROM published WHERE key = ?", [Catalogue.key])

    def say() -> None:
        registry.publish_fact(Catalogue.from_plain(catalogue))

    yield say
    say()


def test_a_form_begun_before_it_is_known_what_is_installed_is_not_lost(
    open_page: OpenPage, shared_dashboard: str, past: str, held_back: Callable[[], None]
) -> None:
    page = open_page(f"{shared_dashboard}/new?from={past}&set=training.max_completion_length=96")
    expect(page.locator(".waiting")).to_have_text(re.compile("within a minute, or later while a run loads\\.$"))
    refused = "Not changed: “training.max_completion_length”; the worker has not listed the settings yet."
    expect(page.locator(".arrival")).to_contain_text(refused)
    expect(page.locator(".gw-new_run[data-ready]")).to_be_attached()
    leave_and_come_back(page)
    expect(page.locator(".origin")).to_have_text("From run “sums”")
    assert f"from={past}" in page.url
    page.goto(f"{shared_dashboard}/rewards")
    page.get_by_role("link", name="New run", exact=True).click()
    expect(page.locator(".waiting")).to_be_visible()
    held_back()
    for _ in range(2):
        expect(page.get_by_label("Max completion length", exact=True)).to_have_value("96")
        expect(page.locator(".origin")).to_have_text("From run “sums”")
        expect(page.locator(".arrival li")).to_have_text(["Max completion length 48 → 96"])
        assert page.evaluate("document.documentElement.dataset.came") == "navigate"
        leave_and_come_back(page)


def test_what_was_proposed_and_changed_here_again_is_not_named_after_a_way_out_and_back(
    open_page: OpenPage, shared_dashboard: str, past: str
) -> None:
    page = open_page(f"{shared_dashboard}/new?from={past}&set=model.id=org/name&set=training.beta=0.5")
    expect(page.locator(".arrival li")).to_have_text(["Model starter → org/name", "KL weight 0.02 → 0.5"])
    page.get_by_label("Model", exact=True).fill("")
    for way in (lambda _: None, leave_and_come_back, lambda one: one.reload()):
        way(page)
        expect(page.locator(".arrival li")).to_have_text(["KL weight 0.02 → 0.5"])
        expect(page.locator(".arrival")).to_contain_text("And with what you changed since.")


def test_a_function_that_changed_since_the_run_is_said_and_that_version_taken(
    open_page: OpenPage, shared_dashboard: str
) -> None:
    """Also on the way back to a form that was only looked at, and where the library has that version no more."""
    spec = presets.quickstart_text().replace("rewards:\n", "rewards:\n  - name: terse\n", 1)
    code = SHORT.replace("short", "terse")
    ran = library.save_reward("terse", code)
    begun, lost = (stopped_before_it_started(name, spec) for name in ("earlier", "elsewhere"))
    for run_id, had in ((begun, code), (lost, f"{code}# by hand\n")):
        copy = paths.run_folder(run_id).rewards / "terse.py"
        copy.parent.mkdir()
        copy.write_text(had)
    page = open_page(f"{shared_dashboard}/new?from={begun}")
    told = page.locator(".arrival")
    expect(told).to_contain_text("From run earlier, with nothing changed.")
    library.save_reward("terse", code.replace("9", "5"))
    for _ in range(2):
        page.goto(f"{shared_dashboard}/new?from={begun}")
        expect(told).to_contain_text("“terse” has changed since that run. This one takes it as it is now.")
        expect(told).not_to_contain_text("with nothing changed")
    picture(page, "new-function-changed-since")
    told.get_by_role("button", name="Use that run’s version of terse").click()
    follows(page, f"version: {ran.hash}")
    expect(told).not_to_contain_text("has changed since")
    page.get_by_role("button", name="Undo").click()
    expect(told).to_contain_text("“terse” has changed since that run.")
    page.goto(f"{shared_dashboard}/new?from={lost}")
    expect(told).to_contain_text("The code that run had is not in your library: read it in its Config.")
    expect(told.get_by_role("button", name="Use that run’s version")).to_have_count(0)
    told.get_by_role("link", name="read it in its Config").click()
    expect(page.locator("#part-config")).to_contain_text("# by hand")


def test_a_file_that_the_run_did_not_find_is_no_failure_once_it_is_there(
    open_page: OpenPage, shared_dashboard: str
) -> None:
    file = paths.data_folder() / "gone.csv"
    gone = f"there is no file “{file.name}” in {paths.data_folder()}. Upload it, or copy it there."
    spec = presets.quickstart_text().replace("task:arithmetic", f"file:{file.name}")
    run_id = ended_run(spec, sentence=f"Could not be started: data.source, line 7: {gone}")
    page = open_page(f"{shared_dashboard}/new?from={run_id}")
    told = page.locator(".arrival")
    expect(told).to_contain_text("That run failed: There is no file “gone.csv”")
    file.write_text("question,answer\n1+1?,2\n")
    page.get_by_label("Steps", exact=True).fill("7")  # any edit looks for the file again
    expect(told).to_contain_text("with what you changed since")
    expect(told).not_to_contain_text("That run failed")
    page.goto(f"{shared_dashboard}/new?preset=quickstart")
    page.goto(f"{shared_dashboard}/new?from={run_id}")
    expect(told).to_contain_text("From run")
    expect(told).not_to_contain_text("That run failed")


def test_what_is_typed_before_it_is_known_what_is_installed_stays_with_what_was_asked_for(
    open_page: OpenPage, shared_dashboard: str, past: str, held_back: Callable[[], None]
) -> None:
    page = open_page(f"{shared_dashboard}/new?from={past}&set=training.beta=0.5&reward=length")
    expect(page.locator(".waiting")).to_be_visible()
    page.get_by_label("Name", exact=True).fill("mine")
    follows(page, "name: mine")
    held_back()
    expect(page.get_by_label("KL weight", exact=True)).to_have_value("0.5")
    expect(page.get_by_label("Name", exact=True)).to_have_value("mine")
    expect(reward(page, "length")).to_be_visible()
    expect(page.locator(".origin")).to_have_text("From run “sums”")  # nothing was left, and so nothing restored
    changes = page.locator(".arrival li")
    expect(changes).to_have_text(["Reward “length”: added, weight 1", "KL weight 0.02 → 0.5"])
    expect(page.locator(".arrival .warn")).to_have_count(0)


def test_a_form_that_was_only_looked_at_leaves_no_draft(open_page: OpenPage, shared_dashboard: str, past: str) -> None:
    page = open_page(f"{shared_dashboard}/new?from={past}&set=training.beta=0.5")
    for beta in ("0.5", "0.7"):  # a person looks at one proposal, then at the next
        page.goto(f"{shared_dashboard}/new?from={past}&set=training.beta={beta}")
        expect(page.get_by_label("KL weight", exact=True)).to_have_value(beta)
        expect(page.locator(".gw-new_run[data-ready]")).to_be_attached()
    name = page.get_by_label("Name", exact=True).input_value()
    stopped_before_it_started(name, presets.quickstart_text())
    page.reload()  # it is begun anew: the name that it had is another run's now
    expect(page.get_by_label("Name", exact=True)).not_to_have_value(name)
    expect(page.locator(".origin")).to_have_text("From run “sums”")
    page.close()
    second = open_page(f"{shared_dashboard}/new")
    expect(second.locator(".gw-new_run[data-ready]")).to_be_attached()
    expect(second.locator(".offered li")).to_have_count(0)


def test_a_preset_and_an_import_say_what_they_are_after_a_way_out_and_back(
    open_page: OpenPage, shared_dashboard: str, past: str
) -> None:
    page = open_page(f"{shared_dashboard}/new?from={past}")
    expect(page.locator(".origin")).to_have_text("From run “sums”")
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_label("Script, notebook or YAML to import").fill(
        presets.quickstart_text().replace("max_steps: 60", "max_steps: 41")
    )
    page.locator("dialog.importing .take-it").click()
    for _ in range(2):
        expect(page.get_by_label("Steps", exact=True)).to_have_value("41")
        expect(page.locator(".origin")).to_contain_text("Imported.")
        expect(page.locator(".arrival")).to_be_hidden()
        leave_and_come_back(page)
    page.get_by_role("button", name="Presets", exact=True).click()
    page.locator("dialog.presets .take", has_text="Dr. GRPO").first.click()
    for _ in range(2):
        expect(page.locator(".origin")).to_have_text("Preset: Dr. GRPO")
        leave_and_come_back(page)


def test_what_is_not_there_is_said_and_nothing_of_it_is_done(
    open_page: OpenPage, shared_dashboard: str, past: str
) -> None:
    page = open_page(f"{shared_dashboard}/new?from=zz&set=training.beta=0.9")
    handed = page.locator(".handed")
    expect(handed).to_contain_text("There is no run “zz”. Nothing was taken from it or changed.")
    expect(page.get_by_label("KL weight", exact=True)).to_have_value("0.02")
    expect(page.locator(".origin")).to_have_text("Preset: Quickstart")
    expect(page.locator(".arrival")).to_be_hidden()
    assert "zz" not in page.url
    picture(page, "new-no-such-run")
    page.goto(f"{shared_dashboard}/new?reward=nix")
    expect(page.locator("main, .gw-new_run")).to_contain_text(["There is no reward function “nix”, so none was added."])
    page.get_by_label("Name", exact=True).fill("mine")
    follows(page, "name: mine")
    page.goto(f"{shared_dashboard}/new?preset=nix")  # a draft of the plain page is not lost to it
    expect(handed).to_contain_text("There is no preset “nix”. Nothing was taken from it or changed.")


def use(page: Page, address: str, name: str) -> None:
    """On Rewards, the button that takes a function into a new run."""
    page.goto(f"{address}/rewards?name={name}")
    page.get_by_role("button", name="Use in a new run").click()
    page.wait_for_url("**/new*")
    expect(page.locator(".gw-new_run[data-ready]")).to_be_attached()


def test_a_function_that_is_handed_over_outlives_a_reload_at_once(
    open_page: OpenPage, shared_dashboard: str, past: str
) -> None:
    """As in a new home, whose server has much to do: the page has its address, and nothing else yet."""
    page = open_page(f"{shared_dashboard}/new")
    page.get_by_label("Name", exact=True).fill("mine")
    follows(page, "name: mine")
    held = Held(page, "open_new_run")
    page.goto(f"{shared_dashboard}/new?reward=short")  # as “Use in a new run” does
    wait_for("the page to ask", lambda: page.wait_for_timeout(30) or held.kept)
    assert "reward" not in page.url
    page.unroute_all()
    page.reload()
    expect(reward(page, "short")).to_be_visible()
    expect(page.locator(".handed")).to_contain_text("“short” was added to this draft’s rewards, with weight 1.")
    expect(page.get_by_label("Name", exact=True)).to_have_value("mine")
    page.reload()
    expect(reward(page, "short")).to_be_visible()
    expect(page.locator(".handed")).to_be_hidden()  # it is said once


def test_what_an_address_asked_for_in_vain_is_there_after_typing_and_a_reload(
    open_page: OpenPage, shared_dashboard: str, past: str, held_back: Callable[[], None]
) -> None:
    page = open_page(f"{shared_dashboard}/new?from={past}&set=training.beta=0.5&reward=length")
    page.get_by_label("Name", exact=True).fill("mine")
    follows(page, "name: mine")
    page.goto(f"{shared_dashboard}/rewards")
    held_back()
    page.get_by_role("link", name="New run", exact=True).click()
    expect(reward(page, "length")).to_be_visible()
    expect(page.get_by_label("KL weight", exact=True)).to_have_value("0.5")
    expect(page.get_by_label("Name", exact=True)).to_have_value("mine")


def test_a_function_comes_into_a_new_run_after_a_launch(open_page: OpenPage, shared_dashboard: str, past: str) -> None:
    page = open_page(f"{shared_dashboard}/new")
    page.get_by_label("Steps", exact=True).fill("7")
    launch(page)
    page.wait_for_url("**/run?id=*")

    use(page, shared_dashboard, "short")  # tried on the data of that run, which is the newest
    expect(page.locator(".origin")).to_have_text("From run “arithmetic-quickstart”")
    expect(page.get_by_label("Steps", exact=True)).to_have_value("7")
    expect(reward(page, "short")).to_be_visible()
    expect(page.locator(".arrival li")).to_have_text(["Reward “short”: added, weight 1"])
    use(page, shared_dashboard, "length")  # into the draft that is there now
    expect(page.locator(".handed")).to_contain_text("“length” was added to this draft’s rewards, with weight 1.")
    expect(reward(page, "length")).to_be_visible()
    expect(reward(page, "short")).to_be_visible()
    expect(page.locator(".handed")).to_contain_text("“format”, “correctness” and “short” stay.")
    picture(page, "new-function-added")
    page.locator(".handed").get_by_role("button", name="Remove format").click()
    expect(reward(page, "format")).to_have_count(0)
    expect(page.locator(".handed")).to_contain_text("with weight 1. “correctness” and “short” stay.")
    expect(page.locator(".handed").get_by_role("button", name="Remove format")).to_have_count(0)
    for name in ("correctness", "short", "length"):
        expect(reward(page, name)).to_be_visible()
    use(page, shared_dashboard, "length")
    expect(page.locator(".handed")).to_contain_text("“length” is one of this draft’s rewards already.")


def test_a_function_that_had_other_data_offers_it_to_the_draft(
    open_page: OpenPage, shared_dashboard: str, past: str
) -> None:
    (paths.data_folder() / "Klasse 7.csv").write_text("Aufgabe;Lösung\n2 + 2?;4\n3 + 3?;6\n", encoding="utf-8")
    page = open_page(f"{shared_dashboard}/new")
    page.get_by_label("Name", exact=True).fill("mine")
    follows(page, "name: mine")
    page.goto(f"{shared_dashboard}/rewards?name=short")
    page.get_by_label("Data of").select_option("file:Klasse 7.csv")
    expect(page.locator(".mapping-data")).to_contain_text("Prompt from “Aufgabe”", timeout=60_000)
    page.get_by_role("button", name="Use in a new run").click()
    page.wait_for_url("**/new*")
    other = page.locator(".handed .other-data")
    both = "the data was Klasse 7.csv; this draft has the built-in task arithmetic."
    expect(other).to_contain_text(f"On the Rewards page, {both}")
    picture(page, "new-function-of-other-data")
    other.get_by_role("button", name="Use Klasse 7.csv").click()
    follows(page, "source: file:Klasse 7.csv")
    expect(other).to_be_hidden()
    text = yaml_of(page)
    assert "prompt_template: '{Aufgabe}'" in text and "answer_column: Lösung" in text and "name: mine" in text
    expect(page.locator(".fitted")).to_contain_text("nothing is evaluated", timeout=60_000)
    page.get_by_role("button", name="Undo", exact=True).click()  # of what followed from the data
    follows(page, "limit: 2500")
    page.get_by_role("button", name="Undo", exact=True).click()
    follows(page, "source: task:arithmetic")
    expect(reward(page, "short")).to_be_visible()
    use(page, shared_dashboard, "length")  # with the data that is chosen there still
    expect(other).to_contain_text("On the Rewards page, the data was Klasse 7.csv")


def test_a_draft_that_cannot_be_read_is_no_dead_end_for_a_function(
    open_page: OpenPage, shared_dashboard: str, past: str
) -> None:
    page = open_page(f"{shared_dashboard}/new")
    expect(page.locator(".gw-new_run[data-ready]")).to_be_attached()
    write_yaml(page, "name: [broken\nmodel: {id: starter}\n")
    expect(page.locator(".unreadable-note")).to_be_visible()
    use(page, shared_dashboard, "short")
    handed = page.locator(".handed")
    expect(handed).to_contain_text("“short” was not added: the YAML of this draft cannot be read.")
    picture(page, "new-function-not-added")
    handed.get_by_role("button", name="Fix the YAML").click()
    assert "broken" in yaml_of(page)  # at once: what is fixed is the text that was refused
    handed.get_by_role("button", name="Start from the quickstart with short").click()
    expect(page.locator(".arrival li")).to_have_text(["Reward “short”: added, weight 1"])
    show(page, "Form")
    expect(reward(page, "short")).to_be_visible()
    page.locator(".offered").get_by_role("button", name="Continue with it").click()
    show(page, "YAML")
    follows(page, "broken")
