"""The Blocks: routes, what stands in every page's head, and how all of it is mounted."""

from collections.abc import Callable
from functools import partial
from typing import Any

import gradio as gr

from groupwise.app.pages.compare.compare import compare
from groupwise.app.pages.new.new_run import new_run
from groupwise.app.pages.rewards.rewards_page import rewards_page
from groupwise.app.pages.run.checkpoints import checkpoints
from groupwise.app.pages.run.completions import completions
from groupwise.app.pages.run.config import config
from groupwise.app.pages.run.doctor import doctor
from groupwise.app.pages.run.first_look import first_look
from groupwise.app.pages.run.groups import groups
from groupwise.app.pages.run.header import header
from groupwise.app.pages.run.log import log
from groupwise.app.pages.run.overview import overview
from groupwise.app.pages.run.statistics import statistics
from groupwise.app.pages.run_list.runs_table import runs_table
from groupwise.app.server import gradio_patches, page_head, static_scripts
from groupwise.app.ui import sheets
from groupwise.app.ui.theme import theme
from groupwise.app.ui.topbar import topbar

RUN_PARTS = (header, doctor, overview, groups, completions, statistics, config, log, checkpoints)
# The pages beside the first: name, address, and their live parts from top to bottom.
PAGES = (
    ("New run", "/new", (new_run,)),
    ("Rewards", "/rewards", (rewards_page,)),
    ("Run", "/run", RUN_PARTS),
    ("Compare", "/compare", (compare,)),
)


def build() -> gr.Blocks:
    """The whole dashboard: `/`, `/new`, `/rewards`, `/run?id=…` and `/compare?ids=…`."""
    gr.set_static_paths(static_scripts.static_paths())
    with gr.Blocks(title="Groupwise", analytics_enabled=False, fill_width=True) as demo:
        _lay_out("Runs", runs_table)
    for name, address, live_parts in PAGES:
        with demo.route(name, address, show_in_navbar=False):
            _lay_out(name, *live_parts)
    first = partial(page_head.first, looks={"/run": first_look})
    gradio_patches.write_page_patch(first, partial(page_head.last, parts=parts(demo)))
    return demo


def _lay_out(name: str, *live_parts: Callable[[], gr.HTML]) -> None:
    gr.Navbar(visible=False)
    topbar(name)
    for part in live_parts:
        part()


def parts(demo: gr.Blocks) -> dict[str, list[str]]:
    """Of each page's path, the modules that its live parts begin with."""
    found: dict[str, list[str]] = {}
    for block in demo.blocks.values():
        if (module := getattr(block, "module", None)) is not None:
            found.setdefault(f"/{block.page}", []).append(module)
    return found


def mount_options() -> dict[str, Any]:
    """What gr.mount_gradio_app needs for the looks: theme and head.

    Our sheets go into the head as they are: Gradio's own `css` would prefix their selectors.
    """
    return {"theme": theme(), "head": f"<style>{sheets.style_text()}</style>"}
