"""Run (`/run?id=…`): one run, watched and understood. Its parts are live; the address says which one is shown."""

from __future__ import annotations

import gradio as gr

from app.components.checkpoints import checkpoints
from app.components.completions import completions
from app.components.config import config
from app.components.doctor import doctor
from app.components.groups import groups
from app.components.header import header
from app.components.log import log
from app.components.overview import overview
from app.components.statistics import statistics
from app.components.topbar import topbar


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
