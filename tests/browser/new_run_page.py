"""What a person does on the page that sets up a run, in words for the tests of it."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

from tests.support.homes import wait_for


def launch(page: Page) -> None:
    page.get_by_role("button", name="Launch", exact=True).click()


def show(page: Page, view: str) -> None:
    page.get_by_role("tab", name=view).click()


def editor(page: Page) -> Locator:
    return page.get_by_role("textbox", name="YAML")


def yaml_of(page: Page) -> str:
    return page.locator(".yaml textarea").input_value()


def write_yaml(page: Page, text: str) -> None:
    show(page, "YAML")
    editor(page).fill(text)


def follows(page: Page, words: str) -> None:
    """Waits until the YAML says this, with quotation marks or without: a changed text keeps those that were typed."""

    def is_said() -> bool:
        page.wait_for_timeout(30)
        text = yaml_of(page)
        return words in text or words in text.replace("'", "")

    wait_for(f"“{words}” in the YAML", is_said)


def reward(page: Page, name: str) -> Locator:
    """The row of a reward function that was chosen for the run."""
    return page.locator(f".rewards .reward[data-name='{name}']")


def add_reward(page: Page, name: str) -> None:
    page.locator(".rewards").get_by_label("Function to add").select_option(name)
    page.locator(".rewards").get_by_role("button", name="Add a reward").click()
    reward(page, name).wait_for()


def open_settings(page: Page, name: str) -> Locator:
    """The settings of a chosen function, opened."""
    settings = reward(page, name).locator(".settings")
    settings.locator("summary").click()
    return settings
