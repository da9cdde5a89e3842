"""No fix leads to another problem, and none comes to sight only once another is put right."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import launch, said_later, view, yaml_edit
from groupwise.storage.registry import registry
from groupwise.storage.spec.words.problem import (
    ADVICE,
    BLOCKING,
    THEN,
    UNSET,
    WARNING,
    Fix,
    Problem,
    told_later,
    whole_sentence,
    without_then,
)
from groupwise.worker.builtin import models
from tests.app.test_said_at_once import HEAD, OFFER, clicked, labels_of, said_of
from tests.conftest import Groupwise
from tests.support import offer
from tests.support.launching import write
from tests.support.offered_rewards import OFFERED

ROOT = Path(__file__).parents[2]
LONG: dict[str, Any] = {"types": ["int"], "default": 512}


@pytest.mark.parametrize("part", ["model", "data", "launch"])
def test_of_a_part_without_a_value_nothing_false_is_said(part: str, own_home: Path) -> None:
    [(field, _, words)] = said_of(HEAD + f"{part}: null\n")
    assert field == part and words.startswith("has no value: it should be a mapping")


@pytest.mark.parametrize("around", ["training", "lora", "launch"])
def test_a_part_inside_another_is_moved_to_the_left_edge(around: str, own_home: Path) -> None:
    text = HEAD + f"{around}:\n  data:\n    limit: 20\n"
    assert labels_of(text, f"{around}.data") == ["Move it to the left edge", "Remove it (1 setting)"]
    after = yaml_edit.load(clicked(text, f"{around}.data", "Move it to the left edge")) or {}
    assert after["data"] == {"limit": 20} and not after.get(around)


def test_what_cannot_be_given_together_is_told_though_one_is_at_the_left_edge(own_home: Path) -> None:
    text = HEAD + "steps_per_generation: 2\ntraining: {generation_batch_size: 16}\n"
    assert labels_of(text, "steps_per_generation") == ["Move it under training", "Remove it"]
    told = [words for field, _, words in said_of(text) if field == "training.generation_batch_size"]
    first = "Once “steps_per_generation” is fixed: "
    assert told == [f"{first}“generation_batch_size” cannot be given together with steps_per_generation."]


@pytest.mark.parametrize(
    ("slip", "field", "words", "labels", "after"),
    [
        ("dataset: org/name\n", "dataset",
         "there is no such field. Did you mean “data”? Write it as “data: {source: hub:org/name}”.",
         ["Write it as “data: {source: hub:org/name}”", "Remove it"], {"data": {"source": "hub:org/name"}}),
        ("reward: format\n", "reward",
         "there is no such field. Did you mean “rewards”? Write it as “rewards: [{name: format}]”.",
         ["Write it as “rewards: [{name: format}]”", "Remove it"], {"rewards": [{"name": "format"}]}),
        ("steps: thirty\n", "steps",
         "belongs under training as max_steps. It should be a whole number, not “thirty”. Did you mean 30?",
         ["Move it under training as max_steps, and use 30", "Remove it"], {"training": {"max_steps": 30}}),
        ("training: {max_steps: soon}\n", "training.max_steps", "should be a whole number, not “soon”.",
         ["Use 60", "Leave it to the epochs"], {"training": {"max_steps": 60}}),
        ("data: {holdout: fifty}\n", "data.holdout",
         "should be a number of rows, or a share of them below 1, not “fifty”. Did you mean 50?",
         ["Use 50", "Use the default (0)"], {"data": {"holdout": 50}}),
        ("training: {lr: high}\n", "training.lr",
         "TRL's GRPOConfig has no such field. Did you mean “learning_rate”? It should be a number, not “high”.",
         ["Rename it to learning_rate, and use 1e-4", "Remove it"], {"training": {"learning_rate": 1e-4}}),
    ],
)  # fmt: skip
def test_one_slip_is_one_entry_which_says_all(
    slip: str, field: str, words: str, labels: list[str], after: dict[str, Any], own_home: Path
) -> None:
    text = ("name: a\n" if slip.startswith("reward") else HEAD) + slip
    assert [(place, said) for place, _, said in said_of(text)] == [(field, words)]
    assert labels_of(text, field) == labels
    fixed = clicked(text, field, labels[0])
    assert (yaml_edit.load(fixed) or {}).items() >= after.items() and said_of(fixed) == []


def test_a_message_without_a_subject_is_told_later_as_a_whole_sentence() -> None:
    message = "has a character that cannot be seen."
    for field, name in {"model.id": "model.id", "rewards.0.weight": "weight", "rewards.1": "rewards.1"}.items():
        problem = Problem(field, message)
        then = replace(problem, message=told_later(problem))
        assert then.message == f"{THEN}“{name}” {message}" and without_then(then) == message
    whole = Problem("rewards.0.name", "“format” is listed twice.")
    then = replace(whole, message=told_later(whole))
    assert then.message == THEN + whole.message and without_then(then) == whole.message


@pytest.mark.parametrize(
    ("rewards", "training", "words"),
    [
        ("[{name: length}, {name: correctness}]", "{max_completion_lenght: 48, max_steps: 5}",
         "Once “max_completion_lenght” is fixed: “length” gives every completion 1:"),
        ("[{name: length}, {name: solutions}]", "{max_steps: 5}", "Once “solutions” is fixed: no reward reads"),
    ],
)  # fmt: skip
def test_what_is_told_later_of_a_reward_calls_it_by_its_name(
    rewards: str, training: str, words: str, own_home: Path
) -> None:
    text = f"name: a\ndata: {{source: task:arithmetic}}\nrewards: {rewards}\ntraining: {training}\n"
    offered = replace(OFFERED, training={**(OFFER.training or {}), "max_completion_length": LONG})
    seen = view.describe_text(text, offered, None, {"script", "preflight"})["problems"]
    later = [one["message"] for one in seen if one["level"] == WARNING and one["message"].startswith("Once")]
    assert all("“name”" not in one for one in later) and any(one.startswith(words) for one in later), later


def test_a_warning_names_what_has_to_be_fixed_before_it_is_true(own_home: Path) -> None:
    """It stands in a list of its own, apart from the problems."""
    name = f'name: "a\\u202e{"b" * 330}"'
    seen = view.describe_text(HEAD.replace("name: a", name), OFFER, None, {"script", "preflight"})["problems"]
    [said] = [one["message"] for one in seen if one["level"] == WARNING]
    assert said.startswith("Once “name” is fixed: “name” has a character that cannot be seen")


def test_every_message_that_begins_with_a_verb_gets_its_subject() -> None:
    """The first words of all messages that are written out, but for those that have a subject."""
    subjects = {"choose", "each", "every", "nothing", "of", "only", "quantised", "streaming", "the", "there", "this",
                "without", "an", "a", "use", "it", "give"}  # fmt: skip
    told = [
        words.value
        for part in ("app", "storage", "worker")
        for path in (ROOT / part).rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Problem" and len(call.args) > 1
        for words in [getattr(call.args[1], "values", [call.args[1]])[0]]
        if isinstance(words, ast.Constant) and re.match("[a-z]+ ", str(words.value))
    ]
    begun = {one.split()[0] for one in told if whole_sentence(Problem("beta", one)) == one}
    assert len(told) > 20 and begun <= subjects, begun - subjects


def test_a_number_as_kl_is_the_kl_weight_and_no_part_inside_another(own_home: Path) -> None:
    text = HEAD + "training: {kl: 0.1}\n"
    assert labels_of(text, "training.kl") == ["Rename it to beta", "Remove it"]
    assert (yaml_edit.load(clicked(text, "training.kl", "Rename it to beta")) or {})["training"] == {"beta": 0.1}
    words, *_ = [words for _, _, words in said_of(HEAD + "training: {kl: {target: 0.1}}\n")]
    assert words == "is indented too far: “kl” begins at the left edge."


def test_a_part_inside_another_is_joined_with_what_is_set(own_home: Path) -> None:
    text = HEAD + "training: {data: {limit: 20, holdout: 1}}\ndata: {limit: 3}\n"
    [(_, _, words)] = said_of(text)
    assert words == "is indented too far: “data” begins at the left edge, where it is set already."
    joined = yaml_edit.load(clicked(text, "training.data", "Join them, with “limit: 20”")) or {}
    assert joined["data"] == {"limit": 20, "holdout": 1}


def test_what_is_wrong_inside_a_part_that_is_joined_is_told_where_it_stands(own_home: Path) -> None:
    text = HEAD + "training: {beta: 0.1}\ntraning: {max_steps: 5, foo: 3}\n"
    assert [(field, words) for field, _, words in said_of(text)] == [
        ("traning", "there is no such field. Did you mean “training”? It is set already."),
        ("traning.foo", "TRL's GRPOConfig has no such field."),
    ]
    text = HEAD + "reward:\n- name: correctness\n- nam: fromat\n"
    [(whole, _, _), (field, line, words)] = said_of(text)
    assert (whole, field) == ("reward", "reward.1.nam") and words.startswith("there is no such field. Did you")
    assert line == text.splitlines().index("- nam: fromat") + 1


def test_a_part_inside_a_stage_is_moved_to_the_left_edge(own_home: Path) -> None:
    text = HEAD + "stages:\n- training: {data: {limit: 20}, max_steps: 5}\n- training: {max_steps: 5}\n"
    [(field, line, _)] = said_of(text)
    assert (field, line) == ("stages.0.training.data", 5)
    after = yaml_edit.load(clicked(text, field, "Move it to the left edge")) or {}
    assert after["data"] == {"limit": 20} and after["stages"][0]["training"] == {"max_steps": 5}


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("training: {max_steps: 10 min}", "It counts steps, not minutes."),
        ("training: {max_steps: 3 epochs}", "It counts steps, not epochs."),
        ("training: {max_steps: 2 h}", "It counts steps, not hours."),
        ("training: {logging_steps: 30 s}", "It counts steps, not seconds."),
        ("training: {num_generations: 512 tokens}", "It counts completions, not tokens."),
        ("training: {beta: 5 min}", "It is not a number of minutes."),
        ("launch: {processes: 2 days}", "It counts processes, not days."),
        ("data: {limit: 30 sec}", "It counts rows, not seconds."),
    ],
)
def test_a_number_with_another_unit_is_not_offered_as_if_it_had_none(setting: str, words: str, own_home: Path) -> None:
    [(field, _, said)] = said_of(HEAD + setting + "\n")
    number = setting.partition(": {")[2].partition(": ")[2].split()[0]
    assert said.endswith(words) and "Did you mean" not in said
    assert f"Use {number}" not in labels_of(HEAD + setting + "\n", field)


@pytest.mark.parametrize(
    ("setting", "label"),
    [("max_steps: 20 steps", "Use 20"), ("beta: 5 %", "Use 0.05"), ("num_generations: 4 completions", "Use 4")],
)
def test_a_number_with_its_own_unit_is_offered(setting: str, label: str, own_home: Path) -> None:
    text = HEAD + f"training: {{{setting}}}\n"
    assert labels_of(text, f"training.{setting.partition(':')[0]}")[0] == label


@pytest.mark.parametrize(
    ("text", "field", "line", "words"),
    [
        (HEAD + "training:\n  beta: 0.1\n  num_generation: 5\n", "training.num_generation", 6,
         "each generation makes 8 completions"),
        ("name: a\nrewards:\n- nosuch: 1\n- name: format\n", "rewards.0.nosuch", 3,
         "there is no reward function “nosuch”."),
    ],
)  # fmt: skip
def test_what_comes_to_sight_once_others_are_put_right_is_said_with_them(
    text: str, field: str, line: int, words: str, own_home: Path
) -> None:
    [(place, at, message)] = [one for one in said_of(text) if one[2].startswith(THEN)]
    assert (place, at) == (field, line) and message.startswith(THEN + words)


def test_what_waits_for_another_field_names_it(own_home: Path) -> None:
    """As it was seen under Group size: “Once that is fixed: each generation makes 64 completions …”."""
    text = f"{HEAD}training: {{num_generations: 7, per_device_train_batch_size: '64,0', beta: '0,1'}}\n"
    [told] = [words for field, _, words in said_of(text) if field == "training.num_generations"]
    assert told.startswith("Once “per_device_train_batch_size” is fixed: each generation makes 64 completions")


def test_what_is_not_set_is_said_beside_settings_that_are_given_twice(own_home: Path) -> None:
    text = "name: a\nname: b\nrewards:\n- name: format\ntraining:\n  steps_per_generation: 5\n"
    text += "  per_device_train_batch_size: 1\n  max_steps: 5\n  max_steps: 6\ntraining:\n  beta: 0.1\n"
    said = said_of(text)
    assert [(field, line) for field, line, _ in said] == [
        ("name", 2), ("training.max_steps", 9), ("training", 10), ("training.num_generations", 5),
    ]  # fmt: skip


def test_nothing_is_judged_anew_of_a_text_without_problems(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "problems_of_values", None)
    assert said_of(HEAD + "training: {max_steps: 5, learning_rate: 1.0e-4}\n") == []


def test_launch_says_of_a_text_with_a_tab_what_is_set_and_wrong_alone(
    groupwise: Groupwise, registry_home: Path, no_worker: None, tmp_path: Path
) -> None:
    models.install_starter()
    offer.publish_installed()
    path = write(tmp_path, f"{HEAD}data:\n\tholdout: 4000\n")
    with offer.answering():
        said = groupwise("launch", str(path)).stderr
    assert f"{path}:5: This is not YAML: there is a tab." in said and f"{path}:5: data.holdout: " in said
    assert "TRL's default" not in said
    path.write_text(path.read_text().replace("\t", "  "))
    with offer.answering():
        assert "training.max_completion_length: is not set: TRL's default" in groupwise("launch", str(path)).stderr


def test_launch_says_what_comes_to_sight_later_in_the_same_words(
    groupwise: Groupwise, registry_home: Path, no_worker: None, tmp_path: Path
) -> None:
    offer.publish()
    path = write(tmp_path, f"{HEAD}training: {{num_generation: 5}}\n")
    with offer.answering():
        said = groupwise("launch", str(path)).stderr.splitlines()
    told = [line for line in said if THEN in line]
    [words] = [f"{path}:{line}: {field}: {words}" for field, line, words in said_of(path.read_text()) if THEN in words]
    assert told == [words] and registry.list_runs() == []


@pytest.mark.parametrize(
    ("part", "field", "labels"),
    [
        ("training: {max_steps: 0,5}\n", "training.max_steps", ["Use 60"]),
        ("training: {steps_per_generation: 1,5}\n", "training.steps_per_generation", ["Use 1", "Use 2"]),
        ("training: {num_generations: 1,5}\n", "training.num_generations", ["Use 8"]),
        ("data: {limit: 1,500}\n", "data.limit", ["Use 1500"]),
        (
            "stages:\n- training: {max_steps: 0,5}\n- training: {max_steps: 5}\n",
            "stages.0.training.max_steps",
            ["Use 60"],
        ),
    ],
)
def test_a_comma_in_a_whole_number_in_braces_is_one_problem(
    part: str, field: str, labels: list[str], own_home: Path
) -> None:
    [(place, _, words)] = said_of(HEAD + part)
    assert place == field and "begins another setting. This should be a whole number." in words
    assert labels_of(HEAD + part, field) == labels
    assert [said_of(clicked(HEAD + part, field, label)) for label in labels] == [[]] * len(labels)


def test_no_button_writes_a_point_where_a_whole_number_belongs(own_home: Path) -> None:
    text = HEAD + "training: {max_steps: 0,5, beta: 0,1, learning_rate: 0,2}\n"
    assert labels_of(text, "training.beta") == ["Use 0.1"] and labels_of(text, "training.max_steps") == ["Use 60"]


def test_where_each_fix_of_the_arithmetic_leads_on_it_does_what_puts_that_right_as_well(own_home: Path) -> None:
    text = HEAD + "training: {generation_batch_size: 10, steps_per_generation: 5, per_device_train_batch_size: 1}\n"
    [(field, _, _)] = said_of(text)
    labels = labels_of(text, field)
    assert labels == ["Remove it and use groups of 5", "Remove steps_per_generation and use groups of 5"]
    for label in labels:
        assert said_of(clicked(text, field, label)) == []


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        (HEAD + "training:\n\tmax_steps: 10\n\tbeta: -1\n", HEAD + "training:\n  max_steps: 10\n  beta: -1\n"),
        (HEAD + "data:\n\tholdout: -1\n", HEAD + "data:\n  holdout: -1\n"),
        (HEAD.replace(": a", ': "a') + "training: {beta: -1\n", HEAD + "training: {beta: -1}\n"),
        (HEAD + "data:\n\tholdout: -1\n---\ntraining:\n  max_completion_length: 64\n", ""),
        (HEAD + "data:\n\tholdout: -1\ntraining: {max_completion_length 64}\n", ""),
    ],
)  # fmt: skip
def test_of_what_is_no_yaml_is_said_what_is_set_and_wrong_and_not_what_is_not_set(
    text: str, readable: str, registry_home: Path
) -> None:
    models.install_starter()
    offered = replace(OFFER, training={**(OFFER.training or {}), "max_completion_length": LONG})
    seen = view.describe_text(text, offered)["unreadable"]["problems"]
    assert [one["message"] for one in seen if "TRL's default" in one["message"]] == []
    assert any(one["field"] in ("training.beta", "data.holdout") for one in seen)
    blocking = [one["message"] for one in view.describe_text(readable, offered)["problems"]] if readable else [UNSET]
    assert any(one.startswith(UNSET) for one in blocking)


def test_who_removes_another_name_of_the_length_sets_it(registry_home: Path) -> None:
    models.install_starter()
    text = HEAD + "model: {id: starter}\ntraining: {max_steps: 10, max_new_tokens: 64}\n"
    offered = replace(OFFER, training={**(OFFER.training or {}), "max_completion_length": LONG})
    [said] = [one for one in view.describe_text(text, offered)["problems"] if one["level"] == BLOCKING]
    rename, remove = said["fixes"]
    assert rename["settings"] == {"training.max_completion_length": 64}
    assert remove["label"] == "Remove it, and use 256 as max_completion_length"
    assert remove["settings"] == {"training.max_completion_length": 256}
    assert remove["removed"] == ["training.max_new_tokens"]


def test_what_would_follow_from_the_starter_is_not_said_while_a_model_is_to_be_chosen(registry_home: Path) -> None:
    models.install_starter()
    text = HEAD + "model: {id: null}\ntraining: {max_steps: 10}\n"
    offered = replace(OFFER, training={**(OFFER.training or {}), "max_completion_length": LONG})
    seen = view.describe_text(text, offered)["problems"]
    assert [one["field"] for one in seen if one["level"] == BLOCKING] == ["model.id"]


@pytest.mark.parametrize(
    ("typed", "meant", "package"),
    [("use_liger_loss", "use_liger_kernel", "liger_kernel"), ("use_vllmm", "use_vllm", "vllm")],
)
def test_a_package_that_the_setting_needs_which_is_meant_is_named_with_it(
    typed: str, meant: str, package: str, own_home: Path
) -> None:
    """It was a second problem of the same line."""
    fields = {**(OFFER.training or {}), meant: {"types": ["bool"], "default": False}}
    text = HEAD + f"training: {{{typed}: true}}\n"
    for extras, needs in (({"wandb": "1"}, True), ({package: "1"}, False)):
        seen = view.describe_text(text, replace(OFFER, training=fields, extras=extras))["problems"]
        [said] = [one for one in seen if one["level"] == BLOCKING]
        pip = package.replace("_", "-")
        words = f" It needs {package}, which is not installed here: pip install {pip}"
        assert said["field"] == f"training.{typed}" and said["message"].endswith(words) == needs
        assert said["fixes"][0]["settings"] == {f"training.{meant}": True}


@pytest.mark.parametrize(
    ("slip", "words"),
    [
        ("model: {dtyp: float32}\ntraining: {learning_rate: 0.01}\n", "0.01 is far too high for training all"),
        ("model: {dtype: float33}\ntraining: {learning_rate: 0.01}\n", "0.01 is far too high for training all"),
        ("training: {lr: 0.01}\n", "Once “lr” is fixed: 0.01 is far too high for training all"),
        ("training: {learning_rate: 0.01, lora_r: 8}\n", "Once “lora_r” is fixed: 0.01 is far too high with LoRA"),
        ("model: {id: [starter, b]}\ntraining: {learning_rate: 0.01}\n", ""),  # nobody knows for which model
        ("lora: 5\ntraining: {learning_rate: 0.01}\n", ""),
    ],
)
def test_a_warning_of_what_is_written_waits_for_no_click(slip: str, words: str, own_home: Path) -> None:
    seen = view.describe_text(HEAD + slip, OFFER, None, {"script", "preflight"})
    said = [one["message"] for one in seen["problems"] if one["level"] == WARNING]
    assert len(said) == bool(words) and all(one.startswith(words) for one in said)


def test_beside_a_setting_given_twice_a_warning_of_what_is_misspelt_is_told(own_home: Path) -> None:
    slip = "training: {lr: 0.01, max_steps: 5, max_steps: 6}\n"
    seen = view.describe_text(HEAD + slip, OFFER, None, {"script", "preflight"})["unreadable"]["problems"]
    said = [one["message"] for one in seen if one["level"] == WARNING]
    assert len(said) == 1 and said[0].startswith("Once “lr” is fixed: 0.01 is far too high for training all")


def test_each_of_many_slips_has_its_buttons_beside_a_setting_given_twice(own_home: Path) -> None:
    """From the fortieth button on there was none: half of a list of fifty problems had no click."""
    slips = "".join(f"  odd_name_{n}: {n}\n" for n in range(45)) + "  max_step: 7\n"
    text = f"{HEAD}training:\n  beta: 0.02\n  beta: 0.03\n{slips}"
    problems = view.describe_text(text, OFFER, None, {"script", "preflight"})["unreadable"]["problems"]
    assert len(problems) == 47 and all(one["fixes"] for one in problems)
    assert [fix["label"] for fix in problems[-1]["fixes"]] == ["Rename it to max_steps", "Remove it"]


def test_what_waits_for_a_setting_elsewhere_names_that_one_of_several(own_home: Path) -> None:
    text = HEAD + "training: {learning_rate: 0.01, max_steps: '10', lora_r: 8}\n"
    seen = view.describe_text(text, OFFER, None, {"script", "preflight"})
    said = [one["message"] for one in seen["problems"] if "far too high" in one["message"]]
    assert len(said) == 1 and said[0].startswith("Once “lora_r” is fixed: 0.01 is far too high with LoRA"), said


@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        ("name: a\nrewards: [correctness, fromat]\n", "rewards.1.name", "there is no reward function “fromat”."),
        (HEAD + "nam: x\nstages:\n- name: b\n  beta: -1\n", "stages.0.beta",
         "belongs under training. It should be at least 0."),
        (HEAD + "training:\n  learning_rate: 1e-4\n  learning_rate: fast\n", "training.learning_rate",
         "should be a number, not “fast”."),
        (HEAD + "training: {learning_rate: fast, learning_rate: 1e-4}\n", "training.learning_rate",
         "should be a number, not “fast”."),
    ],
)  # fmt: skip
def test_what_is_wrong_whatever_else_is_set_waits_for_nothing(
    text: str, field: str, words: str, own_home: Path
) -> None:
    told = [said for at, _, said in said_of(text) if at == field]
    assert any(said.startswith(words) for said in told) and not any(THEN in said for said in told), told


@pytest.mark.parametrize("name", ["''", "null", "5"])
def test_a_rate_does_not_wait_for_the_name_of_the_run(name: str, own_home: Path) -> None:
    text = f"name: {name}\nmodel: {{id: ./nosuch}}\nrewards:\n- name: format\ntraining: {{learning_rate: 0.0001}}\n"
    seen = view.describe_text(text, OFFER, None, {"script", "preflight"})["problems"]
    assert [one["field"] for one in seen if one["level"] != ADVICE] == ["name", "model.id"]
    text = text.replace("./nosuch", "5")
    seen = view.describe_text(text, OFFER, None, {"script", "preflight"})["problems"]
    [rate] = [one["message"] for one in seen if one["field"] == "training.learning_rate"]
    assert rate.startswith("Once “model.id” is fixed: 0.0001 is far too high")


def test_nothing_is_said_of_a_number_that_nobody_wrote(own_home: Path) -> None:
    """A button that sets another number than what is written makes no doubt: its value was not typed."""
    seen = said_later.say_what_follows(
        [Problem("rewards.0.parameters.low", "is too high.", fixes=(Fix("Use 64", {"rewards.0.parameters.low": 64}),))],
        {"rewards": [{"name": "length", "parameters": {"low": 900, "high": 5}}]}, {"rewards.0.name": 1},
        lambda raw: [Problem("rewards.0.name", "up to 64 tokens all earn the same", level=WARNING)], {},
    )  # fmt: skip
    assert [one.message for one in seen] == ["is too high."]


def test_adapt_under_training_is_told_where_it_belongs(own_home: Path) -> None:
    [(_, _, words)] = said_of(HEAD + "training: {beta: 0.1, adapt: {target: 0.1}}\n")
    no_such = "TRL's GRPOConfig has no such field. Under kl, beta follows a target KL"
    assert words == f"{no_such}: “kl: {{target: 0.1}}” at the left edge."
    text = HEAD + "training:\n  beta: 0.1\n  adapt: {target: 0.1}\n"
    after = clicked(text, "training.adapt", "Write it as “kl: {target: 0.1}”")
    assert (yaml_edit.load(after) or {})["kl"] == {"target": 0.1} and said_of(after) == []
    [(_, _, words)] = said_of(HEAD + "training: {adapt: {low: 0.1}}\n")
    assert words == f"{no_such}: “kl: {{target: 0.05}}” at the left edge. Under a reward, “adapt” changes its weight."
    [(_, _, words)] = said_of(HEAD + "training: {beta: 0.1, adapt: {target: 0.1}}\nkl: {target: 0.2}\n")
    assert words == f"{no_such}, and kl is set already."


@pytest.mark.parametrize("name", ["steps", "num_steps", "total_steps", "training_steps"])
def test_the_number_of_steps_at_the_left_edge_is_one_problem_with_a_button_that_moves_it(
    name: str, own_home: Path
) -> None:
    text = HEAD + f"{name}: 30\n"
    assert said_of(text) == [(name, 4, "belongs under training as max_steps.")]
    assert labels_of(text, name) == ["Move it under training as max_steps", "Remove it"]
    after = yaml_edit.load(clicked(text, name, "Move it under training as max_steps")) or {}
    assert after["training"] == {"max_steps": 30} and name not in after
    both = text + "training: {max_steps: 5}\n"
    assert said_of(both) == [(name, 4, "belongs under training, where max_steps is set already.")]
    assert labels_of(both, name) == ["Remove it"]


# What people write at the left edge or under training, and what is meant by it; "": nothing that there is.
NAMES_OF_OTHERS = [
    ("steps", 30, "max_steps"), ("num_steps", 30, "max_steps"), ("max_step", 30, "max_steps"),
    ("train_steps", 30, "max_steps"), ("epochs", 3, "num_train_epochs"), ("num_epochs", 3, "num_train_epochs"),
    ("batch_size", 8, "per_device_train_batch_size"), ("lr", 1e-5, "learning_rate"),
    ("learn_rate", 1e-5, "learning_rate"),
    ("generations", 8, "num_generations"), ("num_generation", 8, "num_generations"),
    ("group_size", 8, "num_generations"),
    ("max_tokens", 64, "max_completion_length"), ("max_new_tokens", 64, "max_completion_length"),
    ("temp", 0.9, "temperature"), ("grad_accum", 4, "gradient_accumulation_steps"), ("warmup", 5, "warmup_steps"),
    ("optimizer", "adafactor", "optim"), ("scheduler", "cosine", "lr_scheduler_type"), ("loss", "grpo", "loss_type"),
    ("iterations", 30, ""), ("iters", 30, ""), ("context_length", 512, ""), ("samples", 40, ""), ("stage", 2, ""),
    ("type", "grpo", ""), ("launcher", "accelerate", ""), ("reward_weight", 0.5, ""), ("learning_ratt", "fast", ""),
    ("patience", 3, ""), ("device", "cuda", ""), ("batch", 8, ""),
]  # fmt: skip


@pytest.mark.parametrize("under", ["", "training"])
@pytest.mark.parametrize(("name", "value", "meant"), NAMES_OF_OTHERS)
def test_a_name_of_others_is_told_its_place_or_nothing_wrong_is_offered(
    name: str, value: object, meant: str, under: str, registry_home: Path
) -> None:
    offer.publish_installed()
    line = f"{name}: {value}"
    text = f"{HEAD}model: {{id: starter}}\n" + (f"{under}:\n  {line}\n" if under else f"{line}\n")
    [problem] = [one for one in launch.check_text(text).problems if one.level == BLOCKING and one.field != "model.id"]
    offered = [path for fix in problem.fixes for path in fix.settings]
    assert offered == ([f"training.{meant}"] if meant else []), problem
    assert problem.fixes[-1].label == "Remove it"


def test_a_name_is_read_by_its_value_where_that_fits_and_by_its_letters_always(own_home: Path) -> None:
    assert labels_of(HEAD + "stags: [{training: {beta: 0.1}}]\n", "stags")[0] == "Rename it to stages"
    assert labels_of(HEAD + "steps: [{training: {beta: 0.1}}]\n", "steps")[0] == "Rename it to stages"
    assert labels_of(HEAD + "stages_: 3\n", "stages_")[0] == "Rename it to stages"


@pytest.mark.parametrize("pattern", [{}, {"answer_pattern": "x"}])
def test_a_column_to_be_chosen_is_not_asked_for_at_the_pattern_too(pattern: dict[str, str], own_home: Path) -> None:
    data = {"source": "task:arithmetic", **pattern}
    raw = {"name": "a", "model": {"id": "starter"}, "data": data, "rewards": [{"name": "correctness"}]}
    none = Fix("There is no answer", {"data.answer_column": None}, ("data.answer_pattern",))
    asked = Problem("data.answer_column", "choose the column with the right answers.", 3, fixes=(none,))
    told = launch.say_all_at_once([asked], raw, {"data.source": 3}, OFFER)
    assert [one for one in told if one.field.startswith("data.answer")] == [asked]


@pytest.mark.parametrize("text", ["", "\n", "# later\n", "---\n"])
def test_of_an_empty_spec_it_is_said_that_it_is_empty(text: str, own_home: Path) -> None:
    assert said_of(text) == [("", 1, "The spec is empty. Begin with “name: my-run”.")]
    assert said_of("- a\n") == [("", 1, "A spec is a mapping of settings, such as “name: my-run”.")]
