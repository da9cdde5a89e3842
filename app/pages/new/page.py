"""New run (`/new`): a run is set up here, as a form, as YAML or from a script, and checked before it costs anything."""

from __future__ import annotations

import gradio as gr

from groupwise.app.pages.new.new_run import new_run
from groupwise.app.ui.topbar import topbar


def build() -> None:
    gr.Navbar(visible=False)
    topbar("New run")
    new_run()
