"""Our own style sheets: no page's reaches into another, and no rule is for what nothing draws."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupwise.app.ui import sheets
from groupwise.app.ui.modules import APP
from tests.conftest import REPOSITORY

MOST_LINES = 350
EVERY = [*sheets.shared_sheets(), *sheets.page_sheets()]
# Classes that are Gradio's, Plotly's and Ace's, and one that is put together (ui/libraries.js).
OF_OTHERS = re.compile(r"gradio-container|contain|main|wrap|column|html-container|block|prose|nav-holder|ace_\w.*|"
                       r"nsewdrag|spikeline|dark|without-plotly")  # fmt: skip
NAME = re.compile(r"\.(-?[A-Za-z_][\w-]*)")


def name_of(path: Path) -> str:
    return path.relative_to(APP).as_posix()


# --- what a sheet says


def selectors(text: str) -> Iterator[str]:
    """Each selector of a sheet, also of those in @media and @container."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"@keyframes [^{]*{(?:[^{}]*{[^{}]*})*\s*}", "", text)
    for head in re.findall(r"([^{}]+){", text):
        if not head.strip().startswith("@"):
            yield from (" ".join(one.split()) for one in apart(head))


def apart(head: str) -> list[str]:
    """“a, :is(b, c)” → “a” and “:is(b, c)”."""
    found, depth = [""], 0
    for letter in head:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return found


def classes(selector: str) -> set[str]:
    return set(NAME.findall(re.sub(r'"[^"]*"', "", selector)))


def required(selector: str) -> str:
    """The selector without what it only asks or excludes: `:has(…)` and `:not(…)`."""
    while (shorter := re.sub(r":(?:has|not)\((?:[^()]|\([^()]*\))*\)", "", selector)) != selector:
        selector = shorter
    return selector


def restyles_everything(selector: str) -> bool:
    """Whether it is about any element, in one that has something: a browser then restyles the whole page, some 12 ms,
    whenever anything comes or goes anywhere, as Plotly's texts do a dozen times in each drawing."""
    depth, last = 0, 0
    for place, letter in enumerate(selector):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter in " >+~" and not depth:
            last = place + 1
    return ":has(" in selector[:last] and not re.search(
        r"[\w\]]", re.sub(r":(?!is\b)[\w-]+", "", required(selector[last:]))
    )


def is_of_its_page(selector: str, parts: set[str]) -> bool:
    """Whether it matches nothing but a part of the page and what is in one. Ace hangs what pops up on the body."""
    return bool(classes(required(selector)) & parts) or selector.startswith(".ace_")


# --- what is drawn


@functools.cache
def parts_of(folder: Path) -> set[str]:
    """The classes of a page's live parts, and of what Gradio puts around them."""
    text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    lists = re.findall(r"elem_classes=\[([^]]*)]", text)
    around = {name for one in lists for name in re.findall(r'"([^"]+)"', one)}
    return {f"gw-{name}" for name in re.findall(r'live\(\s*"pages/\w+/(\w+)"', text)} | around


@functools.cache
def made_by(path: Path) -> frozenset[str]:
    """The words of a file that may be classes: those in `class="…"`, in `el("p.s.mut")`, and texts that are nothing but
    a few small words, of which classes are put together."""
    text = path.read_text(encoding="utf-8")
    found = {word for one in re.findall(r'class=["\']?([^"\'>]*)', text) for word in re.findall(r"[\w-]+", one)}
    if path.suffix == ".html":
        return frozenset(found)
    for one in re.findall(r"""["'`]([^"'`\n]*)["'`]""", text):
        if re.fullmatch(r"(?:[a-z][a-z0-9]*)?(?:\.[^ ].*)", one):
            found |= set(re.findall(r"[\w-]+", one))
        elif re.fullmatch(r" ?[a-z][\w-]*(?: [a-z][\w-]*){0,4}", one):
            found |= set(one.split())
    for one in re.findall(r"class(?:Name)?(?::| =) *(`[^`]*`|{[^}]*})", text):
        found |= set(re.findall(r"[\w-]+", one))
    return frozenset(found)


def made_in(*folders: Path) -> set[str]:
    files = (path for folder in folders for path in folder.rglob("*") if path.suffix in (".js", ".py", ".html"))
    return set().union(*map(made_by, files))


def unmade(path: Path) -> set[str]:
    """The classes that a sheet has rules for, and nothing makes: no module of its page, none that pages share, and no
    word of a record or a check (`error`, `blocking`)."""
    shared = path in sheets.shared_sheets()
    made = made_in(*([APP] if shared else [path.parent, APP / "ui"]), REPOSITORY / "storage")
    named = {name for one in selectors(path.read_text(encoding="utf-8")) for name in classes(one)}
    return {name for name in named - made if not OF_OTHERS.fullmatch(name) and not name.startswith("gw")}


# --- the rules


def test_every_sheet_is_in_every_page_once() -> None:
    assert sorted(EVERY) == sorted(APP.rglob("*.css"))
    texts = [path.read_text(encoding="utf-8") for path in EVERY]
    assert sheets.style_text() == "\n".join(texts)


@pytest.mark.parametrize("path", EVERY, ids=name_of)
def test_a_sheet_is_short_enough_to_be_read(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", sheets.page_sheets(), ids=name_of)
def test_a_page_s_sheet_is_about_its_page_alone(path: Path) -> None:
    """`.prompt`, `.part` and `.empty` of one page hid or bent blocks of others."""
    parts = parts_of(path.parent)
    assert parts, "the page has no live part"
    told = list(selectors(path.read_text(encoding="utf-8")))
    assert told
    assert [one for one in told if not is_of_its_page(one, parts)] == []


@pytest.mark.parametrize("path", sheets.shared_sheets(), ids=name_of)
def test_a_shared_sheet_is_about_no_page_s_part(path: Path) -> None:
    parts = set().union(*(parts_of(folder) for folder in APP.glob("pages/*/")))
    assert [one for one in selectors(path.read_text(encoding="utf-8")) if classes(one) & parts] == []


@pytest.mark.parametrize("path", EVERY, ids=name_of)
def test_no_rule_is_for_a_class_that_nothing_makes(path: Path) -> None:
    assert unmade(path) == set()


@pytest.mark.parametrize("path", EVERY, ids=name_of)
def test_no_rule_has_the_whole_page_styled_anew_at_each_change(path: Path) -> None:
    assert [one for one in selectors(path.read_text(encoding="utf-8")) if restyles_everything(one)] == []


@pytest.mark.parametrize(
    ("selector", "everything"),
    [
        (".gw-a:not([data-b]):has(> .c:not([hidden])) > *", True), (".gw-a:has(.c) > :not(.d)", True),
        (".gw-a:has(> .c) > .d", False), (".gw-a:has(> .c) p:empty", False), (".gw-a > :not(.b:has(.c))", False),
        (".gw-a > *", False), (".gw-a:has(.c) [hidden]", False),
        (".gw-a:has(.c) :hover", True), (".gw-a:has(.c) :is(.d, .e)", False),
    ],
)  # fmt: skip
def test_what_has_the_whole_page_styled_anew(selector: str, everything: bool) -> None:
    assert restyles_everything(selector) is everything


@pytest.mark.parametrize(
    ("selector", "its"),
    [
        (".prompt .row", False), (".gw .prompt", False), (".gw-groups .prompt", True), (".gw-new_run .prompt", False),
        ("body:has(.gw-groups) .prompt", False), (":not(.gw-groups:has(.row)) > .prompt", False),
        (".gw.gw-groups:not(:has(.a)) > .prompt", True), ("body.gw-missing .gw-part", True),
    ],
)  # fmt: skip
def test_what_is_of_a_page(selector: str, its: bool) -> None:
    assert is_of_its_page(selector, {"gw-groups", "gw-part"}) is its


def test_what_a_sheet_says() -> None:
    text = """/* a {} */ .a, .b:is(.c, .d) > i { x: y } @keyframes k { 0%, 99% { opacity: 0; } }
    @media (max-width: 1px) { .e[title=".f"] { x: y; } }"""
    assert list(selectors(text)) == [".a", ".b:is(.c, .d) > i", '.e[title=".f"]']
    assert classes(".b:is(.c, .d) > i") == {"b", "c", "d"} and classes('.e[title=".f"]') == {"e"}
