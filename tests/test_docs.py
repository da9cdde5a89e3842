"""The examples in docs/ are specs that parse, and name every field there is."""

from __future__ import annotations

import re
from pathlib import Path

from storage import spec
from storage.spec import DataSpec, LaunchSpec, ModelSpec, RunSpec

TEXT = (Path(__file__).parents[1] / "docs" / "spec.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", TEXT, re.S)


def test_every_example_is_a_spec() -> None:
    assert len(EXAMPLES) == 3
    for text in EXAMPLES:
        spec.parse(text)


def test_the_first_example_has_every_field_with_its_default_or_the_quickstarts() -> None:
    raw, _ = spec.read(EXAMPLES[0])
    assert set(raw) == set(RunSpec.model_fields)
    for part, model in (("model", ModelSpec), ("data", DataSpec), ("launch", LaunchSpec)):
        assert set(raw[part]) >= set(model.model_fields) - {"engine"}
