"""The Log of a run: the tail of what its training process printed, made readable and safe to show."""

import os
import re
from pathlib import Path
from typing import Any

import gradio as gr

from groupwise.app.ui.live import Payload, Unanswerable, answer, is_ongoing, live, run_of, whole_number
from groupwise.storage.home import files
from groupwise.storage.home.redaction import redact

TAIL = 200 * 1024  # bytes shown of a long log
ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
SECRET = re.compile(
    r"\b(hf_|sk-|ghp_|gho_|github_pat_|glpat-|xox[abp]-|AKIA)[A-Za-z0-9_-]{8,}"
    r"|(?i:\b(authorization: *bearer|(?:api[_-]?key|hub_token|access_token|password|secret)['\"]? *[=:]))"
    r"( *['\"]?)[^\s'\",}]{6,}"
)


@answer
def tail(payload: Payload) -> dict[str, Any]:
    """The log from byte `at` on: whole lines (`text`), the line being written (`line`), and the next `at`.

    `reset` says that it begins anew: the first look, a long gap, or a log that shrank.
    """
    run = run_of(payload)
    alive = is_ongoing(run)
    if not run.folder.path.is_dir():
        raise Unanswerable("The folder of this run was deleted, and its log with it.")
    if not files.is_file(run.folder.log):
        return {"wait": "Nothing has been printed yet.", "poll": 1000 if alive else 5000}
    return read_from(run.folder.log, whole_number(payload, "at")) | {"poll": 700 if alive else 5000}


def read_from(path: Path, at: int) -> dict[str, Any]:
    """What was written after byte `at`, whole lines apart from an unfinished one, and where the next look begins."""
    with files.open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        reset = at == 0 or at > size or size - at > TAIL
        start = max(0, size - TAIL) if reset else at
        file.seek(start)
        data = file.read(TAIL)
    if reset and start:  # begin with a whole line
        cut = data.find(b"\n") + 1
        start, data = start + cut, data[cut:]
    lines, _, rest = data.rpartition(b"\n")
    done = start + len(lines) + (1 if b"\n" in data else 0)
    return {"reset": reset, "at": done, "text": readable(lines), "line": readable(rest), "cut": bool(reset and start)}


def readable(data: bytes) -> str:
    """Text without colours, control characters, overwritten progress and anything that looks like a token."""
    lines = redact(data.decode("utf-8", "replace")).split("\n")
    return "\n".join(SECRET.sub(_hide_secret, CONTROL.sub("", ANSI.sub("", _last_shown(line)))) for line in lines)


def _last_shown(line: str) -> str:
    """What is left of a line that a progress bar wrote over and over."""
    return next((part for part in reversed(line.split("\r")) if part.strip()), "")


def _hide_secret(found: re.Match[str]) -> str:
    return f"{found[1] or found[2] + found[3]}…"


def log() -> gr.HTML:
    """The Log part of a run's page. Its box is a reversed column: it stays at the end, unless one scrolled up."""
    template = (
        '<p class="s mut wait">Reading…</p>'
        '<p class="s mut cut" hidden>Only the last 200 KB are shown; the rest is in log.txt.</p>'
        '<div class="panel box" tabindex="0" aria-label="Log"><pre class="mono"></pre></div>'
    )
    return live("pages/run/log", tail, template=template, elem_id="part-log", elem_classes=["part", "part-log"])
