"""Where a model comes from: the starter, a folder, a hub repository's snapshot."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from groupwise.storage.spec.spec import ModelSpec
from groupwise.worker.builtin import models, starter
from groupwise.worker.launchers import local
from tests.support import tiny_models

LOAD = """
from groupwise.storage.spec.spec import ModelSpec
from groupwise.worker.builtin import models
model, tokenizer = models.load_model(ModelSpec(id="org/tiny", revision="v1"))
print(model.config._name_or_path, tokenizer.chat_template is not None)
"""


def test_the_starter_is_copied_into_the_home_once(registry_home: Path) -> None:
    place = models.install_starter()
    assert place == registry_home / "models" / "starter" == Path(models.place(ModelSpec()))
    mark = place / "config.json"
    before = mark.stat().st_mtime_ns
    assert models.install_starter() == place and mark.stat().st_mtime_ns == before


def test_a_hub_id_is_its_revisions_snapshot_so_that_the_reference_model_is_the_same(
    registry_home: Path, tmp_path: Path
) -> None:
    """From a cache as the hub's client lays it out, with no network."""
    snapshot = tiny_models.cached(tmp_path / "hub", "org/tiny", revision="v1")
    shutil.copytree(starter.MODEL, snapshot, dirs_exist_ok=True)
    env = {**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", LOAD], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == [str(snapshot), "True"]


def test_a_tokenizer_is_taken_from_where_it_is_and_nothing_is_asked_of_the_hub(
    registry_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # to ask would be an error
    assert models.tokenizer_place(ModelSpec()) == str(models.install_starter())
    assert models.tokenizer_place(ModelSpec(id=str(tmp_path))) == str(tmp_path)
    snapshot = tiny_models.cached(tmp_path / "hub", "org/tiny")
    tiny_models.give_tokenizer(snapshot)  # and no weights
    assert models.tokenizer_place(ModelSpec(id="org/tiny")) == str(snapshot)
    with pytest.raises(OSError):
        models.tokenizer_place(ModelSpec(id="org/other"))


def test_the_starter_is_installed_by_whoever_is_first(registry_home: Path) -> None:
    code = "from groupwise.worker.builtin import models; print(models.install_starter())"
    begun = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = {process.communicate(timeout=60)[0].strip() for process in begun}
    assert said == {str(registry_home / "models" / "starter")}
    assert [path.name for path in (registry_home / "models").iterdir()] == ["starter"]


def test_a_model_is_loaded_as_the_spec_says(registry_home: Path) -> None:
    model, tokenizer = models.load_model(ModelSpec(dtype="bfloat16", attn_implementation="eager"))
    assert str(model.dtype) == "torch.bfloat16" and model.config._attn_implementation == "eager"
    assert tokenizer.chat_template
    assert str(models.load_model(ModelSpec())[0].dtype) == "torch.float32"


def test_bin_weights_and_a_models_own_code_are_never_loaded(tmp_path: Path) -> None:
    import torch

    model = tiny_models.make("llama", tmp_path)
    (tmp_path / "model.safetensors").unlink()
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(OSError, match="model.safetensors"):
        models.load_model(ModelSpec(id=str(tmp_path)))


def test_the_types_of_model_that_write_text_are_known() -> None:
    assert {"llama", "qwen2", "qwen3", "gpt2"} <= set(models.text_models()) and "t5" not in models.text_models()


def test_one_process_sees_one_gpu(monkeypatch) -> None:
    """With several in sight the trainer would wrap the model in DataParallel, which GRPOTrainer refuses."""
    for visible, seen in ((None, "0"), ("2,3", "2"), ("", "")):
        if visible is None:
            monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        else:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert local.training_environment("t", 1)["CUDA_VISIBLE_DEVICES"] == seen
        assert local.training_environment("t", 2).get("CUDA_VISIBLE_DEVICES") == visible


def test_a_run_inherits_no_secret_of_the_dashboards(monkeypatch) -> None:
    monkeypatch.setenv("GROUPWISE_TOKEN", "canary-token")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary-key")
    monkeypatch.setenv("HF_TOKEN", "kept: the hub needs it")
    env = local.training_environment("t", 1)
    assert not [value for value in env.values() if "canary" in value]
    assert env["HF_TOKEN"].startswith("kept")
