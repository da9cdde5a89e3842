"""A RunSpec's model → model and tokenizer. Weights only from safetensors; code from a repository is never run."""

import os
import shutil
from pathlib import Path
from typing import Any

from groupwise.storage.home import paths
from groupwise.storage.library.models import model_files
from groupwise.storage.library.models.hub_models import COPY_IT
from groupwise.storage.spec.spec import ModelSpec
from groupwise.worker.builtin import starter

# What is fetched of a hub repository: never .bin weights, never code, and the weights only once (several
# organisations keep a second copy in a form of their own).
WANTED = ["*.json", "*.safetensors", "*.model", "*.txt", "*.jinja", "*.tiktoken"]
UNWANTED = ["*/*.safetensors", "consolidated*.safetensors", "*.onnx*"]
# What a tokenizer is made of, and the config that says which kind it is: kilobytes, or a few megabytes.
TOKENIZER = ["config.json", "tokenizer*", "*.model", "vocab*", "merges.txt", "added_tokens.json", "*.tiktoken",
             "special_tokens_map.json", "chat_template.json", "*.jinja", "tekken.json"]  # fmt: skip

LOG_IN = "log in with `hf auth login`, or set HF_TOKEN where the dashboard is started"


class NoModel(Exception):
    """The model cannot be fetched; the message says why, and what to do."""


def place(spec: ModelSpec) -> str:
    """The folder with the model: the starter's, the one that was named, or a hub repository's snapshot.

    A folder also for hub ids, because TRL loads the reference model again from where the model came from, by its bare
    name: of a repository that would be the newest revision, and any kind of weights. Raises NoModel where the hub does
    not give it.
    """
    local = _local(spec)
    if local:
        return local
    try:
        return _fetch(spec, WANTED, UNWANTED)
    except Exception as error:
        said = why_not_fetched(spec, error)
        if not said:
            raise
        raise NoModel(said) from error


def why_not_fetched(spec: ModelSpec, error: Exception) -> str:
    """Why the hub did not give a model, in a sentence; "" for what is not the hub's doing."""
    from huggingface_hub import errors

    if isinstance(error, errors.GatedRepoError):
        return f"“{spec.id}” is gated: accept its terms on its page at the hub, then {LOG_IN}."
    if isinstance(error, errors.RevisionNotFoundError):
        return f"“{spec.id}” has no revision “{spec.revision}”."
    if isinstance(error, errors.RepositoryNotFoundError):
        return f"the hub has no model “{spec.id}”, or it is private. If it is yours, {LOG_IN}."
    if isinstance(error, errors.OfflineModeIsEnabled):
        return f"“{spec.id}” is not on this machine, and HF_HUB_OFFLINE is set. Unset it, or {COPY_IT}."
    if isinstance(error, errors.LocalEntryNotFoundError):
        return (
            f"“{spec.id}” is not on this machine, and the hub could not be reached. Check the name and the connection, "
            f"or {COPY_IT}."
        )
    return ""


def tokenizer_place(spec: ModelSpec) -> str:
    """The folder with the model's tokenizer. Of a hub repository nothing else is fetched, and nothing at all where
    the cache has the tokenizer: a preview asks for no weights, and not at every row. Raises OSError where the hub
    cannot be reached, or has no such model."""
    local = _local(spec)
    if local:
        return local
    cached = model_files.snapshot(spec.id, spec.revision)
    return str(cached) if cached and model_files.has_tokenizer(cached) else _fetch(spec, TOKENIZER, ["*/*.json"])


def _local(spec: ModelSpec) -> str | None:
    """The folder of a model that is no hub id."""
    if spec.id == "starter":
        return str(install_starter())
    folder = model_files.model_folder(spec.id)
    return str(folder) if folder else None


def _fetch(spec: ModelSpec, wanted: list[str], unwanted: list[str]) -> str:
    from huggingface_hub import snapshot_download

    revision = spec.revision
    return str(snapshot_download(spec.id, revision=revision, allow_patterns=wanted, ignore_patterns=unwanted))


def install_starter() -> Path:
    """The starter model's folder in the home, copied there once: a run's plain script finds it with no Groupwise
    installed."""
    target = paths.models_folder() / "starter"
    if not target.is_dir():
        draft = target.with_name(f".starter-copying-{os.getpid()}")
        shutil.rmtree(draft, ignore_errors=True)
        shutil.copytree(starter.MODEL, draft)
        try:
            draft.rename(target)
        except OSError:
            shutil.rmtree(draft, ignore_errors=True)  # another process of this home was first
            if not target.is_dir():
                raise
    return target


def load_model(spec: ModelSpec, *, use_cpu: bool = False) -> tuple[Any, Any]:
    """(model, tokenizer). `use_cpu` as in GRPOConfig: a quantised model is put on its device while it is loaded, and
    cannot be moved afterwards."""
    from transformers import AutoModelForCausalLM

    where = place(spec)
    options: dict[str, Any] = {"attn_implementation": spec.attn_implementation} if spec.attn_implementation else {}
    if spec.quantization:
        options |= {"quantization_config": quantization(spec), "device_map": {"": _device(use_cpu)}}
    model = AutoModelForCausalLM.from_pretrained(
        where, dtype=spec.dtype, use_safetensors=True, trust_remote_code=False, **options
    )
    return model, load_tokenizer(where)


def load_tokenizer(where: str) -> Any:
    """The tokenizer in a folder."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(where, trust_remote_code=False)


def text_models() -> list[str]:
    """The types of model that the installed transformers can write text with."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    return sorted(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)


def quantization(spec: ModelSpec) -> Any:
    """The BitsAndBytesConfig of a spec, or None. 4-bit as in QLoRA (https://huggingface.co/papers/2305.14314): NF4,
    quantised twice.

    GRPOTrainer does the rest itself for such a model: it turns on input gradients for gradient checkpointing and
    keeps the adapter in bfloat16.
    """
    from transformers import BitsAndBytesConfig

    if spec.quantization == "8bit":
        return BitsAndBytesConfig(load_in_8bit=True)
    if spec.quantization == "4bit":
        return BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=_compute_dtype(),
        )
    return None


def _compute_dtype() -> Any:
    """What 4-bit weights are multiplied in: bfloat16 where the GPU has it. (On CPU float16 is the fastest.)"""
    import torch

    has_bf16 = torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    return torch.bfloat16 if has_bf16 else torch.float16


def _device(use_cpu: bool) -> str:
    """This process's own device: each of several would take the first GPU otherwise."""
    import torch

    accelerator = None if use_cpu else torch.accelerator.current_accelerator(check_available=True)
    return "cpu" if accelerator is None else f"{accelerator.type}:{os.environ.get('LOCAL_RANK', '0')}"
