"""reward_model: real reward models, made at random, alone and as an ensemble; and folders that hold none."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import pytest

from tests.support import tiny_models
from tests.support.rewards import both_shapes, completion_of, load, module

PROMPTS = ["3+4?", "Name the ones of 12.", "?"]
TEXTS = ["<think>3+4=7</think><answer>7</answer>", "", "2" * 10_000]


def make(folder: Path, seed: int, *, kind: str = "qwen2", labels: int = 1, **saving: Any) -> str:
    """A reward model of random weights, saved with the starter's tokenizer."""
    import torch
    from transformers import AutoModelForSequenceClassification

    torch.manual_seed(seed)
    config = tiny_models.config(kind, num_labels=labels, vocab_size=2048, max_position_embeddings=4096)
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder, **saving)
    tiny_models.give_tokenizer(folder)
    return str(folder)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    home = tmp_path_factory.mktemp("models")
    return [make(home / f"model-{seed}", seed) for seed in range(3)]


def scores(shape: str = "chat", texts: list[str] = TEXTS, **given: Any) -> list[float | None]:
    prompts = PROMPTS if shape == "text" else [[{"role": "user", "content": prompt}] for prompt in PROMPTS]
    completions = [completion_of(text, shape) for text in texts]
    return load("reward_model")(prompts, completions, **{"max_length": 200, **given})


def as_trl_does(name: str, shape: str) -> list[float]:
    """The first two scores, by the steps of TRL's trainer, one text at a time."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model, tokenizer = AutoModelForSequenceClassification.from_pretrained(name), AutoTokenizer.from_pretrained(name)
    found = []
    for prompt, text in zip(PROMPTS[:2], TEXTS[:2], strict=True):
        whole = prompt + text
        if shape == "chat":
            chat = [{"role": "user", "content": prompt}, {"role": "assistant", "content": text}]
            whole = tokenizer.apply_chat_template(chat, tokenize=False)
        with torch.inference_mode():
            found.append(model(**tokenizer(whole, return_tensors="pt", add_special_tokens=False)).logits[0, 0].item())
    return found


@both_shapes
@pytest.mark.parametrize("batch_size", [1, 2, 8])
def test_a_model_gives_what_it_gives_in_trl(shape: str, batch_size: int, models: list[str]):
    found = scores(shape, models=[models[0]], batch_size=batch_size)
    assert found[:2] == pytest.approx(as_trl_does(models[0], shape), abs=1e-5)
    assert len(found) == 3 and all(isinstance(value, float) for value in found)


@pytest.mark.parametrize(("combine", "way"), [("mean", statistics.fmean), ("min", min), ("median", statistics.median)])
def test_an_ensemble_combines_what_each_gives(combine: str, way: Any, models: list[str]):
    alone = [scores(models=[name]) for name in models]
    together = scores(models=models, combine=combine)
    assert together == pytest.approx([way(values) for values in zip(*alone, strict=True)], abs=1e-5)
    assert len(set(map(tuple, alone))) == 3


def test_of_a_text_that_is_too_long_the_end_counts(models: list[str]):
    ends = [f"{'1' * 5000}{end}" for end in ("2", "3", "2")]
    found = scores("text", ends, models=models[0], max_length=16)
    assert found[0] == pytest.approx(found[2], abs=1e-5) and found[0] != pytest.approx(found[1], abs=1e-5)


def test_nothing_at_all_has_a_score_too(models: list[str]):
    assert all(isinstance(value, float) for value in load("reward_model")(["", ""], ["", ""], models=models[:1]))


def test_a_model_is_loaded_once(models: list[str]):
    loaded = module("reward_model")
    for _ in range(3):
        loaded.reward_model(["a"], ["b"], models=models[:2])
    assert loaded.loaded.cache_info().misses == 2


def test_a_language_model_is_no_reward_model(tmp_path: Path):
    tiny_models.make("qwen2", tmp_path)
    with pytest.raises(ValueError, match="not a trained reward model .* no score.weight"):
        scores(models=[str(tmp_path)])


def test_a_classifier_of_several_labels_is_no_reward_model(tmp_path: Path):
    name = make(tmp_path, 0, labels=3)
    with pytest.raises(ValueError, match="not a trained reward model"):
        scores(models=[name])


def test_weights_that_could_carry_code_are_refused(tmp_path: Path):
    import torch

    name = make(tmp_path, 0)
    weights = tmp_path / "model.safetensors"
    from safetensors.torch import load_file

    torch.save(load_file(weights), tmp_path / "pytorch_model.bin")
    weights.unlink()
    with pytest.raises(OSError, match=r"safetensors"):
        scores(models=[name])


def test_code_beside_the_weights_does_not_run(tmp_path: Path):
    import json

    name = make(tmp_path, 0)
    config = json.loads((tmp_path / "config.json").read_text())
    config["auto_map"] = {"AutoModelForSequenceClassification": "evil.Evil", "AutoConfig": "evil.Evil"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Evil: pass\n")
    scores(models=[name])
    assert not (tmp_path / "ran").exists()


def test_a_score_that_is_not_finite_is_none(tmp_path: Path):
    import torch
    from safetensors.torch import load_file, save_file

    name = make(tmp_path, 0)
    weights = load_file(tmp_path / "model.safetensors")
    weights["score.weight"] = torch.full_like(weights["score.weight"], float("nan"))
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    assert scores(models=[name]) == [None, None, None]
