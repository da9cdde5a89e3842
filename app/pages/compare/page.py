"""Compare (`/compare?ids=…`): several runs over each other, and what differs between them."""

from __future__ import annotations

import gradio as gr

from groupwise.app.pages.compare.compare import compare
from groupwise.app.ui.topbar import topbar


def build() -> None:
    gr.Navbar(visible=False)
    topbar("")
    compare()
