"""Quantised models, really trained."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Start
from tests.support import beside


@pytest.mark.skipif(not beside.has_bitsandbytes(), reason="bitsandbytes is not installed: `make test-all` does that")
@pytest.mark.parametrize("bits", ["8bit", "4bit"])
def test_a_quantised_model_trains_with_lora(registry_home: Path, tmp_path: Path, start: Start, bits: str) -> None:
    training = start("-m", "tests.support.quantized", bits, str(tmp_path), env=beside.environment())
    _, errors = training.communicate(timeout=240)
    assert training.returncode == 0, errors
