"""Small models made at random, of several architectures, and hub caches as the hub's client lays them out."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from groupwise.worker.builtin import starter

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SIZES = {"vocab_size": 300, "hidden_size": 64, "intermediate_size": 160, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16}  # fmt: skip
IDS = {"bos_token_id": None, "eos_token_id": 1, "pad_token_id": 0}


def config(kind: str, **changes: Any) -> Any:
    """A small config of this architecture."""
    from transformers import AutoConfig

    own: dict[str, dict[str, Any]] = {
        "gpt2": {"vocab_size": 300, "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 128},
        "t5": {"vocab_size": 300, "d_model": 64, "d_ff": 160, "num_layers": 2, "num_heads": 4, "d_kv": 16,
               "decoder_start_token_id": 0},
        "bert": {**SIZES, "max_position_embeddings": 64},
    }  # fmt: skip
    return AutoConfig.for_model(kind, **(own.get(kind, SIZES) | IDS | changes))


def make(kind: str, folder: Path, *, tokenizer: bool = True, dtype: str = "float32", **saving: Any) -> Any:
    """A model of random weights, saved in the folder, with the starter's tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM

    families = {"t5": AutoModelForSeq2SeqLM, "bert": AutoModelForMaskedLM}
    changes = saving.pop("config", {})
    model = families.get(kind, AutoModelForCausalLM).from_config(config(kind, **changes)).to(getattr(torch, dtype))
    model.save_pretrained(folder, **saving)
    if tokenizer:
        give_tokenizer(folder)
    return model


def give_tokenizer(folder: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copyfile(starter.MODEL / name, folder / name)


def cached(cache: Path, repository: str, *, revision: str = "main", commit: str = COMMIT) -> Path:
    """The (still empty) snapshot folder of a repository in a hub cache."""
    place = cache / f"models--{repository.replace('/', '--')}"
    ref = place / "refs" / revision
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text(commit)
    (place / "snapshots" / commit).mkdir(parents=True)
    return place / "snapshots" / commit


def download(cache: Path, repository: str, source: Path = starter.MODEL) -> Path:
    """A repository that was downloaded whole: blobs, and a snapshot of links to them."""
    snapshot = cached(cache, repository)
    blobs = snapshot.parents[1] / "blobs"
    blobs.mkdir()
    for path in source.iterdir():
        shutil.copyfile(path, blobs / path.name)
        (snapshot / path.name).symlink_to(Path("../../blobs") / path.name)
    return snapshot
