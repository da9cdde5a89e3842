"""The Statistics of a run: ties, solve rates, distributions and agreement of its groups."""

from __future__ import annotations

from typing import Any

import gradio as gr

from app.components.live import Payload, answer, live, run_of


@answer
def told(payload: Payload) -> dict[str, Any]:
    """The group statistics."""
    run_of(payload)
    return {}


def statistics() -> gr.HTML:
    """The Statistics part of a run's page."""
    return live("statistics", told, elem_id="part-statistics", elem_classes=["part", "part-statistics"])
