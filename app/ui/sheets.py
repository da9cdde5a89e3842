"""Our own style sheets: each lies beside the module that draws what it is about, and every page has all of them.

What pages share is in ui, and may be of anything. A page's own begin each selector with the class of one of its parts
(`.gw-NAME`, see live.py), so that no rule reaches into another page (tests/project/test_sheets.py).
"""

import functools
import re
from pathlib import Path

from groupwise.app.ui.modules import APP

# The shared ones, the more general first: of two rules that weigh the same, the later one holds.
SHARED = (
    "tokens", "frame", "elements", "controls", "table", "state_badge", "topbar", "tabs", "verdicts", "completion",
    "highlight", "code_colours", "charts/charts", "touch",
)  # fmt: skip


def shared_sheets() -> list[Path]:
    """The sheets that are no page's own."""
    return [APP / "ui" / f"{name}.css" for name in SHARED]


def page_sheets() -> list[Path]:
    """The pages' own: of each page what is about a whole part first, then what is about pieces of it."""
    return sorted(APP.glob("pages/*/*.css"), key=lambda path: (path.parent, not _is_about_part(path), path))


def _is_about_part(path: Path) -> bool:
    """Whether the sheet has a part's name: its rules begin with it."""
    return re.search(rf"^\.gw-{path.stem}\b", path.read_text(encoding="utf-8"), re.MULTILINE) is not None


@functools.cache
def style_text(*, pages: bool = True) -> str:
    """The text of all sheets, or of the shared ones alone."""
    sheets = [*shared_sheets(), *(page_sheets() if pages else [])]
    return "\n".join(path.read_text(encoding="utf-8") for path in sheets)
