"""The published catalogue is the installed TRL and PEFT, not a list of ours."""

from __future__ import annotations

import dataclasses
import enum
import json
from typing import Any, Literal

import pytest
from peft import LoraConfig
from trl import GRPOConfig

from storage.check import Offer, check
from tests.runs import make_spec
from worker import catalogue


@pytest.fixture(scope="module")
def built() -> dict[str, Any]:
    return catalogue.build()


def test_every_field_is_there_with_its_default(built: dict[str, Any]) -> None:
    assert set(built["training"]) == {field.name for field in dataclasses.fields(GRPOConfig) if field.init}
    assert set(built["lora"]) == {field.name for field in dataclasses.fields(LoraConfig) if field.init}
    assert built["training"]["num_generations"]["default"] == 8
    rate = built["training"]["learning_rate"]
    assert (rate["types"], rate["default"], rate["choices"]) == (["float"], 1e-6, None)
    assert "cosine" in built["training"]["lr_scheduler_type"]["choices"]
    assert built["training"]["max_completion_length"]["help"]
    json.dumps(built)


def test_every_default_fits_its_own_types_and_choices(built: dict[str, Any]) -> None:
    """So a spec of nothing but defaults has no problem of type."""
    defaults = {name: field["default"] for name, field in built["training"].items()}
    spec = make_spec(training={k: v for k, v in defaults.items() if v is not None and k not in ("use_cpu",)})
    wrong = [p for p in check(spec, Offer(training=built["training"])) if "should be" in p.message]
    assert wrong == []


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Config:
    plain: int = 1
    maybe: float | None = None
    either: bool | Literal["auto"] = True
    choice: Literal["a", "b"] | None = "a"
    colour: Colour = Colour.RED
    many: list[str] | str | None = dataclasses.field(default_factory=list, metadata={"help": "100%% of\n  them"})
    hidden: int = dataclasses.field(default=0, init=False)


def test_the_kinds_of_hint_that_libraries_use() -> None:
    fields = catalogue.fields_of(Config)
    assert "hidden" not in fields
    assert {name: (field["types"], field["choices"], field["default"]) for name, field in fields.items()} == {
        "plain": (["int"], None, 1),
        "maybe": (["float", "none"], None, None),
        "either": (["bool", "str"], None, True),
        "choice": (["none", "str"], ["a", "b"], "a"),
        "colour": (["str"], ["red"], "red"),
        "many": (["list", "none", "str"], None, []),
    }
    assert fields["many"]["help"] == "100% of them"
