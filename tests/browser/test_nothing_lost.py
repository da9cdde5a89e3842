"""Nothing that was typed on the New run page is lost or falsified, and nothing is shown of data that is not chosen."""

from __future__ import annotations

import json
import re

from playwright.sync_api import APIResponse, Locator, Page, Route, expect

from groupwise.storage.home import paths
from groupwise.storage.registry import registry
from groupwise.storage.spec import spec
from tests.browser.conftest import Held, OpenPage, picture
from tests.browser.new_run_page import follows, launch, show, write_yaml, yaml_of


def choose(page: Page, kind: str) -> None:
    page.locator(".kinds label", has_text=kind).click()


def source_problem(page: Page) -> Locator:
    return page.locator(".source > .said .blocking")


def test_a_removed_setting_beside_a_near_one_loses_nothing_by_any_click(new_run: Page) -> None:
    show(new_run, "YAML")
    good = yaml_of(new_run).replace("max_completion_length: 48", "max_completion_length: 64")
    text = good.replace("max_completion_length: 64", "max_completion_length: 64\n  max_prompt_length: 786")
    write_yaml(new_run, text)
    verdict = new_run.locator(".verdict.blocking", has_text="training.max_prompt_length")
    expect(verdict).to_contain_text("TRL 0.28")
    expect(verdict).to_contain_text("leave long ones out with a filter")
    expect(verdict.locator(".fix")).to_have_text(["Remove it"])
    for number in range(verdict.locator(".fix").count()):
        write_yaml(new_run, text)
        verdict.locator(".fix").nth(number).click()
        expect(verdict).to_have_count(0)
        assert yaml_of(new_run) == good
    show(new_run, "Form")
    expect(new_run.get_by_label("Max completion length", exact=True)).to_have_value("64")


def test_no_fix_renames_onto_what_is_set(new_run: Page) -> None:
    show(new_run, "YAML")
    write_yaml(new_run, yaml_of(new_run).replace("num_generations: 8", "num_generations: 8\n  num_generation: 4"))
    verdict = new_run.locator(".verdict.blocking", has_text="training.num_generation,")
    expect(verdict).to_contain_text("Did you mean “num_generations”? It is set already.")
    expect(verdict.locator(".fix")).to_have_text(["Remove it"])


def test_a_kind_of_source_with_nothing_chosen_is_no_data(new_run: Page) -> None:
    expect(new_run.locator(".preview .of")).to_have_text("of 2,500", timeout=180_000)
    expect(new_run.locator(".happening")).to_contain_text("2,484 prompts")
    before = len(registry.list_runs())
    for kind, words in (("Hub dataset", "Choose a dataset"), ("File", "Choose a file, or upload one")):
        choose(new_run, kind)
        expect(source_problem(new_run)).to_contain_text(words)
        expect(new_run.locator(".preview .body")).to_be_hidden()
        expect(new_run.locator(".preview .wait")).to_contain_text("No data yet")
        expect(new_run.locator(".happening")).not_to_contain_text("2,484")
        expect(new_run.locator(".as-template .chips .chip")).to_have_count(0)
        launch(new_run)
        expect(new_run.locator(".source :focus")).to_be_in_viewport()
        expect(new_run.locator(".launch-note")).to_contain_text(f"Not started yet. {words}")
        assert "/new" in new_run.url and len(registry.list_runs()) == before
    new_run.wait_for_timeout(700)  # whatever was still on its way
    expect(new_run.locator(".preview .wait")).to_contain_text("No data yet")
    picture(new_run, "new-no-data")
    field, said = (new_run.locator(where).bounding_box() for where in (".which", ".source > .said"))
    assert field and said and 0 <= said["y"] - (field["y"] + field["height"]) < 30, "said where it is chosen"
    new_run.reload()  # and it is still what was chosen
    expect(new_run.locator("#source-file")).to_be_checked()
    choose(new_run, "Built-in task")
    expect(new_run.locator(".preview .of")).to_have_text("of 2,500", timeout=180_000)
    expect(new_run.locator(".happening")).to_contain_text("2,484 prompts")
    expect(source_problem(new_run)).to_have_count(0)
    expect(new_run.locator(".launch-note")).to_be_empty()


