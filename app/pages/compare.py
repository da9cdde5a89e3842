"""Compare (`/compare?ids=…`): several runs over each other, and what differs between them."""

from __future__ import annotations

from pathlib import Path

import gradio as gr

from app.components.compare import compare
from app.components.topbar import topbar


def build(plotly: Path) -> None:
    gr.Navbar(visible=False)
    topbar("")
    compare(plotly)
