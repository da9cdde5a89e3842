"""Compare (`/compare?ids=…`): several runs over each other, and what differs between them."""

from __future__ import annotations

import gradio as gr

from app.components.compare import compare
from app.components.topbar import topbar


def build() -> None:
    gr.Navbar(visible=False)
    topbar("")
    compare()
