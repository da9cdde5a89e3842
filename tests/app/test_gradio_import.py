"""Gradio is imported late, under our own environment, and without what only editors read."""

from __future__ import annotations

import gc
import json
import subprocess
import sys

import pytest

from groupwise.storage.home.large_imports import no_collections

LOOK = """
import ast, gc, json, sys
from groupwise.app.server import gradio_import, server
before = "gradio" in sys.modules
read = []
find = ast.get_source_segment
ast.get_source_segment = lambda *given, **more: read.append(1) or find(*given, **more)
gradio_import.import_gradio()
import gradio as gr
with gr.Blocks() as blocks:
    shown = gr.HTML("there")
    shown.change(lambda: None)
print(json.dumps([before, len(read), gc.isenabled(), gc.get_freeze_count() > 50_000, len(blocks.fns),
                  sum("gradio_import" in type(finder).__module__ for finder in sys.meta_path)]))
"""


def test_gradio_comes_with_the_application_and_writes_nothing_for_editors() -> None:
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout) == [False, 0, True, True, 1, 0]


@pytest.mark.parametrize("looked", [True, False])
def test_garbage_is_looked_for_afterwards_as_before(looked: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if looked else gc.disable)()
        with pytest.raises(ImportError), no_collections():
            assert not gc.isenabled()
            raise ImportError
        assert gc.isenabled() is looked
    finally:
        (gc.enable if before else gc.disable)()
        gc.unfreeze()
