"""What a model's files say of it, read without loading it, whatever they hold; and which models are at hand."""

from __future__ import annotations

import json
import os
import struct
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage import home
from storage.models import hub_cache, model_files
from storage.models.model_files import ModelError
from storage.spec import ModelSpec
from tests import tiny_models
from worker import models, starter


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hub cache of this test's own."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    (tmp_path / "hf" / "hub").mkdir(parents=True)
    return tmp_path / "hf" / "hub"


def header(entries: Any, numbers: bytes = b"") -> bytes:
    """A safetensors file with this header."""
    text = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + numbers


GOOD = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "vocab_size": 300}  # fmt: skip
TENSOR = {"lm_head.weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model folder of the smallest kind."""
    place = tmp_path / "model"
    place.mkdir()
    (place / "config.json").write_text(json.dumps(GOOD))
    (place / "model.safetensors").write_bytes(header(TENSOR, bytes(16)))
    return place


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
    assert (models.tokenizer(str(tmp_path)).chat_template is not None) == chat


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
    (folder / "config.json").write_text(json.dumps({**GOOD, "num_hidden_layers": 12}))
    assert model_files.facts(folder).layers == 12


def test_a_quantised_model_is_known_and_its_packed_numbers_are_not_counted(folder: Path):
    quantized = {**GOOD, "intermediate_size": 160, "quantization_config": {"quant_method": "gptq", "bits": 4}}
    (folder / "config.json").write_text(json.dumps(quantized))
    facts = model_files.facts(folder)
    assert facts.quantized == "gptq" and not facts.counted and facts.parameters and facts.parameters > 100_000


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
    (folder / "config.json").write_text(json.dumps({**GOOD, **changes}))
    facts = model_files.facts(folder)
    assert facts.layers == 2 and len(facts.model_type) <= 80


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = [*GOOD, "auto_map", "quantization_config", "text_config", "tie_word_embeddings", "dtype", "head_dim",
          "num_experts", "moe_intermediate_size", "transformers_weights", "is_encoder_decoder"]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(changes=st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=5), tensors=json_values)
def test_whatever_json_the_files_hold_there_are_facts_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, changes: dict[str, Any], tensors: Any
):
    folder = tmp_path_factory.mktemp("any")
    (folder / "config.json").write_text(json.dumps({**GOOD, **changes}))
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


def test_the_cache_is_where_the_hubs_client_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/x")
    places = [str(hub_cache.folder())]
    for name in ("XDG_CACHE_HOME", "HF_HOME", "HUGGINGFACE_HUB_CACHE", "HF_HUB_CACHE"):
        monkeypatch.setenv(name, f"/{name}")
        places.append(str(hub_cache.folder()))
    assert places == ["/home/x/.cache/huggingface/hub", "/XDG_CACHE_HOME/huggingface/hub", "/HF_HOME/hub",
                      "/HUGGINGFACE_HUB_CACHE", "/HF_HUB_CACHE"]  # fmt: skip


def test_a_revision_of_the_cache_is_found_and_no_other_path_is(cache: Path):
    whole = tiny_models.download(cache, "org/name")
    assert model_files.snapshot("org/name") == whole == model_files.snapshot("org/name", tiny_models.COMMIT)
    assert model_files.folder_of(ModelSpec(id="org/name")) == whole
    pull = tiny_models.cached(cache, "org/name", revision="refs/pr/1", commit="b" * 40)
    assert model_files.snapshot("org/name", "refs/pr/1") == pull
    (cache / "models--org--name" / "refs" / "odd").write_text("../../../etc")
    for revision in ("nope", "../main", "../../snapshots", "/etc/passwd", "odd", "a" * 40, "", "a\0b", "main/"):
        found = model_files.snapshot("org/name", revision)
        assert found is None or (revision == "" and found == whole)
    assert model_files.snapshot("org/other") is None


def test_at_hand_are_the_starter_the_homes_models_and_what_is_whole_in_the_cache(registry_home: Path, cache: Path):
    models.install_starter()
    tiny_models.download(cache, "org/whole-0.8M")
    tokenizer_only = tiny_models.cached(cache, "org/tokenizer-only")
    tiny_models.give_tokenizer(tokenizer_only)
    (tokenizer_only / "config.json").write_text(json.dumps(GOOD))
    tiny_models.cached(cache, "org/empty")
    (cache / "models--org--junk").mkdir()
    (cache / "models--org--file").touch()
    (cache / "datasets--org--set").mkdir()
    other = tiny_models.cached(cache, "org/branch", revision="v2")
    tiny_models.make("gpt2", other)
    tiny_models.make("t5", tiny_models.cached(cache, "org/t5"))
    mine = home.models_folder() / "mine"
    tiny_models.make("llama", mine)
    (home.models_folder() / "broken").mkdir()
    (home.models_folder() / "broken" / "config.json").write_text("{")
    found = [(model.id, model.label, model.where, model.revision) for model in model_files.at_hand()]
    assert found == [
        ("starter", "starter · 0.8 M", "starter", None),
        (str(home.models_folder() / "broken"), "broken · cannot be used", "home", None),
        (str(mine), "mine · 0.1 M", "home", None),
        ("org/branch", "branch · 0.1 M · at v2 · cached", "cache", "v2"),
        ("org/whole-0.8M", "whole-0.8M · 0.8 M · cached", "cache", None),
    ]


def test_with_nothing_at_hand_there_is_the_starter(own_home: Path, cache: Path):
    assert [model.id for model in model_files.at_hand()] == ["starter"]


def test_fifty_models_are_listed_at_once(registry_home: Path, cache: Path):
    for number in range(50):
        tiny_models.download(cache, f"org/model-{number}", starter.MODEL)
    assert len(model_files.at_hand()) == 51
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        model_files.at_hand()
        times.append(time.perf_counter() - begun)
    assert min(times) < 0.05


@pytest.mark.parametrize(
    ("count", "said"),
    [(800_640, "0.8 M"), (12_000, "12 k"), (494_032_768, "494 M"), (1_543_714_304, "1.5 B"), (70_553_706_496, "70.6 B"),
     (999_900_000, "1.0 B"), (405_000_000_000, "405 B"), (3_200_000, "3.2 M")],
)  # fmt: skip
def test_a_number_of_parameters_is_said_as_people_say_it(count: int, said: str):
    assert model_files.size(count) == said
