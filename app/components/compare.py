"""Compare: several runs over each other, what differs between them, and the same prompts side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from app.components.live import Payload, answer, live


@answer
def compared(payload: Payload) -> dict[str, Any]:
    """The runs that the address names."""
    return {}


def compare(plotly: Path) -> gr.HTML:
    """The whole of the Compare page. `plotly`: see overview.overview."""
    return live("compare", compared, head=f'<script src="/gradio_api/file={plotly}"></script>')
