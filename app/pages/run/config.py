"""The Config of a run: what was asked, the same as a plain TRL script, and the reward code, each to be copied."""

import re
from pathlib import Path
from typing import Any

import gradio as gr

from groupwise.app.ui.live import Payload, Unanswerable, answer, live, run_of
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.home.files import is_file, is_folder, open_file
from groupwise.storage.record import run_files

MOST_BYTES = 512 * 1024
MOST_FILES = 64  # reward functions
BINARY = re.compile("[\ufffd\u2400-\u2421]")  # what `visible_text` makes of a file that is no text
FROM_SCRIPT = " Its train.py, below, has the same settings."


@answer
def config_files(payload: Payload) -> dict[str, Any]:
    """The run's text files: name, what it is, text; and whether a new run can `use` it. A spec.yaml that cannot be read
    is told of in a sentence, and shown where it is text."""
    folder = run_of(payload).folder
    if not folder.path.is_dir():
        raise Unanswerable("The folder of this run was deleted, and its settings with it.")
    fault = run_files.spec_fault(folder)
    spec = item(folder.spec, "spec as submitted", use=True)
    if fault and spec:
        spec = None if BINARY.search(spec["text"]) else {**spec, "about": "damaged", "use": False}
    found = [
        spec,
        item(
            folder.script,
            "the same run as a plain TRL script; it runs in this folder without Groupwise",
            use=bool(fault),
        ),
        item(folder.task, "the built-in task that makes the prompts"),
        *(item(path, "a reward function, exactly as it scored") for path in _functions(folder.rewards)),
    ]
    told = f"{fault[:1].upper()}{fault[1:]}.{FROM_SCRIPT if is_file(folder.script) else ''}"
    return {"files": [file for file in found if file], **({"sentence": told} if fault else {})}


def _functions(rewards: Path) -> list[Path]:
    return sorted(rewards.glob("*.py"))[:MOST_FILES] if is_folder(rewards) else []


def item(path: Path, about: str, *, use: bool = False) -> dict[str, Any] | None:
    """One file; None where there is none, or where it is a link."""
    if path.name == "__init__.py" or not is_file(path):
        return None
    with open_file(path) as file:
        words = file.read(MOST_BYTES).decode("utf-8", "replace").replace("\r\n", "\n")
    name = path.name if path.parent.name != "rewards" else f"rewards/{path.name}"
    return {"name": name, "about": about, "text": visible_text(words), "use": use}


def config() -> gr.HTML:
    """The Config part of a run's page."""
    template = '<p class="s mut wait">Reading…</p><div class="files"></div>'
    return live(
        "pages/run/config", config_files, template=template, elem_id="part-config", elem_classes=["part", "part-config"]
    )
