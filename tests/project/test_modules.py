"""Our own JavaScript: how its modules name one another, and what no file of it may have."""

from __future__ import annotations

import pytest

from groupwise.app.ui import modules

LONGEST_LINE = 120  # characters; the formatter breaks code, and neither comments nor texts


def test_every_module_imports_modules_that_are_there() -> None:
    assert set(modules.with_imports(modules.sources())) == set(modules.sources())


def test_what_a_page_needs_is_all_that_it_imports_and_nothing_else() -> None:
    needed = modules.with_imports(["ui/poll.js"])
    assert sorted(needed) == ["ui/dom.js", "ui/poll.js", "ui/settings.js", "ui/visible_text.js"]
    with pytest.raises(KeyError):
        modules.with_imports(["ui/nothing.js"])


def test_an_address_is_of_one_text() -> None:
    assert modules.address("ui/poll.js") == f"/modules/{modules.digest()}/ui/poll.js"
    assert len(modules.digest()) == 16


def test_no_line_is_too_long() -> None:
    long = [
        f"{name}:{number}"
        for name, text in modules.sources().items()
        for number, line in enumerate(text.decode().splitlines(), 1)
        if len(line) > LONGEST_LINE
    ]
    assert not long


def test_pages_share_modules_and_import_none_of_another_page() -> None:
    for name in modules.sources():
        folder = name.rsplit("/", 1)[0]
        others = {other for other in modules.with_imports([name]) if other.startswith("pages/")}
        assert folder.startswith("pages/") or not others, f"{name} is shared, and imports a page's"
        assert all(other.startswith(f"{folder}/") for other in others), name
