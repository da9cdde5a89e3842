"""The built-in rewards for the tests: loaded from their files and called as TRL calls them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groupwise.worker.builtin import rewards

FOLDER = Path(rewards.__file__).parent
NAMES = [
    "code_tests", "correctness", "cosine_length", "format", "gym_score", "keywords", "language_consistency", "length",
    "llm_judge", "math_equivalence", "reasoning_steps", "regular_expression", "repetition_penalty", "reward_model",
    "soft_overlong_punishment", "valid_json",
]  # fmt: skip
# What these cannot do without.
NEEDED: dict[str, dict[str, Any]] = {
    "keywords": {"words": ["42"]},
    "llm_judge": {"base_url": "http://127.0.0.1:9/v1", "model": "judge"},
    "reward_model": {"models": ["there/is-none"]},
}
both_shapes = pytest.mark.parametrize("shape", ["text", "chat"])


def module(name: str) -> Any:
    """The file of a reward, loaded as a run's plain script would."""
    spec = importlib.util.spec_from_file_location(f"reward_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def load(name: str) -> Callable[..., list[float | None]]:
    """The reward function `name`."""
    function: Callable[..., list[float | None]] = getattr(module(name), name)
    return function


def completion_of(text: str, shape: str) -> Any:
    """A completion that says this, as plain data or chat data has it."""
    return text if shape == "text" else [{"role": "assistant", "content": text}]


def score(name: str, text: str, shape: str = "text", **columns: object) -> float | None:
    """What `name` gives one completion, called as TRL calls it."""
    columns = {"completion_ids": [[0] * len(text)], **columns}
    completions = [completion_of(text, shape)]
    [reward] = load(name)(prompts=["?"], completions=completions, trainer_state=None, **columns)
    return reward
