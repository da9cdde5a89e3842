"""Which models are on this machine: the starter, the home's own, and what is whole in the hub's cache."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from groupwise.storage.home import paths
from groupwise.storage.library.models import hub_cache, model_files
from groupwise.storage.spec.spec import ModelSpec
from groupwise.worker.builtin import models, starter
from tests.support import tiny_models
from tests.support.small_models import CONFIG


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hub cache of this test's own."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    (tmp_path / "hf" / "hub").mkdir(parents=True)
    return tmp_path / "hf" / "hub"


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
    (tokenizer_only / "config.json").write_text(json.dumps(CONFIG))
    tiny_models.cached(cache, "org/empty")
    (cache / "models--org--junk").mkdir()
    (cache / "models--org--file").touch()
    (cache / "datasets--org--set").mkdir()
    other = tiny_models.cached(cache, "org/branch", revision="v2")
    tiny_models.make("gpt2", other)
    tiny_models.make("t5", tiny_models.cached(cache, "org/t5"))
    mine = paths.models_folder() / "mine"
    tiny_models.make("llama", mine)
    (paths.models_folder() / "broken").mkdir()
    (paths.models_folder() / "broken" / "config.json").write_text("{")
    found = [(model.id, model.label, model.where, model.revision) for model in model_files.at_hand()]
    assert found == [
        ("starter", "starter · 0.8 M", "starter", None),
        (str(paths.models_folder() / "broken"), "broken · cannot be used", "home", None),
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
        begun = time.process_time()
        model_files.at_hand()
        times.append(time.process_time() - begun)
    assert min(times) < 0.05
