"""Choosing reward functions for a run in the form: which, how much they count, and the settings of each."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from groupwise.storage.library.rewards import library
from groupwise.storage.spec import spec
from groupwise.storage.spec.spec import RewardSpec
from tests.browser.conftest import OpenPage, no_sideways_scroll, picture
from tests.browser.new_run_page import add_reward, follows, open_settings, reward, show, write_yaml, yaml_of
from tests.support.homes import wait_for

OWN = '''def short(completions, *, most: int = 20, **kwargs):
    """1 for a short answer.

    Args:
        most: characters that are short
    """
    return [1.0 if len(str(c)) <= most else 0.0 for c in completions]
'''


def rewards_of(page: Page) -> dict[str, RewardSpec]:
    return {one.name: one for one in spec.parse_spec(yaml_of(page)).rewards}


@pytest.fixture
def with_own(new_run: Page) -> Page:
    """The page, with a function of one's own in two versions to choose from."""
    library.save_reward("short", OWN.replace("20", "10"))
    library.save_reward("short", OWN)
    new_run.reload()
    expect(new_run.get_by_label("Group size", exact=True)).to_have_value("8")
    return new_run


def test_functions_are_added_weighed_and_removed_by_keyboard(new_run: Page) -> None:
    choose = new_run.get_by_label("Function to add")
    choose.focus()
    choose.select_option("length")
    expect(new_run.locator(".add-reward")).to_contain_text("for a short completion")
    new_run.keyboard.press("Tab")
    new_run.keyboard.press("Enter")
    weight = new_run.get_by_label("weight of length")
    expect(weight).to_be_focused()
    new_run.keyboard.type("0.25")
    follows(new_run, "weight: 0.25")
    expect(choose.locator("option[value=length]")).to_have_count(0)
    new_run.get_by_role("button", name="Remove format").focus()
    new_run.keyboard.press("Enter")
    expect(reward(new_run, "format")).to_have_count(0)
    assert list(rewards_of(new_run)) == ["correctness", "length"]
    expect(weight).to_have_value("0.25")
    # Two at once, before the list is drawn anew: the second click took the function behind the one that was meant.
    new_run.get_by_role("button", name="Add a reward").click()
    wait_for("a third one", lambda: len(rewards_of(new_run)) == 3)
    added = list(rewards_of(new_run))[2]
    new_run.evaluate(
        "names => names.forEach((name) => document.querySelector(`[aria-label='Remove ${name}']`).click())",
        ["correctness", "length"],
    )
    expect(new_run.locator(".reward-list .reward")).to_have_count(1)
    assert list(rewards_of(new_run)) == [added]


def test_parameters_are_fields_with_help_default_mark_and_reset(new_run: Page) -> None:
    settings = open_settings(new_run, "format")
    tags = settings.get_by_label("tags", exact=True)
    expect(tags).to_have_attribute("placeholder", '["think", "answer"]')
    tags.fill("[plan, answer]")
    settings.get_by_label("strict", exact=True).select_option("false")
    follows(new_run, "strict: false")
    assert rewards_of(new_run)["format"].parameters == {"tags": ["plan", "answer"], "strict": False}
    expect(settings.locator("summary")).to_contain_text("strict false")
    field = settings.locator(".field[data-path$='parameters.tags']")
    expect(field.locator(".changed")).to_be_visible()
    tags.fill("7")
    expect(field.locator(".said")).to_contain_text("Should be a list, not 7.")
    expect(tags).to_be_focused()
    field.get_by_role("button", name="reset").click()
    expect(tags).to_have_value("")
    settings.get_by_label("Time limit").fill("2.5")
    follows(new_run, "timeout: 2.5")
    show(new_run, "Script")
    expect(new_run.locator(".script pre")).to_contain_text("with_parameters(format_reward, strict=False)")


def test_a_weight_changes_by_a_schedule_or_follows_success(new_run: Page) -> None:
    settings = open_settings(new_run, "format")
    settings.get_by_label("changes with the steps").click()  # what is checked may be a new one, drawn by the answer
    expect(settings.get_by_label("changes with the steps")).to_be_checked()
    expect(settings.get_by_label("step of point 2")).to_have_value("60")
    settings.get_by_label("weight of point 2").fill("0.2")
    settings.get_by_role("button", name="Add a point").click()
    settings.get_by_label("step of point 3").fill("30")
    expect(settings.locator(".schedule > .said")).to_contain_text("ascending order")
    expect(new_run.locator(".verdict.blocking")).to_have_count(1)
    new_run.locator(".verdict.blocking .fix").first.click()
    expect(new_run.locator(".verdict.blocking")).to_have_count(0)
    assert [(one.step, one.weight) for one in rewards_of(new_run)["format"].schedule] == [(0, 1), (30, 0.2), (60, 0.2)]
    expect(new_run.get_by_label("weight of format")).to_be_disabled()
    settings.get_by_label("follows success").check()
    settings.get_by_label("Every", exact=True).fill("5")
    follows(new_run, "every: 5")
    adapt = rewards_of(new_run)["format"].adapt
    assert adapt is not None
    assert (adapt.every, adapt.low, rewards_of(new_run)["format"].schedule) == (5, 0.3, [])
    settings.get_by_label("stays as it is").check()
    expect(settings.get_by_label("Every", exact=True)).to_have_count(0)
    assert rewards_of(new_run)["format"] == RewardSpec(name="format")


