"""The published catalogue is the installed TRL and PEFT, not a list of ours."""

from __future__ import annotations

import dataclasses
import enum
import importlib.util
import json
import subprocess
import sys
from typing import Any, Literal

import pytest
from peft import LoraConfig
from trl import GRPOConfig

from groupwise.storage.checks.check import check_spec
from groupwise.storage.library.capabilities import Offer
from groupwise.worker.capabilities import catalogue, extras
from tests.support.runs import make_spec


@pytest.fixture(scope="module")
def built() -> dict[str, Any]:
    return catalogue.build().as_dict()


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
    wrong = [p for p in check_spec(spec, Offer(training=built["training"])) if "should be" in p.message]
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


def test_fields_stand_in_the_sections_of_the_libraries_own_docstrings(built: dict[str, Any]) -> None:
    training, lora = built["training"], built["lora"]
    sections = {name: training[name]["section"] for name in training}
    assert sections["num_generations"] == "Data preprocessing"
    assert sections["temperature"] == "Generation"
    assert sections["learning_rate"] == "Learning Rate & Scheduler"  # GRPOConfig mentions it again in a note
    assert sections["logging_steps"] == "Logging & Monitoring Training"  # and TRL's own base class with no heading
    assert sections["vllm_mode"].startswith("Generation acceleration powered by vLLM")
    assert not any("[!" in section or section.startswith(">") for section in sections.values())
    assert {field["section"] for field in lora.values()} == {"LoRA"}
    without = [name for name, section in sections.items() if section == "Other"]
    assert len(without) <= 5


def test_in_their_order_sections_follow_one_another_whole(built: dict[str, Any]) -> None:
    for fields in (built["training"], built["lora"]):
        ordered = sorted(fields, key=lambda name: fields[name]["order"])
        assert [fields[name]["order"] for name in ordered] == list(range(len(fields)))
        sections = [fields[name]["section"] for name in ordered]
        runs = [section for index, section in enumerate(sections) if index == 0 or section != sections[index - 1]]
        assert len(runs) == len(set(runs))
    order = built["training"]
    assert order["num_generations"]["order"] < order["learning_rate"]["order"] < order["output_dir"]["order"]


def test_every_field_has_help(built: dict[str, Any]) -> None:
    for fields in (built["training"], built["lora"]):
        assert [name for name, field in fields.items() if not field["help"]] == []


def test_what_a_field_takes_is_read_from_the_trainer_s_code_where_no_type_says_it(built: dict[str, Any]) -> None:
    fields = built["training"]
    assert {"grpo", "dapo", "dr_grpo", "bnpo", "cispo"} <= set(fields["loss_type"]["choices"])
    assert fields["scale_rewards"]["choices"] == ["batch", "group", "none"]
    assert fields["importance_sampling_level"]["choices"] == ["sequence", "token"]
    assert fields["vllm_mode"]["choices"] == ["colocate", "server"]
    assert fields["report_to"]["choices"] is None and fields["pad_to_multiple_of"]["choices"] is None
    for name, field in fields.items():
        assert not field["choices"] or field["default"] is None or field["default"] in field["choices"], name


@dataclasses.dataclass
class Upgraded(GRPOConfig):
    """As a later TRL may have it.

    Parameters:
        > Parameters that control the weather

        rain (`float`, *optional*, defaults to `0.5`):
            How much it rains, see [the forecast](https://example.org).

            - `"0"`: not at all.
        wind (`Literal["calm", "storm"]`):
            How it blows.

        > [!NOTE]
        > - `rain`: Defaults to `0.5` instead of `0`.
    """

    rain: float = 0.5
    wind: Literal["calm", "storm"] = dataclasses.field(default="calm", metadata={"help": "Wind."})
    undocumented: int | None = None


def test_a_field_that_trl_will_have_one_day_appears_by_itself(built: dict[str, Any]) -> None:
    fields = catalogue.fields_of(Upgraded)
    assert set(fields) - set(built["training"]) == {"rain", "wind", "undocumented"}
    rain, wind, undocumented = fields["rain"], fields["wind"], fields["undocumented"]
    assert (rain["types"], rain["default"], rain["section"], rain["order"]) == (["float"], 0.5, "Weather", 0)
    assert rain["help"] == 'How much it rains, see the forecast. - `"0"`: not at all.'
    assert (wind["choices"], wind["help"]) == (["calm", "storm"], "Wind.")
    assert (undocumented["section"], undocumented["types"]) == ("Other", ["int", "none"])
    assert fields["temperature"]["section"] == "Generation"


def test_the_gym_s_tasks_are_published_where_it_is_installed(built: dict[str, Any]) -> None:
    if not extras.is_installed("reasoning_gym"):
        assert built["gym"] is None
        return
    assert built["versions"]["reasoning_gym"] == catalogue.versions()["reasoning_gym"]
    assert "default" in next(iter(built["gym"].values()))["parameters"].popitem()[1]


def test_optional_packages_are_found_without_importing_them() -> None:
    code = (
        "import sys; from groupwise.worker.capabilities import extras; found = extras.installed_versions(); "
        "print([name for name in found if name in sys.modules], found)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("[] ")
    for name in extras.OPTIONAL:
        assert (f"'{name}'" in said) == (importlib.util.find_spec(name) is not None)
