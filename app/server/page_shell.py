"""The Blocks: routes, what stands in every page's head, and how all of it is mounted."""

from __future__ import annotations

from typing import Any

import gradio as gr

from groupwise.app.pages.compare import page as compare
from groupwise.app.pages.new import page as new
from groupwise.app.pages.rewards import page as rewards
from groupwise.app.pages.run import page as run
from groupwise.app.pages.runs import page as runs
from groupwise.app.server import gradio_patches, static_scripts
from groupwise.app.ui.live import APP
from groupwise.app.ui.theme import STYLE, theme


def build() -> gr.Blocks:
    """The whole dashboard: `/`, `/new`, `/rewards`, `/run?id=…` and `/compare?ids=…`."""
    gr.set_static_paths(static_scripts.static_paths())
    gradio_patches.write()
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
    return demo


def mount_options(guarded: bool = False) -> dict[str, Any]:
    """What gr.mount_gradio_app needs for the looks: theme and head. `guarded`: one can log out.

    The stylesheet goes into the head as it is: Gradio's own `css` would prefix its selectors.
    """
    sheets = [STYLE, *sorted(APP.glob("pages/*/*.css"), key=lambda path: path.name)]
    style = "\n".join(path.read_text(encoding="utf-8") for path in sheets)
    script = (APP / "ui" / "live.js").read_text(encoding="utf-8").replace("@libraries", static_scripts.addresses())
    script = script.replace("@guarded", "true" if guarded else "false")
    return {"theme": theme(), "head": f"<style>{style}</style>\n<script>{script}</script>"}
