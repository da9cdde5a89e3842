"""What a model's files say of it: its sizes, its tokenizer, what it is. Nothing is loaded."""

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from groupwise.storage.library.models.weights import ModelError, read_json_object, weights

MAX_FILES = 5000
ADAPTER, CONFIG = "adapter_config.json", "config.json"
VOCABULARIES = re.compile(
    r"tokenizer\.json|tokenizer\.model(\.\w+)?|tekken\.json|vocab\.(json|txt)|.*\.tiktoken|(.*[._-])?(spm|spiece|"
    r"sentencepiece(\.bpe)?)\.model"
)
WITHOUT_VOCABULARY = ("ByT5Tokenizer", "CanineTokenizer", "PerceiverTokenizer")  # they read bytes or characters
# The names that families of models have for the same thing, as their configs write them.
NAMES = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "hidden": ("hidden_size", "n_embd", "d_model"),
    "intermediate": ("intermediate_size", "n_inner", "ffn_dim", "d_ff", "ffn_hidden_size"),
    "heads": ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    "kv_heads": ("num_key_value_heads", "num_kv_heads"),
    "head_dim": ("head_dim", "d_kv"),
    "vocab": ("vocab_size",),
    "max_position": ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length"),
    "experts": ("num_local_experts", "num_experts", "n_routed_experts"),
    "experts_used": ("num_experts_per_tok", "num_experts_per_token", "moe_top_k"),
}
# Read a text, and do not write on from it, though some come with classes that make them.
ENCODERS = ("albert", "bert", "camembert", "deberta", "deberta-v2", "distilbert", "electra", "modernbert", "mpnet",
            "roberta", "xlm-roberta")  # fmt: skip
OTHER_HEADS = re.compile(r"For(\w+(Classification|Answering|Choice|Detection)|MaskedLM|PreTraining|RewardModel\w*)$")
UNGATED = ("bloom", "codegen", "falcon", "gpt2", "gpt_bigcode", "gpt_neo", "gpt_neox", "gptj", "mpt", "opt", "phi",
           "starcoder2")  # fmt: skip
LEARNED_POSITIONS = ("gpt2", "gpt_bigcode", "gpt_neo", "openai-gpt", "opt")


@dataclass(frozen=True)
class ModelFacts:
    """A model, by its files. None is what they do not say.

    parameters: as counted in the weights (`counted`), or worked out from the config. bytes: of the weights on disk.
    dtype: as stored, by torch's name. vocab, hidden, …: of the text part. modules: the last part of the names of its
    matrices, for LoRA. experts, experts_used: of a mixture of experts. weights: "safetensors", "bin", "gguf", … or ""
    where there are none; missing: files that its index names and that are not there. quantized: the method it is
    already quantised by. needs_code: its config names code of its own, which is never run; a model whose type
    transformers knows loads without it. adapter: it is LoRA weights for the model `base`, not a model. causal:
    whether it continues a text.
    """

    folder: str
    model_type: str = ""
    architectures: tuple[str, ...] = ()
    parameters: int | None = None
    counted: bool = False
    dtype: str | None = None
    bytes: int = 0
    layers: int | None = None
    hidden: int | None = None
    intermediate: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    vocab: int | None = None
    max_position: int | None = None
    tied: bool = False
    experts: int | None = None
    experts_used: int | None = None
    modules: tuple[str, ...] = ()
    has_tokenizer: bool = False
    has_chat_template: bool = False
    weights: str = ""
    missing: tuple[str, ...] = ()
    quantized: str | None = None
    needs_code: bool = False
    adapter: bool = False
    base: str | None = None
    causal: bool | None = None

    @property
    def only_bin(self) -> bool:
        """Whether its weights are there only in a form that can hold code."""
        return self.weights == "bin"


def facts(folder: Path) -> ModelFacts:
    """What a folder's files say of the model in it. Raises ModelError, with a sentence, where they are not a model's.
    Read once for as long as none of them changes."""
    return _facts(folder, _files(folder))


def has_tokenizer(folder: Path) -> bool:
    """Whether a folder has what a tokenizer is made of."""
    try:
        names = {name for name, _, _ in _files(folder)}
        return _has_tokenizer(names, _optional(folder, names, "tokenizer_config.json"))
    except ModelError:
        return False


