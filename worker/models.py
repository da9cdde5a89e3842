"""A RunSpec's model → model and tokenizer. Weights only from safetensors; code from a repository is never run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from storage import home
from storage.check import model_folder
from storage.spec import ModelSpec
from worker import starter


def place(model_id: str) -> str:
    """What from_pretrained takes: a folder, or a hub id."""
    if model_id == "starter":
        return str(install_starter())
    folder = model_folder(model_id)
    return str(folder) if folder else model_id


def install_starter() -> Path:
    """The starter model's folder in the home, copied there once: a run's plain script finds it with no Groupwise
    installed."""
    target = home.models_folder() / "starter"
    if not target.is_dir():
        draft = target.with_name(".starter-copying")
        shutil.rmtree(draft, ignore_errors=True)
        shutil.copytree(starter.MODEL, draft)
        draft.rename(target)
    return target


def load(spec: ModelSpec) -> tuple[Any, Any]:
    """(model, tokenizer)."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = place(spec.id)
    revision = {"revision": spec.revision} if spec.revision and where == spec.id else {}
    attention = {"attn_implementation": spec.attn_implementation} if spec.attn_implementation else {}
    tokenizer = AutoTokenizer.from_pretrained(where, trust_remote_code=False, **revision)
    model = AutoModelForCausalLM.from_pretrained(
        where, dtype=spec.dtype, use_safetensors=True, trust_remote_code=False, **revision, **attention
    )
    return model, tokenizer
