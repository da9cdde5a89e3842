"""Whatever number a person writes, at whatever field: a problem at that field, never a fault of the page."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from groupwise.app.pages.new import new_run, view
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.registry import registry
from groupwise.storage.spec.spec import from_dict, parse_spec, to_yaml
from groupwise.storage.spec.words.problem import SpecError
from tests.support import offer

# Numbers that mean nothing, as YAML can write them, and what is said of them.
ENDLESS = {
    "base 60": ":".join(["59"] * 2500), "hexadecimal": "0x" + "f" * 6000, "binary": "0b" + "1" * 20_000,
    "decimal": "9" * 5000, "negative": "-" + "9" * 5000, "some digits": "9" * 400,
}  # fmt: skip
OTHERS = ["1e400", "-1e400", ".inf", "-.inf", ".nan", "59:59", "2001-01-01", "0x", "0b", "-0", "1_0", "08", "!!int 5"]
# Every place of a spec where a number may stand, and some where none may.
PLACES = {
    "name": "name: {}", "model.revision": "model: {{revision: {}}}", "data.limit": "data: {{limit: {}}}",
    "data.shuffle": "data: {{shuffle: {}}}", "data.holdout": "data: {{holdout: {}}}",
    "data.parameters.a": "data: {{parameters: {{a: {}}}}}", "data.filter.0": "data: {{filter: [{}]}}",
    "rewards.0.weight": "rewards: [{{name: format, weight: {}}}]",
    "rewards.0.timeout": "rewards: [{{name: format, timeout: {}}}]",
    "rewards.0.parameters.a": "rewards: [{{name: format, parameters: {{a: {}}}}}]",
    "rewards.0.schedule.0.step": "rewards: [{{name: format, schedule: [{{step: {}, weight: 1}}]}}]",
    "rewards.0.adapt.every": "rewards: [{{name: format, adapt: {{every: {}}}}}]",
    "training.max_steps": "training: {{max_steps: {}}}", "training.learning_rate": "training: {{learning_rate: {}}}",
    "training.num_generations": "training: {{num_generations: {}}}",
    "training.per_device_train_batch_size": "training: {{per_device_train_batch_size: {}}}",
    "training.max_completion_length": "training: {{max_completion_length: {}}}",
    "training.generation_kwargs.a": "training: {{generation_kwargs: {{a: {}}}}}",
    "launch.processes": "launch: {{processes: {}}}", "lora.r": "lora: {{r: {}}}",
    "stages.0.training.max_steps": "stages: [{{training: {{max_steps: {}}}}}]",
}  # fmt: skip


def spec_with(place: str, written: str) -> str:
    """A spec in which one field is written so."""
    own = PLACES[place].format(written)
    begun = own.partition(":")[0]
    usual = {"name": "name: odd", "rewards": "rewards: [{name: format}]"}
    return "\n".join([own, *(line for part, line in usual.items() if part != begun)]) + "\n"


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which a worker has said what TRL offers; it is only read."""
    place = tmp_path_factory.mktemp("numbers") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUPWISE_HOME", str(place))
        paths.prepare()
        registry.open_registry()
        offer.publish_installed()
    return place


