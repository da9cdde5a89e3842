"""The reward functions of a new run: which, and how much each counts. Its value is JSON, both ways."""

from __future__ import annotations

import json
from typing import Any

import gradio as gr

from app.components.live import live

MOST = 64  # rows taken from the page
TEMPLATE = (
    '<table><thead><tr><th></th><th scope="col">function</th><th scope="col" class="n">weight</th></tr></thead>'
    "<tbody></tbody></table>"
)


def rows(chosen: list[dict[str, str]], offered: dict[str, dict[str, Any]]) -> str:
    """The value: the chosen functions in their order, then the others on offer."""
    names = [reward["name"] for reward in chosen]
    others = [{"name": name, "weight": "1.0"} for name in offered if name not in names]
    listed = [
        {**reward, "on": reward in chosen, "help": str((offered.get(reward["name"]) or {}).get("help") or "")}
        for reward in [*chosen, *others]
    ]
    return json.dumps(listed)


def chosen(value: Any) -> list[dict[str, str]]:
    """The chosen functions of a value that a page sent; what is not of its form is left out."""
    try:
        listed = json.loads(value)
    except (TypeError, ValueError):
        return []
    return [
        {"name": str(row.get("name", ""))[:80], "weight": str(row.get("weight", ""))[:40]}
        for row in (listed if isinstance(listed, list) else [])[:MOST]
        if isinstance(row, dict) and row.get("on") is True
    ]


def picker() -> gr.HTML:
    """The table of reward functions; fires `input`."""
    return live("rewards", template=TEMPLATE, value="[]", elem_id="f-rewards")
