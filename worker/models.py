"""A RunSpec's model → model and tokenizer. Weights only from safetensors; code from a repository is never run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from storage import home
from storage.check import model_folder
from storage.spec import ModelSpec
from worker import starter

# What is fetched of a hub repository: never .bin weights, never code.
WANTED = ["*.json", "*.safetensors", "*.model", "*.txt", "*.jinja"]


def place(spec: ModelSpec) -> str:
    """The folder with the model: the starter's, the one that was named, or a hub repository's snapshot.

    A folder also for hub ids, because TRL loads the reference model again from where the model came from, by its bare
    name: of a repository that would be the newest revision, and any kind of weights.
    """
    if spec.id == "starter":
        return str(install_starter())
    folder = model_folder(spec.id)
    if folder:
        return str(folder)
    from huggingface_hub import snapshot_download

    return str(snapshot_download(spec.id, revision=spec.revision, allow_patterns=WANTED))


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

    where = place(spec)
    attention = {"attn_implementation": spec.attn_implementation} if spec.attn_implementation else {}
    tokenizer = AutoTokenizer.from_pretrained(where, trust_remote_code=False)
    model = AutoModelForCausalLM.from_pretrained(
        where, dtype=spec.dtype, use_safetensors=True, trust_remote_code=False, **attention
    )
    return model, tokenizer
