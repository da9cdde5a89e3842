"""Where a model comes from: the starter, a folder, a hub repository's snapshot."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from storage.spec import ModelSpec
from worker import models, starter
from worker.launchers import local

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LOAD = """
from storage.spec import ModelSpec
from worker import models
model, tokenizer = models.load(ModelSpec(id="org/tiny", revision="v1"))
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
    repository = tmp_path / "hub" / "models--org--tiny"
    snapshot = repository / "snapshots" / COMMIT
    shutil.copytree(starter.MODEL, snapshot)
    (repository / "refs").mkdir()
    (repository / "refs" / "v1").write_text(COMMIT)
    env = {**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", LOAD], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == [str(snapshot), "True"]


def test_one_process_sees_one_gpu(monkeypatch) -> None:
    """With several in sight the trainer would wrap the model in DataParallel, which GRPOTrainer refuses."""
    for visible, seen in ((None, "0"), ("2,3", "2"), ("", "")):
        if visible is None:
            monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        else:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert local.environment("t", 1)["CUDA_VISIBLE_DEVICES"] == seen
        assert local.environment("t", 2).get("CUDA_VISIBLE_DEVICES") == visible


def test_a_run_inherits_no_secret_of_the_dashboards(monkeypatch) -> None:
    monkeypatch.setenv("GROUPWISE_TOKEN", "canary-token")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary-key")
    monkeypatch.setenv("HF_TOKEN", "kept: the hub needs it")
    env = local.environment("t", 1)
    assert not [value for value in env.values() if "canary" in value]
    assert env["HF_TOKEN"].startswith("kept")
