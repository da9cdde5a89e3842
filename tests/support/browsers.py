"""Where the Chromium is that tests and measurements drive."""

from __future__ import annotations

import os
import shutil

WHOLE = ("chromium", "chromium-browser", "google-chrome")


def whole() -> str:
    """Chromium as people have it, for what is measured."""
    return _first(*WHOLE)


def without_window() -> str:
    """Chromium's engine alone where Debian's package of it is installed: to open a page takes two thirds of the
    processor then. GROUPWISE_CHROMIUM names another."""
    return os.environ.get("GROUPWISE_CHROMIUM") or _first("chromium-headless-shell", *WHOLE)


def _first(*names: str) -> str:
    found = next(filter(None, map(shutil.which, names)), None)
    assert found, "The browser tests need Chromium: `make chromium`."
    return found
