"""Runs (`/`): every run of this home, or, in an empty home, how to begin."""

from __future__ import annotations

import gradio as gr

from app.components.runs_table import runs_table
from app.components.topbar import topbar


def build() -> None:
    gr.Navbar(visible=False)
    topbar("Runs")
    runs_table()
