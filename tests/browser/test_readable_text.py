"""Whatever a page writes can be read: no text is smaller than 12 px, and all of it stands out from its ground by
4.5 : 1 (3 : 1 where it is large), in light and in dark; computed over all that every page shows."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from groupwise.storage.home import paths
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from tests.browser.conftest import OpenPage
from tests.support.made_runs import made_run
from tests.support.records import seal_checkpoint

# What is too small or too faint, as “12.0 px 3.21 : 1 words (selector)”. Passed over: what is disabled (WCAG passes it
# over, too), hidden from all, or is a mark with a text beside it.
FIND = r"""() => {
  const box = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (words) => {
    box.clearRect(0, 0, 1, 1);
    box.fillStyle = words;
    box.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = box.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const light = ([r, g, b]) => {
    const part = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ratio = (a, b) => {
    const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const ancestors = (node) => (node ? [node, ...ancestors(node.parentElement)] : []);
  const ground = (node) =>
    ancestors(node)
      .reverse()
      .reduce((below, each) => over(rgba(getComputedStyle(each).backgroundColor), below), [255, 255, 255, 1]);
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text; (text = walker.nextNode()); ) {
    const node = text.parentElement;
    if (!text.data.trim() || !node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const place = range.getBoundingClientRect();
    if (place.width < 2 || place.height < 2 || node.closest("script, style, noscript, .skip")) continue;
    if (node.closest(":disabled, [aria-disabled=true], [aria-hidden=true]")) continue;
    const look = getComputedStyle(node);
    const drawn = node instanceof SVGElement;
    const size = parseFloat(look.fontSize);
    const faint = ancestors(node).reduce((all, each) => all * Number(getComputedStyle(each).opacity), 1);
    const ink = rgba(drawn ? look.fill : look.color);
    const below = ground(node);
    const stands = ratio(over([...ink.slice(0, 3), ink[3] * faint], below), below);
    const large = size >= 24 || (size >= 18.66 && Number(look.fontWeight) >= 700);
    if (size >= 11.99 && stands >= (large ? 3 : 4.5) - 0.01) continue;
    const name = (each) => [each.tagName.toLowerCase(), ...each.classList].join(".");
    const where = ancestors(node).slice(0, 3).reverse().map(name).join(" > ");
    found.push(`${size} px ${stands.toFixed(2)} : 1 “${text.data.trim().slice(0, 40)}” (${where})`);
  }
  return [...new Set(found)];
}"""


@pytest.fixture(scope="module")
def place(still_dashboard: str) -> tuple[str, str, str]:
    """A dashboard with a run that learns and one that failed."""
    learns = made_run("learns", 40, eval_every=10)
    failed = made_run("failed", 20, state=states.FAILED)
    registry.set_state(failed, states.FAILED, "Failed at step 20: the device ran out of memory. Train with LoRA.")
    folder = paths.run_folder(learns)
    seal_checkpoint(folder.final)
    folder.script.write_text('"""Trains."""\nimport trl  # TRL\n\nRATE, NAME = 1e-4, f"a {trl}"\n')
    folder.log.write_text("a line\n{'loss': 0.0123, 'reward': 1.25}\n" * 20)
    return still_dashboard, learns, failed


def unreadable(page: Page) -> list[str]:
    """What stays so: a chart takes up another scheme's colours once it is in sight."""
    page.wait_for_timeout(400)
    for part in range(21):
        if not page.evaluate(FIND):
            break
        page.evaluate("part => scrollTo(0, part * document.documentElement.scrollHeight)", part / 20)
        page.wait_for_timeout(250)
    return list(page.evaluate(FIND))


def look(page: Page, address: str, ready: str) -> list[str]:
    page.goto(address)
    expect(page.locator(ready).first).to_be_visible()
    page.wait_for_timeout(300)
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        found += [f"{scheme}: {one}" for one in unreadable(page)]
    page.emulate_media(color_scheme="light")
    return found


PAGES = {
    "runs": ("/", "tbody tr"),
    "new": ("/new", ".field .input"),
    "rewards": ("/rewards", ".gw-rewards_page"),
    "compare": ("/compare?ids={learns},{failed}", ".gw-compare table"),
    "overview": ("/run?id={learns}", ".chart .main-svg"),
    "failed": ("/run?id={failed}", ".ending"),
    "groups": ("/run?id={learns}&tab=groups", ".comp"),
    "completions": ("/run?id={learns}&tab=completions&q=carry", ".hit mark"),
    "statistics": ("/run?id={learns}&tab=statistics", ".js-plotly-plot .main-svg"),
    "config": ("/run?id={learns}&tab=config", ".file pre"),
    "log": ("/run?id={learns}&tab=log", ".gw-log .lines div"),
    "checkpoints": ("/run?id={learns}&tab=checkpoints", ".snippet"),
    "no such run": ("/run?id=none", ".missing h1"),
    "no such page": ("/nope", "h1"),
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_all_text_of_a_page_can_be_read(open_page: OpenPage, place: tuple[str, str, str], name: str) -> None:
    address, learns, failed = place
    path, ready = PAGES[name]
    page = open_page("about:blank")
    assert look(page, f"{address}{path.format(learns=learns, failed=failed)}", ready) == []