def test_one_s_own_function_is_chosen_in_a_version(with_own: Page) -> None:
    add_reward(with_own, "short")
    expect(reward(with_own, "short").get_by_role("link", name="Edit short")).to_have_attribute(
        "href", "/rewards?name=short"
    )
    settings = open_settings(with_own, "short")
    expect(settings.get_by_label("most", exact=True)).to_have_attribute("placeholder", "20")
    older = library.versions("short")[1].hash
    settings.get_by_label("Version").select_option(older)
    follows(with_own, older)
    expect(settings.get_by_label("most", exact=True)).to_have_attribute("placeholder", "10")
    assert rewards_of(with_own)["short"].version == older
    settings.get_by_label("Version").select_option("")
    expect(settings.get_by_label("most", exact=True)).to_have_attribute("placeholder", "20")


def test_a_function_named_in_the_address_is_among_the_rewards(
    open_page: OpenPage, with_own: Page, shared_dashboard: str
) -> None:
    page = open_page(f"{shared_dashboard}/new?reward=short")
    expect(reward(page, "short")).to_be_visible()
    assert list(rewards_of(page)) == ["format", "correctness", "short"]


def test_a_stage_uses_the_run_s_rewards_until_it_has_its_own(new_run: Page) -> None:
    new_run.get_by_text("Stages", exact=True).click()
    new_run.get_by_role("button", name="Add a stage").click()
    new_run.locator("#stage-0-rewards").click()
    stage = new_run.locator(".stage").first
    stage.get_by_role("button", name="Remove correctness").click()
    expect(stage.get_by_role("button", name="Remove correctness")).to_have_count(0)  # the list is drawn anew
    stage.get_by_label("weight of format").fill("3")
    follows(new_run, "weight: 3")
    stage.locator(".settings summary").click()
    stage.get_by_label("changes with the steps").check()
    expect(stage.get_by_label("step of point 1")).to_have_value("0")
    new_run.locator("#stage-0-training").fill("max_steps: 3")
    follows(new_run, "max_steps: 3")
    stages = spec.parse_spec(yaml_of(new_run)).stages
    assert stages[0].rewards is not None
    assert [(one.name, one.weight, len(one.schedule)) for one in stages[0].rewards] == [("format", 3.0, 2)]
    assert (stages[0].training, stages[1].rewards) == ({"max_steps": 3}, None)
    new_run.locator("#stage-0-rewards").click()
    expect(stage.get_by_label("weight of format")).to_have_count(0)
    assert spec.parse_spec(yaml_of(new_run)).stages[0].rewards is None


def test_what_is_wrong_with_a_reward_is_said_in_its_row(new_run: Page) -> None:
    write_yaml(new_run, yaml_of(new_run).replace("- name: format\n", "- name: formatt\n"))
    show(new_run, "Form")
    expect(reward(new_run, "formatt").locator("> .said")).to_contain_text("Did you mean “format”?")


def test_the_rewards_look_as_they_should(with_own: Page) -> None:
    for name in ("short", "length", "llm_judge"):
        add_reward(with_own, name)
    open_settings(with_own, "format").get_by_label("changes with the steps").check()
    open_settings(with_own, "short").get_by_label("follows success").check()
    open_settings(with_own, "length").get_by_label("mode", exact=True).select_option("target")
    follows(with_own, "mode: target")
    with_own.get_by_label("weight of length").fill("much")
    expect(with_own.locator(".rewards .verdict-at.blocking").first).to_be_visible()
    picture(with_own, "new-rewards")
    assert no_sideways_scroll(with_own)


def test_what_came_of_a_call_is_told_in_place_of_what_its_code_lets_one_expect(new_run: Page) -> None:
    """That the model is not trained to be correct was said of one that gives nothing at all."""
    library.save_reward("silent", "def silent(completions, **kwargs):\n    return [None for _ in completions]\n")
    text = yaml_of(new_run)
    write_yaml(new_run, text[: text.index("rewards:")] + "rewards:\n- name: silent\n" + text[text.index("training:") :])
    verdicts = new_run.locator(".verdicts")
    expect(verdicts).to_contain_text("“silent” returned None for all of the 4 sample completions", timeout=180_000)
    expect(verdicts).not_to_contain_text("not trained to be correct")
