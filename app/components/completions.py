"""The Completions of a run: search, filter, read and export everything it wrote."""

from __future__ import annotations

from typing import Any

import gradio as gr

from app.components.live import Payload, answer, live, run_of


@answer
def found(payload: Payload) -> dict[str, Any]:
    """The completions that the address asks for."""
    run_of(payload)
    return {}


def completions() -> gr.HTML:
    """The Completions part of a run's page."""
    return live("completions", found, elem_id="part-completions", elem_classes=["part", "part-completions"])
