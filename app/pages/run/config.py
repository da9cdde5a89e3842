"""The Config of a run: what was asked, the same as a plain TRL script, and the reward code, each to be copied."""

from pathlib import Path
from typing import Any

import gradio as gr

from groupwise.app.ui.live import Payload, Unanswerable, answer, live, run_of
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.home.files import is_file, is_folder, open_file

MOST_BYTES = 512 * 1024
MOST_FILES = 64  # reward functions


@answer
def config_files(payload: Payload) -> dict[str, Any]:
    """The run's text files: name, what it is, text."""
    folder = run_of(payload).folder
    if not folder.path.is_dir():
        raise Unanswerable("The folder of this run was deleted, and its settings with it.")
    found = [
        item(folder.spec, "spec as submitted"),
        item(folder.script, "the same run as a plain TRL script; it runs in this folder without Groupwise"),
        item(folder.task, "the built-in task that makes the prompts"),
        *(item(path, "a reward function, exactly as it scored") for path in _functions(folder.rewards)),
    ]
    return {"files": [file for file in found if file]}


def _functions(rewards: Path) -> list[Path]:
    return sorted(rewards.glob("*.py"))[:MOST_FILES] if is_folder(rewards) else []


def item(path: Path, about: str) -> dict[str, str] | None:
    """One file; None where there is none, or where it is a link."""
    if path.name == "__init__.py" or not is_file(path):
        return None
    with open_file(path) as file:
        words = file.read(MOST_BYTES).decode("utf-8", "replace").replace("\r\n", "\n")
    name = path.name if path.parent.name != "rewards" else f"rewards/{path.name}"
    return {"name": name, "about": about, "text": visible_text(words)}


def config() -> gr.HTML:
    """The Config part of a run's page."""
    template = '<p class="s mut wait">Reading…</p><div class="files"></div>'
    return live(
        "pages/run/config", config_files, template=template, elem_id="part-config", elem_classes=["part", "part-config"]
    )
