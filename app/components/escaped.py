"""A place for HTML that Python has escaped: notes under fields, what will happen, where a spec came from."""

from __future__ import annotations

from typing import Any

import gradio as gr

from app.components.live import live


def escaped(value: str = "", **options: Any) -> gr.HTML:
    """`value` is HTML whose every text went through `live.escape`."""
    return live("escaped", value=value, **options)
