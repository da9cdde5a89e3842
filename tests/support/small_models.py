"""Model folders of a few bytes, whose files can be broken in any way."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

CONFIG = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "vocab_size": 300}  # fmt: skip
TENSOR = {"lm_head.weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}


def header(entries: Any, numbers: bytes = b"") -> bytes:
    """A safetensors file with this header."""
    text = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + numbers


def small_model(place: Path) -> Path:
    """A model folder of the smallest kind."""
    place.mkdir()
    (place / "config.json").write_text(json.dumps(CONFIG))
    (place / "model.safetensors").write_bytes(header(TENSOR, bytes(16)))
    return place