def _files(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """(name, size, time of change) of each file in a folder."""
    found: list[tuple[str, int, int]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(found) == MAX_FILES:
                    raise ModelError(f"{folder} is not a model folder: it has more than {MAX_FILES} files.")
                if os.path.isfile(entry.path):  # also of a link that leads nowhere: no
                    status = entry.stat()
                    found.append((entry.name, status.st_size, status.st_mtime_ns))
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    return tuple(sorted(found))


@lru_cache(maxsize=512)
def _facts(folder: Path, files: tuple[tuple[str, int, int], ...]) -> ModelFacts:
    names = {name: size for name, size, _ in files}
    if ADAPTER in names:
        base = read_json_object(folder / ADAPTER).get("base_model_name_or_path")
        return ModelFacts(str(folder), adapter=True, base=base[:500] if isinstance(base, str) else None)
    if CONFIG not in names:
        raise ModelError(f"{folder} is not a model folder: it has no {CONFIG}.")
    config = read_json_object(folder / CONFIG)
    tokens = _optional(folder, set(names), "tokenizer_config.json")
    text = _text_part(config)
    stored = weights(folder, names, config.get("transformers_weights"))
    numbers = _numbers(folder, text)
    quantized = _quantization(config)
    said = text.get("tie_word_embeddings", config.get("tie_word_embeddings"))
    tied = said if isinstance(said, bool) else not stored.head
    counted = stored.parameters > 0 and not stored.missing and not quantized
    return ModelFacts(
        str(folder),
        _word(config.get("model_type")),
        _words(config.get("architectures")),
        stored.parameters - (stored.head if tied else 0) if counted else _arithmetic(numbers, text, tied),
        counted,
        stored.dtype or _dtype(config),
        stored.bytes,
        tied=tied,
        modules=stored.modules,
        has_tokenizer=_has_tokenizer(set(names), tokens),
        has_chat_template="chat_template.jinja" in names or bool(tokens.get("chat_template")),
        weights=stored.form,
        missing=stored.missing,
        quantized=quantized,
        needs_code=isinstance(config.get("auto_map"), dict) and bool(config["auto_map"]),
        causal=_causal(config),
        **numbers,
    )


def _optional(folder: Path, names: set[str], name: str) -> dict[str, Any]:
    return read_json_object(folder / name) if name in names else {}


def _has_tokenizer(names: set[str], tokens: dict[str, Any]) -> bool:
    return any(VOCABULARIES.fullmatch(name) for name in names) or tokens.get("tokenizer_class") in WITHOUT_VOCABULARY


def _text_part(config: dict[str, Any]) -> dict[str, Any]:
    """The config of the language model in a model that can do more."""
    for name in ("text_config", "llm_config"):
        if isinstance(config.get(name), dict):
            return {**config, **config[name]}
    return config


def _numbers(folder: Path, config: dict[str, Any]) -> dict[str, Any]:
    """The facts that are numbers, by name; None for those that the config does not say."""
    found: dict[str, Any] = {}
    for fact, names in NAMES.items():
        name = next((name for name in names if config.get(name) is not None), names[0])
        found[fact] = _count(folder, name, config.get(name))
    heads, hidden = found["heads"], found["hidden"]
    found["kv_heads"] = found["kv_heads"] or (1 if config.get("multi_query") is True else heads)
    found["head_dim"] = found["head_dim"] or (hidden // heads if hidden and heads else None)
    found["intermediate"] = found["intermediate"] or (4 * hidden if hidden else None)
    return found


def _count(folder: Path, name: str, value: Any) -> int | None:
    """A number of a config. Some models give one for each layer: the largest counts."""
    if isinstance(value, list) and value and all(type(one) is int for one in value):
        value = max(value)
    if value is None or (type(value) is int and value == 0):
        return None
    if type(value) is not int or not 0 < value < 2**31:
        raise ModelError(f"{folder}/{CONFIG}: {name} should be a positive whole number.")
    return value


def _arithmetic(numbers: dict[str, Any], config: dict[str, Any], tied: bool) -> int | None:
    """The parameters of a usual transformer of these sizes: embeddings, and in each layer four attention matrices,
    the MLP's two or three (times the experts), and norms."""
    layers, hidden, vocab, heads = (numbers[name] for name in ("layers", "hidden", "vocab", "heads"))
    if not (layers and hidden and vocab and heads):
        return None
    kv_heads, head_dim = numbers["kv_heads"] or heads, numbers["head_dim"] or hidden // heads
    per_expert = config.get("moe_intermediate_size") if numbers["experts"] else None
    width = per_expert if type(per_expert) is int and 0 < per_expert < 2**31 else numbers["intermediate"]
    matrices = 2 if config.get("model_type") in UNGATED else 3
    attention = hidden * head_dim * 2 * (heads + kv_heads)
    mlp = matrices * hidden * width * (numbers["experts"] or 1)
    rows = vocab * (1 if tied else 2) + (numbers["max_position"] or 0) * (config.get("model_type") in LEARNED_POSITIONS)
    return rows * hidden + layers * (attention + mlp + 2 * hidden) + hidden


def _quantization(config: dict[str, Any]) -> str | None:
    how = config.get("quantization_config")
    return (_word(how.get("quant_method")) or "bitsandbytes") if isinstance(how, dict) and how else None


def _dtype(config: dict[str, Any]) -> str | None:
    name = _word(config.get("dtype") or config.get("torch_dtype"))
    return name if name in ("float64", "float32", "bfloat16", "float16") else None


def _causal(config: dict[str, Any]) -> bool | None:
    names = _words(config.get("architectures"))
    if config.get("is_encoder_decoder") is True or _word(config.get("model_type")) in ENCODERS:
        return False
    if any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in names):
        return True
    return False if names and all(OTHER_HEADS.search(name) for name in names) else None


def _word(value: Any) -> str:
    return value[:80] if isinstance(value, str) else ""


def _words(value: Any) -> tuple[str, ...]:
    return tuple(_word(one) for one in value[:8] if isinstance(one, str)) if isinstance(value, list) else ()
