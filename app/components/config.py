"""The Config of a run: what was asked, the same as a plain TRL script, and the reward code, each to be copied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from app.components.live import Payload, Unanswerable, answer, live, run_of

MOST_BYTES = 512 * 1024


@answer
def files(payload: Payload) -> dict[str, Any]:
    """The run's text files: name, what it is, text."""
    folder = run_of(payload).folder
    if not folder.path.is_dir():
        raise Unanswerable("The folder of this run was deleted, and its settings with it.")
    found = [
        item(folder.spec, "what was asked, exactly"),
        item(folder.script, "the same run as a plain TRL script; it runs in this folder without Groupwise"),
        item(folder.task, "the built-in task that makes the prompts"),
        *(item(path, "a reward function, exactly as it scored") for path in sorted(folder.rewards.glob("*.py"))),
    ]
    return {"files": [file for file in found if file]}


def item(path: Path, about: str) -> dict[str, str] | None:
    """One file; None where there is none, or where it is a link out of the folder."""
    if not path.is_file() or path.is_symlink() or path.name == "__init__.py":
        return None
    with path.open("rb") as file:
        words = file.read(MOST_BYTES).decode("utf-8", "replace")
    name = path.name if path.parent.name != "rewards" else f"rewards/{path.name}"
    return {"name": name, "about": about, "text": words}


def config() -> gr.HTML:
    """The Config part of a run's page."""
    template = '<p class="s mut wait">Reading…</p><div class="files"></div>'
    return live("config", files, template=template, elem_id="part-config", elem_classes=["part", "part-config"])
