"""What is published is read as it was meant, or not at all: damaged, of an older form, with a newer one's additions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.library.capabilities import Offer
from groupwise.storage.registry import judge_ports, registry
from groupwise.storage.registry.messages.facts import Catalogue, Fact, Hardware, Sandbox, Shipped
from groupwise.worker.builtin import shipped
from groupwise.worker.capabilities import hardware

CPU = {"gpus": [], "cores": 2, "memory": 8, "sentence": "CPU, 2 cores, 8 GB"}


def put(key: str, value: str) -> None:
    """What another version of Groupwise, or a fault of the disk, left there."""
    with registry.write_registry() as db:
        db.execute("INSERT OR REPLACE INTO published (key, value, at) VALUES (?, ?, 0)", [key, value])


@pytest.mark.usefixtures("registry_home")
def test_what_this_machine_offers_comes_back_whole() -> None:
    for fact in (hardware.describe_hardware(), shipped.describe_shipped({"scipy": "1.0"})):
        registry.publish_fact(fact)
        assert registry.read_fact(type(fact)) == fact
        assert type(fact).from_plain(json.loads(json.dumps(fact.as_dict()))) == fact


@pytest.mark.usefixtures("registry_home")
@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[]", "1", '"x"', "{}", json.dumps({**CPU, "cores": "2"}), json.dumps({**CPU, "memory": None}),
     json.dumps({**CPU, "gpus": [{"name": "Tesla T4"}]}), json.dumps({**CPU, "gpus": 1}), "[" * 5000],
)  # fmt: skip
def test_what_is_damaged_or_of_an_older_form_is_as_good_as_unsaid(text: str) -> None:
    put("hardware", text)
    assert registry.read_fact(Hardware) is None
    assert Offer.read_published() == Offer()


@pytest.mark.usefixtures("registry_home")
def test_what_a_newer_worker_adds_is_left_out() -> None:
    put("hardware", json.dumps({**CPU, "interconnect": "NVLink"}))
    assert registry.read_fact(Hardware) == Hardware.from_plain(CPU)
    assert Offer.read_published().hardware == CPU


@pytest.mark.usefixtures("registry_home")
@pytest.mark.parametrize("value", ["true", '{"trusted": 1}', '{"trusted": "true"}', "{}", "{"])
def test_code_is_not_trusted_by_accident(value: str) -> None:
    put("trust_reward_code", value)
    assert registry.is_trusted() is False
    put("judge_ports", value)
    assert judge_ports.open_ports() == []


@pytest.mark.parametrize("fact", [Catalogue, Hardware, Sandbox, Shipped])
def test_each_has_a_name_of_its_own(fact: type[Fact]) -> None:
    assert sum(fact.key == other.key for other in Fact.__subclasses__()) == 1


@pytest.mark.parametrize("said", ["import groupwise.storage.registry.questions", "import groupwise.app.cli.parser"])
def test_who_reads_no_message_does_not_wait_for_the_models(said: str, tmp_path: Path) -> None:
    code = f"{said}\nimport sys\nprint('pydantic' in sys.modules)"
    done: Any = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
