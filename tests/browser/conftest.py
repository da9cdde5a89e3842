"""One chromium for all browser tests, and pages that fail a test when a script on them fails."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Locator,
    Mouse,
    Page,
    Route,
    ViewportSize,
    expect,
    sync_playwright,
)

from groupwise.app.ui import modules
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Catalogue, Shipped
from tests.support.browsers import without_window
from tests.support.homes import dashboard, empty_home, fresh_home, in_home, no_worker, wait_for

# Chromium draws parts of its own window as pages, in a process for each tab (a fifth of what a page costs here). The
# list takes the place of playwright's, of which the rest is what could change a test.
NO_FEATURES = (
    "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose", "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter",
    "OptimizationHints", "NetworkTimeServiceQuerying", "PaintHolding", "PreconnectToSearch",
    "ThirdPartyStoragePartitioning", "Translate",
)  # fmt: skip
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", f"--disable-features={','.join(NO_FEATURES)}",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]  # fmt: skip
# A page costs a third less in a process that has drawn others before it.
ONE_PROCESS = "--process-per-site"
WINDOW = ViewportSize(width=1440, height=900)
LOOKS = {"light": ("light", 1440), "dark": ("dark", 1440), "390": ("light", 390)}

OpenPage = Callable[..., Page]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=without_window(), args=FLAGS)
        expect.set_options(timeout=60_000)  # what a page says comes sooner or later, on a busy machine later
        yield browser
        browser.close()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """One person's browser, new: its pages share nothing with other tests."""
    made = chromium.new_context(viewport=WINDOW)
    made.set_default_timeout(60_000)
    made.set_default_navigation_timeout(180_000)  # a launch waits for what the worker says of all rows
    yield made
    made.close()