def shown(text: str, edits: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """What New run says of a text with its edits made: no fault, and JSON that a browser can read."""
    said = new_run.edit_settings({"text": text, "edits": list(edits)})
    assert not said.get("fault"), said
    json.dumps(said, allow_nan=False, ensure_ascii=False).encode()
    return said


@pytest.mark.parametrize("kind", ENDLESS)
def test_an_endless_number_is_a_problem_at_its_field(known: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUPWISE_HOME", str(known))
    for place in PLACES:
        text = spec_with(place, ENDLESS[kind])
        said = json.dumps(shown(text), ensure_ascii=False)
        if kind == "base 60":  # which is a text, and a text may stand in some places
            continue
        assert f'"field": "{place}", "message": "has more than 64 digits' in said, (place, said[:400])
        with pytest.raises(SpecError) as caught:
            parse_spec(text)
        [problem] = caught.value.problems
        assert (problem.field, problem.line) == (place, 1)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(sorted(PLACES)), st.sampled_from(OTHERS) | st.integers().map(str) | st.floats().map(repr))
@example("training.max_steps", "1e400")
@example("data.filter.0", "question = " + "9" * 900)
def test_no_number_is_a_fault_of_the_page(known: Path, place: str, written: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUPWISE_HOME", str(known))
        shown(spec_with(place, written))


def test_base_60_is_text_as_everyone_reads_it_today() -> None:
    with pytest.raises(SpecError, match="should be a whole number, not “59:59”"):
        parse_spec(spec_with("data.limit", "59:59"))
    spec = parse_spec(spec_with("model.revision", "12:30"))
    assert spec.model.revision == "12:30"
    assert parse_spec(to_yaml(spec)) == spec


def test_plain_values_are_held_to_the_same() -> None:
    """Those that a page or a question sends, which no YAML was read for."""
    with pytest.raises(SpecError) as caught:
        from_dict({"name": "x", "rewards": [{"name": "format", "weight": 10**5000}], "training": {"a": [1, -(10**99)]}})
    assert {problem.field for problem in caught.value.problems} == {"rewards.0.weight", "training.a.1"}


COMMAS = (
    "name: a\nrewards:\n- name: format\n  weight: '0,5'\ntraining:\n  max_completion_length: 64\n  beta: 0,02  # KL\n"
)


@pytest.mark.parametrize(
    ("text", "label", "after"),
    [
        (f"{COMMAS}  temperature: 0,9\n", "Use points in all 3",
         f"{COMMAS}  temperature: 0,9\n".replace("'0,5'", "0.5").replace("0,", "0.")),
        (COMMAS, "Use points in both", COMMAS.replace("'0,5'", "0.5").replace("0,", "0.")),
        # one that may be a thousand, or has a remark behind it that is to be kept, is asked about by itself
        (f"{COMMAS}  temperature: 1,234\n", "Use points in both", ""),
        (f"{COMMAS}  temperature: 0,9 // low\n", "Use points in both", ""),
        (COMMAS.replace("0,02", "0.02"), None, ""),
        ("name: a\r\nrewards:\r\n- {name: format, weight: 0,5}  # half\r\ntraining: {beta: 0,02, temperature: 0,9}\r\n",
         "Use points in all 3",
         "name: a\r\nrewards:\r\n- {name: format, weight: 0.5}  # half\r\n"
         "training: {beta: 0.02, temperature: 0.9}\r\n"),
        ("name: a\nrewards: [{name: format, weight: 1,234}]\ntraining: {beta: 0,02}\n", None, ""),
    ],
)  # fmt: skip
def test_several_decimal_commas_have_one_button_for_all_beside_each_one_s_own(
    known: Path, text: str, label: str | None, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUPWISE_HOME", str(known))
    view = shown(text)
    problems = (view.get("unreadable") or view)["problems"]
    offered = [[fix["label"] for fix in one["fixes"]] for one in problems]
    every = [fix for one in problems for fix in one["fixes"] if "points" in fix["label"]]
    assert {fix["label"] for fix in every} == ({label} if label else set())
    assert all(labels.index(label) == 1 for labels in offered if label in labels)
    if after:
        assert new_run.edit_settings({"text": text, "edits": [{"fix": every[-1]}]})["text"] == after


def said_of(text: str, place: str, edits: Sequence[dict[str, Any]] = ()) -> tuple[str, list[str], str]:
    """What is said of a setting, what its buttons say, and the text after a click on the first."""
    view = shown(text, edits)
    [problem] = [one for one in view["problems"] if one["field"] == place]
    clicked = new_run.edit_settings({"text": view["text"], "edits": [{"fix": problem["fixes"][0]}]})["text"]
    return problem["message"], [fix["label"] for fix in problem["fixes"]], clicked


@pytest.mark.parametrize(
    ("place", "written", "usual", "after"),
    [
        ("name", "123", "Use “my-run”", "name: '123'"), ("name", "true", "Use “my-run”", "name: 'true'"),
        ("model.revision", "1e5", "Leave it out", "model: {revision: '1e5'}"),
        ("model.revision", "1_0", "Leave it out", "model: {revision: '1_0'}"),
    ],
)  # fmt: skip
def test_a_number_where_text_belongs_is_offered_in_quotes_as_it_is_written(
    known: Path, place: str, written: str, usual: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUPWISE_HOME", str(known))
    words, labels, text = said_of(spec_with(place, written), place)
    assert (words, labels) == (f"should be text, not {written}.", [f'Use "{written}"', usual])
    assert text.splitlines()[0] == after and parse_spec(text)


@pytest.mark.parametrize("place", ["training.max_steps", "data.limit"])
@pytest.mark.parametrize(
    ("typed", "meant"), [("6e1", "60"), ("1e5", "100000"), ("+6.0", "6"), ("1e9", ""), ("1e99", "")]
)
def test_a_whole_number_is_quoted_as_it_was_typed_and_offered_where_one_can_mean_it(
    known: Path, place: str, typed: str, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUPWISE_HOME", str(known))
    bare = "name: a\nrewards: [{name: format}]\n"
    for text, edits in ((spec_with(place, typed), []), (bare, [{"path": place, "typed": typed}])):
        words, labels, _ = said_of(text, place, edits)
        assert words == f"should be a whole number, not {typed}."
        usual = ["Use 60"] if place == "training.max_steps" else []
        assert [one for one in labels if re.fullmatch("Use [0-9]+", one)] == ([f"Use {meant}"] if meant else usual)


@pytest.mark.parametrize(
    ("place", "written", "offered"),
    [
        ("training.num_generations", "1e9", []), ("training.num_generations", "5e3", []),  # too large a group
        ("training.num_generations", "8.0", ["Use 8"]), ("training.learning_rate", "--1e-4", ["Use 1e-4"]),
        ("training.learning_rate", "--5", []), ("training.learning_rate", "'0,00002'", ["Use 0.00002"]),
        ("training.learning_rate", "'100,0'", ["Use 100.0"]), ("training.max_steps", "--5", ["Use 5"]),
        ("data.limit", "--5", ["Use 5"]), ("rewards.0.weight", "--5", ["Use -5", "Use 5"]),
        ("launch.processes", "7e1", []),
        # what is asked about, and what stands there in other digits, whatever is said of them then
        ("training.learning_rate", "'0,01'", ["Use 0.01"]),
        ("training.max_steps", "１００", ["Use 100"]), ("training.learning_rate", "１００", ["Use 100"]),
        ("training.learning_rate", "-１", []),
    ],
)  # fmt: skip
def test_no_button_offers_a_number_that_is_complained_of_once_it_is_there(
    known: Path, place: str, written: str, offered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUPWISE_HOME", str(known))
    found = shown(spec_with(place, written))["problems"]
    [problem] = [one for one in found if one["field"] == place and one["level"] == "blocking"]
    assert [fix["label"] for fix in problem["fixes"] if fix["settings"] and not fix["fallback"]] == offered


def test_a_number_with_a_zero_before_it_is_asked_about(known: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """042 trained as 34, as YAML 1.1 has it, and the page said that no problem was found."""
    monkeypatch.setenv("GROUPWISE_HOME", str(known))
    for place, written, meant in (("training.max_steps", "060", "60"), ("data.limit", "0100", "100")):
        words, labels, text = said_of(spec_with(place, written), place)
        assert labels[0] == f"Use {meant}" and f"Did you mean {meant}?" in words
        assert text.splitlines()[0].endswith(f": {meant}}}")
    spec = parse_spec(spec_with("model.revision", "0123"))
    assert spec.model.revision == "0123"
    assert 'revision: "0123"' in to_yaml(spec), "34 to those who read YAML 1.1"


def test_a_number_that_is_too_large_for_one_is_shown_as_it_was_typed() -> None:
    text = "name: odd\nrewards: [{name: format, weight: 1e999}]\ntraining: {learning_rate: -.inf, beta: '.inf'}\n"
    shown = view.describe_text(text, Offer())["shown"]
    assert shown["rewards.0.weight"] == "1e999"
    assert (shown["training.learning_rate"], shown["training.beta"]) == ("-.inf", ".inf")