def test_what_was_chosen_of_each_kind_comes_back_with_it(new_run: Page) -> None:
    (paths.data_folder() / "mine.csv").write_text("question,answer\n1+1?,2\n")
    new_run.reload()
    choose(new_run, "Hub dataset")
    new_run.get_by_label("Hub dataset", exact=True).last.fill("openai/gsm8k")
    new_run.get_by_label("Configuration", exact=True).fill("main")
    new_run.get_by_label("Split", exact=True).fill("test")
    follows(new_run, "split: test")
    choose(new_run, "File")
    follows(new_run, "source: 'file:'")
    assert "main" not in yaml_of(new_run)
    new_run.get_by_label("File in the home").select_option("file:mine.csv")
    follows(new_run, "file:mine.csv")
    choose(new_run, "Hub dataset")
    follows(new_run, "hub:openai/gsm8k")
    made = spec.parse_spec(yaml_of(new_run)).data
    assert (made.source, made.config, made.split) == ("hub:openai/gsm8k", "main", "test")
    choose(new_run, "File")
    expect(new_run.get_by_label("File in the home")).to_have_value("file:mine.csv")
    follows(new_run, "file:mine.csv")


def test_an_answer_about_other_data_that_comes_late_is_not_shown(new_run: Page) -> None:
    """The check of 2,500 rows is held on its way until a file of three was chosen."""
    (paths.data_folder() / "three.csv").write_text("question,answer\n1+1?,2\n2+2?,4\n3+3?,6\n")
    late: list[tuple[Route, APIResponse]] = []

    def hold(route: Route) -> None:
        """Keep the first answer of a check."""
        said = json.loads(route.request.post_data or "{}")
        if said.get("fn_name") == "read_answer" and not late:
            reply = route.fetch()
            if "duplicates" in reply.text():  # what only the check counts
                late.append((route, reply))
                return
            route.fulfill(response=reply)
        else:
            route.fallback()

    new_run.route("**/component_server/", hold)
    new_run.reload()
    expect(new_run.locator(".preview .of")).to_have_text("of 2,500", timeout=180_000)
    for _ in range(100):
        if late:
            break
        new_run.wait_for_timeout(50)
    assert late
    choose(new_run, "File")
    new_run.get_by_label("File in the home").select_option("file:three.csv")
    expect(new_run.locator(".preview .of")).to_have_text("of 3", timeout=180_000)
    route, reply = late[0]
    assert "2484" in reply.text()
    route.fulfill(response=reply)
    new_run.wait_for_timeout(1000)
    expect(new_run.locator(".preview .of")).to_have_text("of 3")
    expect(new_run.locator(".checks .facts")).not_to_contain_text("2,484")
    expect(new_run.locator(".happening")).not_to_contain_text("2,484")


def test_what_the_server_has_not_taken_yet_survives_a_reload(new_run: Page) -> None:
    held = Held(new_run, "edit_settings")
    new_run.get_by_label("Name", exact=True).fill("typed in a hurry")
    new_run.wait_for_timeout(200)
    held.function = None
    new_run.reload()
    expect(new_run.get_by_label("Name", exact=True)).to_have_value("typed in a hurry")
    follows(new_run, "name: typed in a hurry")


def test_what_is_typed_in_the_yaml_is_not_taken_back_by_an_edit_before_it(new_run: Page) -> None:
    edits = Held(new_run, "edit_settings")
    new_run.get_by_label("Group size", exact=True).fill("4")
    new_run.get_by_label("Learning rate", exact=True).fill("3e-5")
    before = yaml_of(new_run)
    assert "num_generations: 8" in before, "the edit is on its way"
    write_yaml(new_run, before.replace("num_generations: 8", "num_generations: 16"))
    edits.release()
    follows(new_run, "3e-5")
    assert "num_generations: 16" in yaml_of(new_run)


def test_the_way_back_finds_what_was_typed(new_run: Page, shared_dashboard: str) -> None:
    new_run.get_by_label("Name", exact=True).fill("left for a moment")
    follows(new_run, "left for a moment")
    new_run.get_by_role("link", name="Runs", exact=True).click()
    expect(new_run.locator(".gw-runs_table[data-drawn]")).to_be_attached()
    new_run.go_back()
    expect(new_run.get_by_label("Name", exact=True)).to_have_value("left for a moment")
    new_run.goto(shared_dashboard)
    new_run.get_by_role("link", name="New run").first.click()
    expect(new_run.get_by_label("Name", exact=True)).to_have_value("left for a moment")


