"""The examples in docs/ are specs that parse, and name every field there is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.checks.length import check_length
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models import model_files
from groupwise.storage.library.rewards import signature
from groupwise.storage.record import group_metrics
from groupwise.storage.record.step_record import Completion, Group
from groupwise.storage.spec import spec
from groupwise.storage.spec.spec import DataSpec, KlSpec, LaunchSpec, ModelSpec, RewardSpec, RunSpec
from groupwise.worker.builtin import models, shipped
from tests.conftest import REPOSITORY
from tests.project.test_rooms import LAYERS

TEXT = (REPOSITORY / "docs" / "spec.md").read_text(encoding="utf-8")
COMMAND = (REPOSITORY / "docs" / "command.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", TEXT, re.S)


def test_every_example_is_a_spec() -> None:
    assert len(EXAMPLES) == 6
    for text in EXAMPLES:
        spec.parse_spec(text)


def test_every_example_leaves_a_prompt_of_the_starter_room_and_name_and_rewards_alone_do_not(
    registry_home: Path,
) -> None:
    models.install_starter()
    offered = Offer(training={"max_completion_length": {"types": ["int"], "default": 512}})
    alone = "name: a\nrewards:\n- name: format\n"
    refused = []
    for text in (*EXAMPLES, *re.findall(r"```yaml\n(.*?)```", COMMAND, re.S), alone):
        asked = spec.parse_spec(text)
        refused += [asked.name] if check_length(asked, offered, model_files.facts_at_hand(asked.model)) else []
    assert refused == ["a"] and "`training.max_completion_length` is needed, too" in TEXT


def test_the_first_example_has_every_field_with_its_default_or_the_quickstarts() -> None:
    raw, _ = spec.read_yaml(EXAMPLES[0])
    assert set(raw) == set(RunSpec.model_fields)
    for part, model in (("model", ModelSpec), ("data", DataSpec), ("kl", KlSpec), ("launch", LaunchSpec)):
        assert set(raw[part]) >= set(model.model_fields) - {"engine"}
    assert set(raw["rewards"][-1]) == set(RewardSpec.model_fields)


REWARDS = (REPOSITORY / "docs" / "rewards.md").read_text(encoding="utf-8")


def test_the_function_in_the_docs_is_one_and_scores() -> None:
    [code] = re.findall(r"```python\n(.*?)```", REWARDS, re.S)
    found = signature.analyse(code)
    assert [function.name for function in found.functions] == ["short_and_right"] and found.problems == []
    assert [parameter["help"] for parameter in found.functions[0].parameters] == [
        "characters up to which a completion is short"
    ]
    scope: dict[str, Any] = {}
    exec(code, scope)  # noqa: S102 - it is ours
    assert scope["short_and_right"](["4", "5", "4" * 300], answer=[4, 4, 4]) == [1.0, 0.0, 0.5]


def test_the_changing_weights_of_the_docs_are_a_spec() -> None:
    [text] = re.findall(r"```yaml\n(.*?)```", REWARDS, re.S)
    first, second = spec.parse_spec(f"name: x\n{text}").rewards
    assert first.schedule[-1].weight == 0.2 and second.adapt is not None


def test_the_docs_list_every_built_in_function() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", REWARDS, re.M)
    assert sorted(listed) == shipped.shipped_names(shipped.REWARDS)


DOCTOR = REPOSITORY / "storage" / "analysis" / "doctor"
UNDERSTAND = (REPOSITORY / "docs" / "understand.md").read_text(encoding="utf-8")


def test_the_docs_list_every_metric_of_ours() -> None:
    listed = set(re.findall(r"^\| `((?:groups|time|system)/\w+)` \|", UNDERSTAND, re.M))
    words = "a sentence that is long enough for its repetition to be told, " * 4
    right, wrong = ([Completion(words, 9, False, value, 0.0, [(value, "ok")])] * 2 for value in (1.0, 0.0))
    of_groups = set(group_metrics.metrics_of_groups([Group("train", 1, "?", {}, [*right, *wrong])], (0.0, 1.0), 0))
    code = (REPOSITORY / "worker" / "training" / "measures.py").read_text(encoding="utf-8")
    assert listed == of_groups | set(re.findall(r'"((?:time|system)/\w+)"', code))


def test_the_docs_list_everything_the_doctor_can_say() -> None:
    listed = set(re.findall(r"^\| `(\w+)` \|", UNDERSTAND, re.M))
    code = "\n".join(path.read_text(encoding="utf-8") for path in DOCTOR.glob("*.py"))
    assert listed == set(re.findall(r'Verdict\(\s*"(\w+)"', code))


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_every_file_that_a_newcomer_is_sent_to_is_there(page: str) -> None:
    """Those with a folder in their name, and the rest in one of the folders that the page names."""
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    named = {name.rstrip("/") for name in re.findall(r"`([\w./*-]+)`", text) if not name.startswith(".")}
    placed = {name for name in named if "/" in name}
    assert [name for name in placed if not list(REPOSITORY.glob(name))] == []
    folders = [REPOSITORY / (Path(name).parent if "." in name else name) for name in placed]
    bare = {name for name in named - placed if Path(name).suffix in (".py", ".js")}
    assert [name for name in bare if not any(list(folder.rglob(name)) for folder in folders)] == []


def test_the_page_on_architecture_knows_every_folder_of_a_room() -> None:
    text = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
    for room, layers in LAYERS.items():
        assert re.findall(rf"^\| `{room}/(\w+)/` \|", text, re.M) == layers, room
