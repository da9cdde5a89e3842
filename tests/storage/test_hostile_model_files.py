"""Whatever a model's files hold, there are facts or a sentence, and never too much of them is read."""

from __future__ import annotations

import json
import os
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupwise.storage.library.models import model_files
from groupwise.storage.library.models.model_files import ModelError
from groupwise.storage.spec.spec import ModelSpec
from tests.support.small_models import CONFIG, header, small_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model folder of the smallest kind."""
    return small_model(tmp_path / "model")


CONFIGS = [
    b"", b"{", b"[]", b"null", b"\xff\xfe\x00", b'{"a": NaN}', b'{"a": Infinity}', b"[" * 100_000,
    b'{"a":' * 50_000, b'{"vocab_size": ' + b"9" * 10_000 + b"}", b'{"hidden_size": -1}', b'{"hidden_size": "64"}',
    b'{"hidden_size": 1e400}', b'{"num_hidden_layers": true}', b'{"num_hidden_layers": [[1]]}', b'{"vocab_size": {}}',
    b'{"vocab_size": 99999999999}', b'{"transformers_weights": "../../x.safetensors"}',
    b'{"transformers_weights": "adapter_model.bin"}', b'{"transformers_weights": 5}',
]  # fmt: skip


@pytest.mark.parametrize("text", CONFIGS, ids=range(len(CONFIGS)))
def test_a_hostile_config_is_a_sentence(folder: Path, text: bytes):
    (folder / "config.json").write_bytes(text)
    with pytest.raises(ModelError) as caught:
        model_files.facts(folder)
    said = str(caught.value)
    assert "config.json" in said and said.endswith(".") and "\n" not in said and len(said) < 400


ODD = [
    {"architectures": "LlamaForCausalLM"}, {"architectures": [1, None, {"a": 1}]}, {"model_type": 5},
    {"auto_map": "x"}, {"quantization_config": []}, {"quantization_config": "x"}, {"tie_word_embeddings": "no"},
    {"text_config": 7}, {"text_config": []}, {"dtype": {"x": 1}}, {"torch_dtype": [1]}, {"head_dim": 0},
    {"intermediate_size": [128, 160]}, {"num_key_value_heads": None}, {"moe_intermediate_size": "x", "num_experts": 4},
    {"model_type": "x" * 1_000_000},
]  # fmt: skip


@pytest.mark.parametrize("changes", ODD, ids=range(len(ODD)))
def test_an_odd_config_is_read_as_far_as_it_goes(folder: Path, changes: dict[str, Any]):
    (folder / "config.json").write_text(json.dumps({**CONFIG, **changes}))
    facts = model_files.facts(folder)
    assert facts.layers == 2 and len(facts.model_type) <= 80


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = [*CONFIG, "auto_map", "quantization_config", "text_config", "tie_word_embeddings", "dtype", "head_dim",
          "num_experts", "moe_intermediate_size", "transformers_weights", "is_encoder_decoder"]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(changes=st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=5), tensors=json_values)
def test_whatever_json_the_files_hold_there_are_facts_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, changes: dict[str, Any], tensors: Any
):
    folder = tmp_path_factory.mktemp("any")
    (folder / "config.json").write_text(json.dumps({**CONFIG, **changes}))
    (folder / "tokenizer_config.json").write_text(json.dumps(tensors))
    (folder / "model.safetensors").write_bytes(header({"a.weight": tensors, "b": tensors}, bytes(64)))
    try:
        assert model_files.facts(folder).folder == str(folder)
    except ModelError as error:
        assert str(folder) in str(error)


def tensor(**changes: Any) -> bytes:
    return header({"a.weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16], **changes}}, bytes(16))


WEIGHTS = [
    b"", b"1234", struct.pack("<Q", 2**63) + b"{}", struct.pack("<Q", 100) + b"{}", header(b"not json"), header([]),
    header({"a": 5}), header({"a": {}}), tensor(shape="x"), tensor(shape=[2, -2]), tensor(shape=[2, 2.0]),
    tensor(shape=[True, 2]), tensor(dtype=7), tensor(data_offsets=[0]), tensor(data_offsets=[16, 0]),
    tensor(data_offsets=[0, 17]), tensor(shape=[2**40, 2**40]), tensor(shape=[1] * 5000), header(b"[" * 100_000),
    tensor(data_offsets=None), tensor(shape=None), struct.pack("<Q", 0),
]  # fmt: skip


@pytest.mark.parametrize("content", WEIGHTS, ids=range(len(WEIGHTS)))
def test_a_hostile_weights_file_is_a_sentence(folder: Path, content: bytes):
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(ModelError, match="model.safetensors"):
        model_files.facts(folder)


def test_a_header_that_says_it_is_huge_is_not_read(folder: Path):
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", 4 * 2**30))
        file.truncate(5 * 2**30)  # a file of holes
    tracemalloc.start()
    with pytest.raises(ModelError, match="header larger than 16 MB"):
        model_files.facts(folder)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


@pytest.mark.parametrize(
    "index",
    [{}, {"weight_map": []}, {"weight_map": {}}, {"weight_map": {"a": 5}}, {"weight_map": {"a": "../../etc/passwd"}},
     {"weight_map": {"a": "/etc/passwd"}, "b": "x"}, {"weight_map": {"a": "x/y.safetensors"}},
     {"weight_map": {"a": "pytorch_model.bin"}}, {"weight_map": {str(n): f"{n}.safetensors" for n in range(2000)}}],
)  # fmt: skip
def test_a_hostile_index_is_a_sentence(folder: Path, index: Any):
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ModelError, match="should list safetensors files beside it"):
        model_files.facts(folder)


def test_only_regular_files_are_read_and_never_too_much_of_them(folder: Path):
    config = folder / "config.json"
    config.write_bytes(b'{"a": "' + b"x" * 17 * 2**20 + b'"}')
    with pytest.raises(ModelError, match="larger than 16 MB"):
        model_files.facts(folder)
    for make in (
        lambda: config.symlink_to("/dev/zero"), lambda: os.mkfifo(config), lambda: config.mkdir(),
        lambda: config.symlink_to("config.json"), lambda: config.symlink_to("/nowhere"),
    ):  # fmt: skip
        config.rmdir() if config.is_dir() else config.unlink()
        make()
        with pytest.raises(ModelError, match="config.json"):
            model_files.facts(folder)


def test_a_folder_that_is_none_is_a_sentence(tmp_path: Path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "nowhere", tmp_path / "file", tmp_path / "a\0b", tmp_path / ("x" * 5000), tmp_path):
        with pytest.raises(ModelError):
            model_files.facts(path)
        assert not model_files.has_tokenizer(path)
    for name in ("/a\0b", "/" + "x" * 400, "./here", "~nobody-here/x", "/nowhere"):
        assert model_files.folder_of(ModelSpec(id=name)) is None
