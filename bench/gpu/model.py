"""Models of real shapes with random weights, and a tokenizer that fits them: `python -m bench.gpu.model SIZE FOLDER`.

Nothing is fetched. It is a process of its own, so that whoever measures holds neither torch nor a device.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SHARD = "400MB"  # of each file of the weights
CONTEXT = 4096  # tokens


@dataclass(frozen=True)
class Shape:
    """The sizes of a Qwen2 model whose head is its embedding."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    intermediate: int
    vocab: int


SHAPES = {
    "0.5B": Shape(hidden=896, layers=24, heads=14, kv_heads=2, intermediate=4864, vocab=151_936),
    "1.5B": Shape(hidden=1536, layers=28, heads=12, kv_heads=2, intermediate=8960, vocab=151_936),
    "tiny": Shape(hidden=64, layers=2, heads=4, kv_heads=2, intermediate=128, vocab=2_000),  # for a CPU
}


def made(size: str, place: Path) -> Path:
    """The folder, below `place`, of the model of this size, made unless it is there."""
    folder = place / size
    if not folder.is_dir():
        draft = place / f".{size}"
        subprocess.run([sys.executable, "-m", "bench.gpu.model", size, str(draft)], check=True, stderr=subprocess.PIPE)
        draft.rename(folder)
    return folder


def build(shape: Shape, folder: Path) -> None:
    """Write bfloat16 safetensors in shards, the configs and the tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM, GenerationConfig, Qwen2Config

    torch.manual_seed(0)
    config = Qwen2Config(
        hidden_size=shape.hidden, num_hidden_layers=shape.layers, num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads, intermediate_size=shape.intermediate, vocab_size=shape.vocab,
        tie_word_embeddings=True, max_position_embeddings=CONTEXT, bos_token_id=None, eos_token_id=1, pad_token_id=0,
    )  # fmt: skip
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.generation_config = GenerationConfig(eos_token_id=1, pad_token_id=0)
    model.save_pretrained(folder, max_shard_size=SHARD)
    write_tokenizer(shape.vocab, folder)


def write_tokenizer(vocab: int, folder: Path) -> None:
    """The starter's tokenizer, a token a character, with words that nobody types up to the size of the vocabulary: a
    model of chance writes any of them."""
    from transformers import AutoTokenizer

    from groupwise.worker.builtin import starter

    tokenizer = AutoTokenizer.from_pretrained(starter.MODEL)
    tokenizer.model_max_length = CONTEXT
    tokenizer.save_pretrained(folder)
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    words = content["model"]["vocab"]
    words.update({f" w{index}": index for index in range(len(words), vocab)})
    path.write_text(json.dumps(content), encoding="utf-8")


if __name__ == "__main__":
    build(SHAPES[sys.argv[1]], Path(sys.argv[2]))
