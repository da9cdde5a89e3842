"""A spec to launch from a folder, as `groupwise launch` is given it."""

from __future__ import annotations

from pathlib import Path

SPEC = """\
# the comment stays
name: small
data: {source: task:arithmetic}
rewards: [{name: format}]
training: {num_generations: 4}
"""


def write(folder: Path, text: str, name: str = "spec.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path
