"""Imports of large libraries, without the searches for garbage that they would set off: these took a seventh of the
seconds that torch and TRL, or Gradio, take, and find next to nothing (a few thousand of half a million objects)."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def no_collections() -> Iterator[None]:
    """While this lasts nobody looks for garbage; what is there at its end stays, and is never looked through again."""
    looked = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if looked:
            gc.enable()
