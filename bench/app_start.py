"""How soon `groupwise` serves its first page, and what it weighs, against importing gradio alone."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil

from bench.table import Row, median, ms
from tests.support.homes import answers, dashboard, fresh_home

ROUNDS = 5
PAGES = ("/", "/new", "/run")


def measure() -> list[Row]:
    """In turn. Memory is the app's resident set after each page was served; torch is looked for in its mapped files."""
    starts, imports, memory = [], [], 0.0
    for _ in range(ROUNDS):
        imports.append(_run("import gradio"))
        with fresh_home():
            begun = time.perf_counter()
            with dashboard() as (app, address):
                starts.append(time.perf_counter() - begun)
                assert all(answers(address + page) for page in PAGES)
                memory = max(memory, psutil.Process(app.pid).memory_info().rss / 1e6)
                assert "torch" not in Path(f"/proc/{app.pid}/maps").read_text(), "the app has loaded torch"
    mine, theirs = median(starts), median(imports)
    return [
        Row("groupwise → first page served", ms(mine), f"import gradio {ms(theirs)}", mine / theirs, 1.5, "×"),
        Row("memory of the app, torch not loaded", f"{memory:.0f} MB", "–", memory, 300, "MB"),
    ]


def _run(code: str) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begun
