"""Rewards (`/rewards`): reward functions are written, tried on real completions, kept, and held against past runs."""

from __future__ import annotations

import gradio as gr

from groupwise.app.pages.rewards.rewards_page import rewards_page
from groupwise.app.ui.topbar import topbar


def build() -> None:
    gr.Navbar(visible=False)
    topbar("Rewards")
    rewards_page()