@pytest.fixture(scope="session")
def used_context(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """A browser that keeps the scripts it has loaded from test to test, compiled and in files as a person's does, and
    nothing else (see `open_page`): to load and compile them anew takes a third of what the page of a run costs."""
    made = chromium.browser_type.launch_persistent_context(
        tmp_path_factory.mktemp("profile"), executable_path=without_window(), args=[*FLAGS, ONE_PROCESS],
        viewport=WINDOW,
    )  # fmt: skip
    made.set_default_timeout(60_000)
    made.set_default_navigation_timeout(180_000)  # a launch waits for what the worker says of all rows
    yield made
    made.close()


def _forget_all(context: BrowserContext) -> None:
    """Close its pages but the first, which shows nothing, with what they kept. A clock of playwright's would stay for
    all tests after: none may be."""
    context.clear_cookies()
    context.clear_permissions()
    clocks = 0
    for page in context.pages[1:]:
        if page.url.startswith("http"):
            with contextlib.suppress(Error):  # a page that was just left, or crashed
                clocks += page.evaluate("localStorage.clear(), '__pwClock' in globalThis")
        page.close()
    assert not clocks, "a test that sets the clock asks for `context`, a browser of its own"


@pytest.fixture
def open_page(request: pytest.FixtureRequest) -> Iterator[OpenPage]:
    """Opens tabs, in a browser of this test's own where it asks for `context`; afterwards no script may have failed and
    no request left this machine, in any of them."""
    own = "context" in request.fixturenames
    context: BrowserContext = request.getfixturevalue("context" if own else "used_context")
    errors: list[str] = []

    def opened(address: str) -> Page:
        if not own:
            _keep_process(context, address)
        page = context.new_page()
        listen(page, errors)
        page.goto(address)
        return page

    yield opened
    if not own:
        _forget_all(context)
    assert errors == []


def _keep_process(context: BrowserContext, address: str) -> None:
    """The first tab stays on the site, so that the process lives on when a test's own tabs are closed."""
    first = context.pages[0]
    if address.startswith("http") and not first.url.startswith("http"):
        first.goto(urljoin(address, "/healthz"))


def listen(page: Page, errors: list[str]) -> None:
    """What fails on a page is noted, and every request to another machine, all of which fail (FLAGS): to be told of
    each one that does not took more of a test's processor than the test."""
    page.on("pageerror", lambda error: errors.append(f"{page.url}: {error}"))
    page.on("requestfailed", lambda request: _note_foreign(request.url, errors))


def _note_foreign(url: str, errors: list[str]) -> None:
    if not url.startswith(("http://127.0.0.1:", "data:", "blob:")):
        errors.append(f"a request left for {url}")


NO_DASHBOARD = "http://modules.test"


@pytest.fixture(scope="session")
def _bare_page(chromium: Browser) -> Page:
    page = chromium.new_context(viewport=WINDOW).new_page()
    page.set_default_timeout(60_000)
    page.route(f"{NO_DASHBOARD}/**", _serve_module)
    return page


@pytest.fixture
def bare_page(_bare_page: Page) -> Iterator[Page]:
    """An empty page with no dashboard behind it, which can import our modules: one tab, opened anew for each test."""
    _bare_page.set_viewport_size(WINDOW)
    _bare_page.goto(NO_DASHBOARD)
    yield _bare_page
    _bare_page.evaluate("localStorage.clear(), sessionStorage.clear()")


@functools.cache
def _modules_served() -> dict[str, bytes]:
    return {modules.address(name): text for name, text in modules.sources().items()}


def _serve_module(route: Route) -> None:
    text = _modules_served().get(route.request.url.removeprefix(NO_DASHBOARD))
    route.fulfill(body=text or b"", content_type="text/html" if text is None else "text/javascript")


def bring(page: Page, module: str, *names: str) -> Page:
    """The page, with what the module exports under these names as globals."""
    there = """async ([address, names]) => {
      const all = await import(address);
      for (const name of names) window[name] = all[name];
    }"""
    page.evaluate(there, [modules.address(module), names])
    return page


def set_params(page: Page, changes: dict[str, Any], *, push: bool = False) -> None:
    """Change what the page's address says, as a part of the page would."""
    bring(page, "ui/address.js", "setParams").evaluate("given => setParams(...given)", [changes, {"push": push}])


def wake_all(page: Page) -> None:
    """Have all parts of the page ask the server now: what a test put behind it is seen without the seconds until they
    would by themselves, where it is not about these."""
    bring(page, "ui/poll.js", "wakeAll").evaluate("wakeAll()")


class Held:
    """Holds the page's questions to one function of the server, until they are released."""

    def __init__(self, page: Page, function: str) -> None:
        self.function: str | None = function
        self.kept: list[Route] = []
        page.route("**/component_server/", self._look)

    def _look(self, route: Route) -> None:
        if json.loads(route.request.post_data or "{}").get("fn_name") == self.function:
            self.kept.append(route)
        else:
            route.fallback()

    def release(self) -> None:
        self.function = None
        for route in self.kept:
            route.continue_()


def drag(plot: Locator, start: float, end: float) -> None:
    """Drag over a chart, from one share of its width to another."""
    drag_begun(plot, start, end).up()


def drag_begun(plot: Locator, start: float, end: float) -> Mouse:
    """The mouse that still has to let go."""
    box = plot.locator(".nsewdrag").bounding_box()
    assert box
    mouse = plot.page.mouse
    mouse.move(box["x"] + box["width"] * start, box["y"] + 40)
    mouse.down()
    mouse.move(box["x"] + box["width"] * end, box["y"] + 45, steps=4)
    return mouse


def picture(page: Page, name: str) -> None:
    """For people to look at, where `make shots` asks for it: screenshots in light, dark and 390 px, NAME-LOOK.png."""
    if "GROUPWISE_SHOTS" not in os.environ:
        return
    shots = Path(os.environ["GROUPWISE_SHOTS"])
    shots.mkdir(exist_ok=True)
    before = page.viewport_size
    for look, (scheme, width) in LOOKS.items():
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(400)
        _draw_all(page)
        page.screenshot(path=shots / f"{name}-{look}.png", full_page=True)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(before or {"width": 1440, "height": 900})


def _draw_all(page: Page) -> None:
    """Charts are drawn, and drawn anew for another theme, when they come into view: all of them do, once."""
    if page.locator(".js-plotly-plot").count():
        for place in range(0, int(page.evaluate("document.documentElement.scrollHeight")), 800):
            page.evaluate("place => scrollTo({ top: place, behavior: 'instant' })", place)
            page.wait_for_timeout(120)
        page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")


def low_targets(page: Page) -> list[str]:
    """The links and buttons that a finger may miss: less than 24 px high (WCAG 2.2, 2.5.8)."""
    found: list[str] = page.evaluate("""() =>
      [...document.querySelectorAll(".gw :is(a, button)")]
        .filter(node => node.offsetParent && [...node.getClientRects()].some(({ height }) => height < 24))
        .map(node => node.outerHTML)""")
    return found


def no_sideways_scroll(page: Page) -> bool:
    """Whether the page fits a phone's width."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(200)
    fits: Any = page.evaluate("document.documentElement.scrollWidth <= 390")
    page.set_viewport_size({"width": 1440, "height": 900})
    return bool(fits)


@pytest.fixture(scope="session")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a worker's own reader publishes of the installed TRL: a quarter of a minute of work, once for all tests,
    also where several processes run them. A worker that finds it published does not read it again."""
    place = tmp_path_factory.getbasetemp()
    kept = (place.parent if "PYTEST_XDIST_WORKER" in os.environ else place) / "catalogue.json"
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            with fresh_home():
                subprocess.run([sys.executable, "-m", "groupwise.worker.capabilities.catalogue"], check=True)
                found = registry.read_fact(Catalogue)
                assert found is not None
                kept.write_text(json.dumps(found.as_dict()))
    return json.loads(kept.read_text())


@pytest.fixture(scope="module")
def known_home(catalogue: Any) -> Iterator[Path]:
    """A home for a module's tests in which a worker was before."""
    with fresh_home() as place:
        registry.publish_fact(Catalogue.from_plain(catalogue))
        yield place


@contextlib.contextmanager
def kept_dashboard(catalogue: Any, *, worker: bool = True) -> Iterator[tuple[Path, str]]:
    """A dashboard for many modules, and its home; each of them moves into that. It has a worker, which has said what
    ships, or none: runs stay as they are put."""
    before = os.environ.get("GROUPWISE_HOME")
    with fresh_home() as place:
        registry.publish_fact(Catalogue.from_plain(catalogue))
        with contextlib.nullcontext() if worker else no_worker(), dashboard() as (_, address):
            if worker:
                wait_for("what ships", lambda: registry.read_fact(Shipped))
            with in_home(before):
                yield place, address


@pytest.fixture(scope="session")
def _used_dashboard(catalogue: Any) -> Iterator[tuple[Path, str]]:
    with kept_dashboard(catalogue) as made:
        yield made


@pytest.fixture(scope="module")
def shared_dashboard(_used_dashboard: tuple[Path, str]) -> Iterator[str]:
    """The address of one dashboard for a module's tests, in whose home nothing is but what these bring. It was another
    module's before: to start it, and the process that answers its questions, takes ten seconds."""
    place, address = _used_dashboard
    with in_home(place):
        yield address
        empty_home()


@pytest.fixture(scope="session")
def _still_dashboard(catalogue: Any) -> Iterator[tuple[Path, str]]:
    with kept_dashboard(catalogue, worker=False) as made:
        yield made


@pytest.fixture(scope="module")
def still_dashboard(_still_dashboard: tuple[Path, str]) -> Iterator[str]:
    """The same of one that has no worker: its runs stay as they are put."""
    place, address = _still_dashboard
    with in_home(place):
        yield address
        empty_home()


@pytest.fixture(scope="session")
def _read_dashboard(catalogue: Any) -> Iterator[tuple[Path, str]]:
    with kept_dashboard(catalogue) as made:
        yield made


@pytest.fixture(scope="module")
def reading_dashboard(_read_dashboard: tuple[Path, str]) -> Iterator[str]:
    """The address of one dashboard for all tests that do no more than look at runs they made themselves, without a
    training; its home is theirs."""
    place, address = _read_dashboard
    with in_home(place):
        yield address


@pytest.fixture
def new_run(open_page: OpenPage, shared_dashboard: str) -> Page:
    """The page that sets up a run."""
    page = open_page(f"{shared_dashboard}/new")
    expect(page.get_by_label("Group size", exact=True)).to_have_value("8")
    return page


@pytest.fixture(autouse=True)
def own_home() -> None:
    """Here the dashboard brings its home (tests.support.homes), and a test must not be moved to another."""
