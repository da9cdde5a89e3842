"""Logging in and out as a person does, in a browser: which sends headers of its own with every form."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import OpenPage, no_sideways_scroll, picture
from tests.conftest import ending, playing_supervisor
from tests.support.homes import fresh_home
from tests.support.servers import Server, begin


@pytest.fixture(scope="module")
def guarded() -> Iterator[Server]:
    """A dashboard that made its own token."""
    with fresh_home() as place, ending() as start, playing_supervisor(place):
        yield begin(start, place, "--token", "auto")


def link(server: Server) -> str:
    """The link that was printed, which carries the token."""
    return server.said.split()[-1]


def logged_in(page: Page) -> None:
    expect(page.locator(".gw-topbar .worker")).to_be_visible()


def test_the_printed_link_logs_in_and_one_can_log_out_on_every_page(open_page: OpenPage, guarded: Server) -> None:
    page = open_page(link(guarded))
    logged_in(page)
    assert "#" not in page.url and "login" not in page.url
    for path in ("/", "/new", "/rewards", "/run?id=none", "/compare"):
        page.goto(guarded.url + path)
        expect(page.get_by_role("button", name="Log out")).to_be_visible()
        assert no_sideways_scroll(page)
    page.goto(guarded.url)
    logged_in(page)
    picture(page, "logout")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.get_by_role("button", name="Log out")).to_be_in_viewport(ratio=0.99)
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login")
    page.goto(f"{guarded.url}/run?id=none")
    expect(page.get_by_label("Token")).to_be_visible()


def test_the_token_typed_into_the_form_leads_to_the_page_one_came_for(open_page: OpenPage, guarded: Server) -> None:
    page = open_page(f"{guarded.url}/rewards?view=library")
    page.get_by_label("Token").fill("not the token, surely")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("That is not the token")
    page.get_by_label("Token").fill(link(guarded).rpartition("#")[2])
    page.keyboard.press("Enter")
    page.wait_for_url("**/rewards?view=library")
    logged_in(page)


def test_a_page_that_asks_while_one_logs_out_leads_nowhere_else(open_page: OpenPage, guarded: Server) -> None:
    page = open_page(link(guarded))
    logged_in(page)

    def slowly(route: Route) -> None:
        reply = route.fetch(max_redirects=0)  # the session has ended
        time.sleep(3)  # in which the page asks the server, and is refused
        route.fulfill(response=reply)

    page.route("**/logout", slowly)
    refused: list[str] = []
    page.on("response", lambda reply: refused.append(reply.url) if reply.status == 401 else None)
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login")
    assert any(url.endswith("/theme.css") for url in refused)


def test_another_tab_asks_for_the_login_once_one_has_logged_out(open_page: OpenPage, guarded: Server) -> None:
    page = open_page(link(guarded))
    logged_in(page)
    other = open_page(f"{guarded.url}/rewards")
    logged_in(other)
    page.bring_to_front()
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login")
    other.bring_to_front()
    other.wait_for_url("**/login?next=%2Frewards*")


def test_a_page_left_open_outlives_every_limit_on_connections(open_page: OpenPage, guarded: Server) -> None:
    page = open_page(link(guarded))
    logged_in(page)
    page.wait_for_timeout(20_000)  # longer than a head may take, or a connection be idle
    asked = []
    page.on("response", lambda reply: asked.append(reply.status) if "component_server" in reply.url else None)
    page.wait_for_timeout(6_000)
    assert asked and set(asked) == {200}
    expect(page.locator("#gw-offline")).to_be_hidden()


def test_where_no_login_is_asked_for_there_is_nothing_to_log_out_of(open_page: OpenPage, shared_dashboard: str) -> None:
    page = open_page(shared_dashboard)
    expect(page.locator(".gw-topbar .worker")).to_be_visible()
    expect(page.get_by_role("button", name="Log out")).to_be_hidden()


def test_half_a_character_in_a_spec_is_said_and_not_taken_for_a_lost_connection(new_run: Page) -> None:
    said = []
    new_run.on("response", lambda reply: said.append(reply) if "component_server" in reply.url else None)
    name = new_run.get_by_role("textbox", name="Name", exact=True).first
    name.evaluate(
        "input => { input.focus(); document.execCommand('insertText', false, 'a' + String.fromCharCode(0xd800)); }"
    )
    name.blur()
    new_run.wait_for_timeout(2_000)
    assert said and all(reply.status == 200 for reply in said)
    answers = [json.loads(reply.body()) for reply in said if b"\\ud800" in (reply.request.post_data_buffer or b"")]
    assert answers and all("half of a character" in answer["sentence"] for answer in answers)
