"""Runs (`/`): every run of this home, or, in an empty home, how to begin."""

from __future__ import annotations

import gradio as gr

from groupwise.app.pages.run_list.runs_table import runs_table
from groupwise.app.ui.topbar import topbar


def build() -> None:
    gr.Navbar(visible=False)
    topbar("Runs")
    runs_table()
