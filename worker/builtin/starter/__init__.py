"""The starter model: a tiny chat model that does sums, so that a real run takes half a minute anywhere."""

from pathlib import Path

MODEL = Path(__file__).parent / "model"
