"""Which models New run offers: those on this machine, and below them a few of the hub, by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupwise.app.pages.new import choices, presets
from groupwise.storage.home import paths
from groupwise.storage.library.models.hub_models import HUB_MODELS
from groupwise.storage.library.presets import shipped_presets
from groupwise.storage.spec import spec
from tests.support import tiny_models

SMALL = "Qwen/Qwen2.5-0.5B-Instruct"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hub cache of this test's own."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def offered() -> dict[str, dict[str, str]]:
    return {one["value"]: one for one in choices.models()}


def test_models_of_the_hub_are_offered_with_their_size_and_what_they_need(registry_home: Path, cache: Path) -> None:
    found = offered()
    assert list(found) == ["starter", *(model.id for model in HUB_MODELS)]
    assert found[SMALL]["label"] == f"{SMALL} · 494 M"
    assert found[SMALL]["note"].startswith("1 GB from the Hugging Face Hub, not on this machine yet; with LoRA and")


def test_one_that_is_on_this_machine_is_offered_once_as_such(registry_home: Path, cache: Path) -> None:
    tiny_models.cached(cache, SMALL)  # begun, and nothing has come yet
    assert "not on this machine yet" in offered()[SMALL]["note"]
    (cache / f"models--{SMALL.replace('/', '--')}").rename(cache / "away")
    tiny_models.download(cache, SMALL)
    copied = paths.models_folder() / "Qwen2.5-1.5B-Instruct"
    tiny_models.make("llama", copied)
    found = offered()
    assert found[SMALL]["label"].endswith("cached") and "not on" not in found[SMALL]["note"]
    assert str(copied) in found and "Qwen/Qwen2.5-1.5B-Instruct" not in found


def test_presets_bring_models_that_are_offered_and_say_which() -> None:
    ids = {model.id for model in HUB_MODELS}
    said = {one["name"]: one["sentence"] for one in presets.list_presets(own=False)}
    for preset in shipped_presets(presets.SHIPPED):
        model = spec.parse_spec(preset.text).model.id
        assert model == "starter" or model in ids
        assert (f" Model: {model}, " in said[preset.name]) == (model in ids)
    assert said["small-gpu"].endswith(f"Model: {SMALL}, 1 GB from the Hugging Face Hub.")
