"""What a model's files say of it, read without loading it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.library.models import model_files
from groupwise.storage.spec.spec import ModelSpec
from groupwise.worker.builtin import models
from tests.support import tiny_models
from tests.support.small_models import CONFIG, TENSOR, header, small_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model folder of the smallest kind."""
    return small_model(tmp_path / "model")


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3", "gpt2", "mistral", "mixtral", "gemma3_text"])
@pytest.mark.parametrize("shards", [False, True])
def test_the_files_tell_the_size_of_a_model_of_any_family(tmp_path: Path, kind: str, shards: bool):
    model = tiny_models.make(kind, tmp_path, tokenizer=False, **({"max_shard_size": "100KB"} if shards else {}))
    assert (tmp_path / "model.safetensors.index.json").exists() == shards
    facts = model_files.facts(tmp_path)
    real = sum(parameter.numel() for parameter in model.parameters())
    assert (facts.parameters, facts.counted, facts.dtype, facts.causal) == (real, True, "float32", True)
    assert (facts.layers, facts.hidden, facts.heads, facts.head_dim, facts.vocab) == (2, 64, 4, 16, 300)
    assert facts.kv_heads == (4 if kind == "gpt2" else 2) and facts.intermediate == (256 if kind == "gpt2" else 160)
    assert facts.tied == model.config.tie_word_embeddings and not facts.has_tokenizer and not facts.missing
    assert facts.bytes == sum(path.stat().st_size for path in tmp_path.glob("*.safetensors"))
    for path in tmp_path.glob("*.safetensors*"):
        path.unlink()
    worked_out = model_files.facts(tmp_path)
    assert not worked_out.counted and worked_out.parameters == pytest.approx(real, rel=0.03)


def test_the_starter_is_known_by_its_files(registry_home: Path):
    assert model_files.folder_of(ModelSpec()) is None  # until the worker has put it there
    place = models.install_starter()
    assert model_files.folder_of(ModelSpec()) == place
    facts = model_files.facts(place)
    assert facts.parameters == 800_640 and facts.tied and facts.has_tokenizer and facts.has_chat_template
    assert facts.weights == "safetensors" and not facts.needs_code and facts.max_position == 512


def test_the_dtype_is_that_of_most_numbers(tmp_path: Path):
    tiny_models.make("llama", tmp_path, tokenizer=False, dtype="bfloat16")
    assert model_files.facts(tmp_path).dtype == "bfloat16"


@pytest.mark.parametrize("kind", ["t5", "bert"])
def test_a_model_that_does_not_continue_a_text_is_known(tmp_path: Path, kind: str):
    tiny_models.make(kind, tmp_path)
    assert model_files.facts(tmp_path).causal is False


def test_an_adapter_is_known_with_its_base(tmp_path: Path):
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "org/base", "peft_type": "LORA"}')
    (tmp_path / "adapter_model.safetensors").write_bytes(header(TENSOR, bytes(16)))
    facts = model_files.facts(tmp_path)
    assert facts.adapter and facts.base == "org/base"


@pytest.mark.parametrize(
    ("files", "chat"),
    [
        ({"tokenizer_config.json": {"chat_template": "x"}}, True),
        ({"tokenizer_config.json": {"chat_template": [{"name": "default", "template": "x"}]}}, True),
        ({"tokenizer_config.json": {}, "chat_template.jinja": "x"}, True),
        ({"tokenizer_config.json": {}}, False),
        # That file is of processors of images: a tokenizer does not read it.
        ({"tokenizer_config.json": {}, "chat_template.json": {"chat_template": "x"}}, False),
    ],
)
def test_a_chat_template_is_found_exactly_where_the_tokenizer_finds_it(
    tmp_path: Path, files: dict[str, Any], chat: bool
):
    tiny_models.make("llama", tmp_path)
    (tmp_path / "chat_template.jinja").unlink()
    for name, content in files.items():
        old = json.loads((tmp_path / name).read_text()) if (tmp_path / name).exists() else {}
        (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps({**old, **content}))
    assert model_files.facts(tmp_path).has_chat_template == chat
    assert (models.load_tokenizer(str(tmp_path)).chat_template is not None) == chat


@pytest.mark.parametrize(
    ("names", "there"),
    [
        (["tokenizer.json"], True), (["tokenizer.model"], True), (["vocab.json", "merges.txt"], True),
        (["vocab.txt"], True), (["qwen.tiktoken"], True), (["spiece.model"], True), (["tekken.json"], True),
        (["tokenizer_config.json"], False), (["special_tokens_map.json", "merges.txt"], False), ([], False),
    ],
)  # fmt: skip
def test_a_tokenizer_is_more_than_its_config(folder: Path, names: list[str], there: bool):
    for name in names:
        (folder / name).write_text("{}")
    assert model_files.facts(folder).has_tokenizer == there


def test_weights_that_are_not_there_or_of_another_kind_are_told_apart(folder: Path):
    (folder / "model.safetensors").unlink()
    assert model_files.facts(folder).weights == ""
    (folder / "training_args.bin").write_bytes(b"x")
    assert model_files.facts(folder).weights == ""
    (folder / "model-q4.gguf").write_bytes(b"x")
    assert model_files.facts(folder).weights == "gguf"
    (folder / "pytorch_model.bin").write_bytes(b"xyz")
    facts = model_files.facts(folder)
    assert facts.only_bin and facts.weights == "bin"
    (folder / "model-00001-of-00002.safetensors").write_bytes(header(TENSOR, bytes(16)))
    assert model_files.facts(folder).missing == ("model.safetensors.index.json",)
    index = {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    facts = model_files.facts(folder)
    assert facts.missing == ("model-00002-of-00002.safetensors",) and not facts.counted


def test_what_is_read_once_is_read_again_when_it_changes(folder: Path):
    assert model_files.facts(folder).layers == 2
    assert model_files.facts(folder) is model_files.facts(folder)
    (folder / "config.json").write_text(json.dumps({**CONFIG, "num_hidden_layers": 12}))
    assert model_files.facts(folder).layers == 12


def test_a_quantised_model_is_known_and_its_packed_numbers_are_not_counted(folder: Path):
    quantized = {**CONFIG, "intermediate_size": 160, "quantization_config": {"quant_method": "gptq", "bits": 4}}
    (folder / "config.json").write_text(json.dumps(quantized))
    facts = model_files.facts(folder)
    assert facts.quantized == "gptq" and not facts.counted and facts.parameters and facts.parameters > 100_000


@pytest.mark.parametrize(
    ("count", "said"),
    [(800_640, "0.8 M"), (12_000, "12 k"), (494_032_768, "494 M"), (1_543_714_304, "1.5 B"), (70_553_706_496, "70.6 B"),
     (999_900_000, "1.0 B"), (405_000_000_000, "405 B"), (3_200_000, "3.2 M")],
)  # fmt: skip
def test_a_number_of_parameters_is_said_as_people_say_it(count: int, said: str):
    assert model_files.size(count) == said
