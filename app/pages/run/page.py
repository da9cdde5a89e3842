"""Run (`/run?id=…`): one run, watched and understood. Its parts are live; the address says which one is shown."""

from __future__ import annotations

import gradio as gr

from groupwise.app.pages.run.checkpoints import checkpoints
from groupwise.app.pages.run.completions import completions
from groupwise.app.pages.run.config import config
from groupwise.app.pages.run.doctor import doctor
from groupwise.app.pages.run.groups import groups
from groupwise.app.pages.run.header import header
from groupwise.app.pages.run.log import log
from groupwise.app.pages.run.overview import overview
from groupwise.app.pages.run.statistics import statistics
from groupwise.app.ui.topbar import topbar


def build() -> None:
    gr.Navbar(visible=False)
    topbar("")
    header()
    doctor()
    overview()
    groups()
    completions()
    statistics()
    config()
    log()
    checkpoints()
