"""A checkpoint counts only when it is whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupwise.storage.record import checkpoint_files
from groupwise.worker.training import checkpoints

FILES = ("trainer_state.json", "optimizer.pt", "scheduler.pt", "rng_state.pth", "model.safetensors")


def make(folder: Path, step: int) -> Path:
    checkpoint = folder / f"checkpoint-{step}"
    checkpoint.mkdir(parents=True)
    for name in FILES:
        (checkpoint / name).write_bytes(name.encode() * 100)
    return checkpoint


def test_a_sealed_checkpoint_is_whole_and_knows_its_size(tmp_path: Path) -> None:
    checkpoint = make(tmp_path, 10)
    assert checkpoints.seal(checkpoint) == sum(100 * len(name) for name in FILES)
    assert checkpoint_files.problem(checkpoint) is None


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("harm", ["deleted", "truncated", "changed"])
def test_any_harm_to_any_file_is_found_and_the_one_before_is_used(tmp_path: Path, name: str, harm: str) -> None:
    before, newest = make(tmp_path, 9), make(tmp_path, 10)
    checkpoints.seal(before)
    checkpoints.seal(newest)
    target = newest / name
    if harm == "deleted":
        target.unlink()
    elif harm == "truncated":
        target.write_bytes(target.read_bytes()[:-1])
    else:
        target.write_bytes(b"x" + target.read_bytes()[1:])
    found, passed = checkpoints.latest_whole(tmp_path)
    assert found == before
    assert len(passed) == 1 and name in passed[0]


def test_one_that_was_not_saved_to_the_end_is_passed_over(tmp_path: Path) -> None:
    make(tmp_path, 10)
    assert checkpoints.latest_whole(tmp_path) == (
        None,
        ["checkpoint-10 was not saved to the end, so it was skipped."],
    )


@pytest.mark.parametrize("name", ["optimizer.pt", "scheduler.pt", "trainer_state.json", "rng_state.pth"])
def test_what_would_resume_with_a_fresh_optimizer_is_not_sealed(tmp_path: Path, name: str) -> None:
    checkpoint = make(tmp_path, 10)
    (checkpoint / name).unlink()
    with pytest.raises(ValueError, match="lacks"):
        checkpoints.seal(checkpoint)