def test_a_draft_of_a_tab_that_was_closed_is_offered_by_the_next(
    new_run: Page, open_page: OpenPage, shared_dashboard: str
) -> None:
    new_run.get_by_label("Name", exact=True).fill("<b>closed</b> too soon")
    new_run.get_by_label("Steps", exact=True).fill("77")
    follows(new_run, "max_steps: 77")
    second = open_page(f"{shared_dashboard}/new")
    offered = second.locator(".offered li")
    expect(offered).to_contain_text("Unfinished draft <b>closed</b> too soon")
    expect(second.get_by_label("Steps", exact=True)).to_have_value("60")
    second.get_by_label("Name", exact=True).fill("of the second tab")
    follows(second, "of the second tab")
    age = "all => localStorage.setItem('groupwise:drafts', JSON.stringify(all))"
    kept = "() => JSON.parse(localStorage.getItem('groupwise:drafts'))"
    new_run.evaluate(age, [{**one, "at": one["at"] - 600_000} for one in new_run.evaluate(kept)])
    before = {one["name"]: one["at"] for one in new_run.evaluate(kept)}
    new_run.reload()  # each tab has its own
    expect(new_run.get_by_label("Name", exact=True)).to_have_value("<b>closed</b> too soon")
    new_run.get_by_label("Steps", exact=True).click()
    show(new_run, "YAML")
    assert {one["name"]: one["at"] for one in new_run.evaluate(kept)} == before, "a look makes no draft younger"
    new_run.close()
    second.close()
    third = open_page(f"{shared_dashboard}/new")
    expect(third.locator(".offered li")).to_have_count(2)
    picture(third, "new-drafts")
    wanted = third.locator(".offered li", has_text="closed")
    wanted.get_by_role("button", name="Continue with it").click()
    expect(third.get_by_label("Steps", exact=True)).to_have_value("77")
    expect(third.locator(".offered li")).to_have_count(1)
    third.get_by_role("button", name="Discard").click()
    expect(third.locator(".offered")).to_be_hidden()
    third.get_by_role("button", name="Undo").click()
    expect(third.get_by_label("Steps", exact=True)).to_have_value("60")


def test_many_drafts_are_one_line_and_those_alike_are_one(
    new_run: Page, open_page: OpenPage, shared_dashboard: str
) -> None:
    new_run.get_by_label("Name", exact=True).fill("again")
    follows(new_run, "name: again")
    [draft] = new_run.evaluate("() => JSON.parse(localStorage.getItem('groupwise:drafts'))")
    texts = [draft["text"], draft["text"], draft["text"].replace("again", "other"), draft["text"].replace("again", "3")]
    others = [{**draft, "id": f"tab {n}", "text": text} for n, text in enumerate(texts)]  # as other tabs leave them
    new_run.evaluate("all => localStorage.setItem('groupwise:drafts', JSON.stringify(all))", others)
    page = open_page(f"{shared_dashboard}/new")
    offered = page.locator(".offered")
    expect(offered.locator("summary")).to_have_text("3 unfinished drafts")
    picture(page, "new-many-drafts")
    offered.locator("summary").click()
    expect(offered.locator("li")).to_have_count(3)
    for line, own in zip(offered.locator("li").all(), ("again", "other", "3"), strict=True):  # all of one name
        expect(line).to_contain_text(f"with “name: {own}”")
        expect(line).to_contain_text(re.compile(r"\d\d:\d\d:\d\d"))
    offered.get_by_role("button", name="Discard", exact=True).first.click()
    expect(offered.locator("li")).to_have_count(2)
    expect(offered.locator("summary")).to_have_count(0)
    page.evaluate("all => localStorage.setItem('groupwise:drafts', JSON.stringify(all))", others)
    page.reload()
    offered.locator("summary").click()
    offered.get_by_role("button", name="Discard all").click()
    expect(offered).to_be_hidden()
    assert page.evaluate("() => localStorage.getItem('groupwise:drafts')") is None


def test_a_typed_revision_is_there_again_after_the_name_of_a_model_at_hand(new_run: Page) -> None:
    new_run.get_by_text("More about the model").click()
    revision, model = (new_run.get_by_label(label, exact=True) for label in ("Revision", "Model"))
    model.fill("org/name")
    revision.fill("v1.2")
    follows(new_run, "revision: v1.2")
    model.fill("starter")  # typed on the way to another name
    follows(new_run, "id: starter")
    model.press_sequentially("-large", delay=40)
    follows(new_run, "id: starter-large")
    follows(new_run, "revision: v1.2")
    expect(revision).to_have_value("v1.2")


def test_a_column_that_was_chosen_as_prompt_is_there_again_after_a_template(new_run: Page) -> None:
    expect(new_run.locator(".as-template .chips .chip").first).to_be_visible(timeout=180_000)
    as_is = new_run.get_by_label("a column as it is")
    as_is.check()
    new_run.get_by_label("Prompt column", exact=True).select_option("answer")
    follows(new_run, "prompt_column: answer")
    new_run.get_by_label("a template over the columns").check()
    expect(new_run.locator(".as-is")).to_be_hidden()
    as_is.check()
    expect(new_run.get_by_label("Prompt column", exact=True)).to_have_value("answer")
