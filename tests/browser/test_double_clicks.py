"""The second click of a double click, where the first one changed what is under the pointer."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.conftest import bring

LAYERS = """() => {
  document.body.innerHTML = `<button id="page" style="position:fixed;left:100px;top:100px;width:80px;height:40px">page
    </button><dialog style="position:fixed;left:100px;top:100px;margin:0;padding:0"><button id="yes"
    style="width:80px;height:40px">yes</button></dialog>`;
  const dialog = document.querySelector("dialog");
  window.clicks = { page: 0, yes: 0 };
  for (const id of ["page", "yes"]) document.getElementById(id).addEventListener("click", () => (clicks[id] += 1));
  document.getElementById("yes").addEventListener("click", () => dialog.close());
  window.show = () => dialog.showModal();
}"""


def test_a_double_click_is_for_the_dialog_or_for_the_page_and_never_for_both(bare_page: Page) -> None:
    page = bring(bare_page, "ui/double_click.js", "guardDoubleClicks")
    page.evaluate("guardDoubleClicks()")
    page.evaluate(LAYERS)
    page.evaluate("show()")
    page.mouse.dblclick(140, 120)
    assert page.evaluate("clicks") == {"page": 0, "yes": 1}
    page.mouse.click(140, 120)  # a third, as soon
    assert page.evaluate("clicks.page") == 0
    page.wait_for_timeout(800)
    page.mouse.dblclick(140, 120)  # nothing opens or closes: both count
    assert page.evaluate("clicks") == {"page": 2, "yes": 1}
    page.evaluate("document.getElementById('page').addEventListener('click', show)")
    page.wait_for_timeout(800)
    page.mouse.dblclick(140, 120)  # the first opens the dialog under the pointer
    assert page.evaluate("clicks") == {"page": 3, "yes": 1}
    page.keyboard.press("Tab")
    page.locator("#yes").focus()
    page.keyboard.press("Enter")  # the keyboard waits for nobody
    assert page.evaluate("clicks.yes") == 2


GOES = """() => {
  const at = top => `style="position:fixed;left:100px;top:${top}px;width:80px;height:40px"`;
  document.body.innerHTML = `<button id="goes" ${at(100)}>Resume</button><button id="tab" class="tab" ${at(150)}>Groups
    </button><div id="list" style="position:fixed;left:300px;top:100px;width:40px"></div><div id="step"
    style="position:fixed;left:400px;top:100px"></div>`;
  window.clicks = { goes: 0, tab: 0, removed: 0, steps: 0 };
  const [goes, tab, list, step] = document.querySelectorAll("[id]");
  for (const one of [goes, tab]) one.addEventListener("click", () => (clicks[one.id] += 1));
  goes.addEventListener("click", () => { goes.remove(); tab.style.top = "100px"; });
  const button = (parent, words, does) => {
    const one = Object.assign(document.createElement("button"), { textContent: words, className: words });
    one.style.cssText = "display:block;width:40px;height:30px";
    one.addEventListener("click", does);
    parent.replaceChildren(...parent.childNodes, one);
  };
  for (const _ of [1, 2, 3]) button(list, "×", event => { event.currentTarget.remove(); clicks.removed += 1; });
  const draw = () => { step.replaceChildren(); button(step, "+", () => { clicks.steps += 1; draw(); }); };
  draw();
}"""


def test_a_double_click_on_what_goes_is_not_for_what_takes_its_place(bare_page: Page) -> None:
    page = bring(bare_page, "ui/double_click.js", "guardDoubleClicks")
    page.evaluate("guardDoubleClicks()")
    page.evaluate(GOES)
    page.mouse.click(140, 120, click_count=3)  # one presses it, and as often again as a hasty hand does
    assert page.evaluate("[clicks.goes, clicks.tab]") == [1, 0]
    page.mouse.dblclick(140, 120)  # what is there now stays there: both count
    assert page.evaluate("clicks.tab") == 2
    page.mouse.click(320, 115, click_count=2)  # of two that are alike the next one comes up
    page.mouse.click(420, 115, click_count=3)  # and one is drawn anew each time
    assert page.evaluate("[clicks.removed, clicks.steps]") == [2, 3]
