"""The Blocks: routes, what stands in every page's head, and how all of it is mounted."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from groupwise.app.pages.compare import page as compare
from groupwise.app.pages.new import page as new
from groupwise.app.pages.rewards import page as rewards
from groupwise.app.pages.run import page as run
from groupwise.app.pages.run_list import page as runs
from groupwise.app.server import gradio_patches, page_head, static_scripts
from groupwise.app.ui.modules import APP
from groupwise.app.ui.theme import STYLE, theme


def build() -> gr.Blocks:
    """The whole dashboard: `/`, `/new`, `/rewards`, `/run?id=…` and `/compare?ids=…`."""
    gr.set_static_paths(static_scripts.static_paths())
    with gr.Blocks(title="Groupwise", analytics_enabled=False, fill_width=True) as demo:
        runs.build()
    with demo.route("New run", "/new", show_in_navbar=False):
        new.build()
    with demo.route("Rewards", "/rewards", show_in_navbar=False):
        rewards.build()
    with demo.route("Run", "/run", show_in_navbar=False):
        run.build()
    with demo.route("Compare", "/compare", show_in_navbar=False):
        compare.build()
    gradio_patches.write_page_patch(page_head.first, partial(page_head.last, parts=parts(demo)))
    return demo


def parts(demo: gr.Blocks) -> dict[str, list[str]]:
    """Of each page's path, the modules that its live parts begin with."""
    found: dict[str, list[str]] = {}
    for block in demo.blocks.values():
        if (module := getattr(block, "module", None)) is not None:
            found.setdefault(f"/{block.page}", []).append(module)
    return found


def mount_options() -> dict[str, Any]:
    """What gr.mount_gradio_app needs for the looks: theme and head.

    The stylesheet goes into the head as it is: Gradio's own `css` would prefix its selectors.
    """
    sheets = [STYLE, *sorted(APP.glob("pages/*/*.css"), key=lambda path: path.name)]
    style = "\n".join(path.read_text(encoding="utf-8") for path in sheets)
    return {"theme": theme(), "head": f"<style>{style}</style>"}
