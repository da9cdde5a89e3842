"""A page that asks another machine for anything fails its test: by name, by number, by a script or by a picture."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import listen

ASK = """address => new Promise(done => {
  const asked = new Image();
  asked.onload = asked.onerror = done;
  asked.src = address + "/seen.png";
}).then(() => fetch(address + "/told", { method: "POST" }).catch(() => null))"""


@pytest.mark.parametrize("address", ["http://elsewhere.test", "http://192.0.2.1:8000", "https://8.8.8.8"])
def test_a_request_to_another_machine_is_noted(bare_page: Page, address: str) -> None:
    errors: list[str] = []
    listen(bare_page, errors)
    bare_page.evaluate(ASK, address)
    assert errors == [f"a request left for {address}/{what}" for what in ("seen.png", "told")]
