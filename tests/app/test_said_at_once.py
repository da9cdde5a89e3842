"""What is wrong in one place keeps nothing back that is wrong in another, and is said where it is typed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import edits, launch, left_out, new_run, view, yaml_edit
from groupwise.storage.registry import questions, registry
from groupwise.storage.registry.messages.problem import messages_of
from groupwise.storage.spec.words.problem import BLOCKING, Problem
from groupwise.storage.spec.yaml.wide_colons import LABEL, WIDE
from tests.app.test_left_out import OFFER
from tests.conftest import Groupwise
from tests.support import offer
from tests.support.launching import write

HEAD = "name: a\nrewards:\n- name: format\n"


def said_of(text: str) -> list[tuple[str, int, str]]:
    """What keeps a text from being launched: field, line, message."""
    seen = view.describe_text(text, OFFER, None, {"script", "preflight"})
    listed = seen["problems"] if "problems" in seen else seen["unreadable"]["problems"]
    return [(one["field"], one["line"], one["message"]) for one in listed if one["level"] == BLOCKING]


def labels_of(text: str, field: str) -> list[str]:
    """The buttons beside what is said of a field."""
    seen = view.describe_text(text, OFFER, None, {"script", "preflight"})
    listed = seen["problems"] if "problems" in seen else seen["unreadable"]["problems"]
    return [fix["label"] for one in listed if one["field"] == field for fix in one["fixes"]]


def clicked(text: str, field: str, label: str) -> str:
    """The text once a button is clicked."""
    seen = view.describe_text(text, OFFER, None, {"script", "preflight"})
    listed = seen["problems"] if "problems" in seen else seen["unreadable"]["problems"]
    [fix] = [fix for one in listed if one["field"] == field for fix in one["fixes"] if fix["label"] == label]
    return edits.apply(edits.cut_out(text, [{"fix": fix}]), edits.of_fix(fix))


MISSPELT = """\
name: a
Rewards:
- nam: format
- {name: nosuch}
- 5
Data: {filter: [5, foo, "answer > 3"], Limit: x}
args: {beta: x, num_generation: 4}
stage:
- traning: {max_stepss: 5}
"""


def test_what_is_wrong_in_a_part_of_a_misspelt_name_is_said_with_the_name(own_home: Path) -> None:
    assert [(field, line) for field, line, _ in said_of(MISSPELT)] == [
        ("Rewards", 2), ("Rewards.0.nam", 3), ("Rewards.1.name", 4), ("Rewards.2", 5), ("Data", 6),
        ("Data.filter.0", 6), ("Data.Limit", 6), ("Data.Limit", 6), ("Data.filter.1", 6), ("args", 7), ("args.beta", 7),
        ("args.num_generation", 7), ("stage", 8), ("stage.0.traning", 9), ("stage.0.traning.max_stepss", 9),
    ]  # fmt: skip
    once = clicked(MISSPELT, "Data.filter.1", "Remove it")
    assert once == MISSPELT.replace(" foo,", "")
    assert clicked(once, "args.num_generation", "Rename it to num_generations") == once.replace(
        "generation:", "generations:"
    )


def test_of_two_names_that_mean_the_same_all_is_said(own_home: Path) -> None:
    said = said_of(HEAD + "Data: {limit: x}\ndatas: {limit: y}\n")
    assert [field for field, _, _ in said] == ["Data", "Data.limit", "datas", "datas.limit"]


@pytest.mark.usefixtures("no_worker")
def test_what_the_worker_says_of_a_misspelt_part_is_placed_in_it(registry_home: Path) -> None:
    text = HEAD + "Data: {filter: [5, 'answer > 3', 'foo = 1']}\n"
    asked = new_run.ask_worker({"kind": "preview", "text": text, "topic": "page"})
    said = messages_of([Problem("data.filter.1", "there is no column “foo”.")])
    questions.answer_question(asked["question"], offer.PREVIEWED.model_copy(update={"problems": said}))
    [one] = new_run.read_answer(asked)["answer"]["problems"]
    assert one["field"] == "Data.filter.2"
    for renamed in (5, {"Data": 5}, None):
        assert left_out.read_left_out(asked["left_out"] | {"renamed": renamed}).renamed == {}
    right = text.replace("Data", "data")
    keys, other = (view.describe_text(each, OFFER)["keys"] for each in (text, right))
    assert keys["preview"] != other["preview"]


def test_launch_says_all_of_a_misspelt_part_too(groupwise: Groupwise, registry_home: Path, no_worker: None,
                                                tmp_path: Path) -> None:  # fmt: skip
    offer.publish()
    path = write(tmp_path, MISSPELT)
    with offer.answering():
        said = groupwise("launch", str(path)).stderr.splitlines()
    places = [line.removeprefix(f"{path}:").split(": ")[:2] for line in said if line.startswith(str(path))]
    assert [place for place in places if place[1] not in ("advice", "warning")] == [
        [str(line), field] for field, line, _ in said_of(MISSPELT)
    ]
    assert registry.list_runs() == []


STAGED = "stages:\n- training: {beta: 0.1}\n- training: {max_steps: 5}\n"


@pytest.mark.parametrize("setting", ["bet: 0.02", "beta: x", "beta: -1"])
def test_a_wrong_setting_of_a_run_with_stages_is_said_once_where_it_is_typed(setting: str, own_home: Path) -> None:
    [(field, line, _)] = said_of(HEAD + f"training:\n  {setting}\n{STAGED}")
    assert (field, line) == (f"training.{setting.partition(':')[0]}", 5)


def test_of_a_stage_what_it_says_itself_stays_its_own(own_home: Path) -> None:
    text = HEAD + "training:\n  beta: x\nstages:\n- training: {beta: y}\n- training: {max_steps: 5}\n"
    assert [field for field, _, _ in said_of(text)] == ["training.beta", "stages.0.training.beta"]


def test_a_quotation_mark_that_a_later_one_closes_loses_no_setting(own_home: Path) -> None:
    text = HEAD + "  weight: 'much # mine\n- name: correctness\ntraining: # so\n  loss_type: '#'\n  beta: x\n"
    said = said_of(text)
    assert [(field, line) for field, line, _ in said] == [
        ("rewards.0.weight", 4), ("rewards.0.weight", 4), ("training.loss_type", 7), ("training.beta", 8),
    ]  # fmt: skip
    assert said[0][2] == "the quotation mark in this line is not closed before line 7: YAML reads all between as text."
    assert labels_of(text, "rewards.0.weight") == ["Close the quotation mark: 'much'"]
    after = clicked(text, "rewards.0.weight", "Close the quotation mark: 'much'")
    assert after == text.replace("'much #", "'much' #")


def test_a_text_that_goes_on_indented_is_a_text(own_home: Path) -> None:
    text = HEAD + "data:\n  system_prompt: 'Answer as\n    name: value\n\n    and no more'\n"
    assert said_of(text) == []


def test_a_bracket_left_open_lines_above_is_closed_where_it_is_opened(own_home: Path) -> None:
    text = HEAD + "data:\n  filter: [ # mine\n  limit: x\nlaunch:\n  processes: y\n"
    assert [(field, line) for field, line, _ in said_of(text)] == [("", 5), ("data.limit", 6), ("launch.processes", 8)]
    after = clicked(text, "", "Close it with ]")
    assert after == text.replace("[ # mine", "[] # mine")


@pytest.mark.parametrize("value", ["`x`", "@x", "-", "%5", "*x"])
def test_signs_that_mean_something_in_yaml_are_found_before_a_comment_too(value: str, own_home: Path) -> None:
    text = HEAD + f"training:\n  beta: {value} # mine\n  max_steps: y\n"
    assert [(field, line) for field, line, _ in said_of(text)][-1] == ("training.max_steps", 6)
    assert clicked(text, "", "Put it in quotes") == text.replace(f" {value} ", f' "{value}" ')


def test_a_bare_word_among_settings_goes_by_itself(own_home: Path) -> None:
    text = HEAD + "data:\n  foo # mine\n  limit: x\n"
    assert [(field, line) for field, line, _ in said_of(text)] == [("", 5), ("data.limit", 6)]
    assert clicked(text, "", "Remove “foo”") == text.replace("foo #", "#")


def test_a_sign_without_width_behind_a_dash_is_all_that_is_said(own_home: Path) -> None:
    text = HEAD + "data:\n  examples:\n  - \u200bprompt: a\n    completion: b\n"
    [(_, line, _)] = said_of(text)
    assert line == 6
    assert clicked(text, "", "Write ordinary spaces") == text.replace("\u200b", "")


def test_a_button_that_is_offered_beside_another_slip_does_something(own_home: Path) -> None:
    text = HEAD + "training:\n  max_steps = 5\n  max_steps: 60\n"
    assert labels_of(text, "training.max_steps") == ["Keep the first (line 5: 5)"]


@pytest.mark.parametrize(
    ("setting", "message", "labels"),
    [
        ("foo: 5", "“length” has no parameter “foo”. It has low.", ["Remove it"]),
        ("Low: 5", "“length” takes “low”, which belongs under parameters.",
         ["Move it under parameters as low", "Remove it"]),
        ("low: 5", "there is no such field. What a function takes belongs under parameters.",
         ["Move it under parameters", "Remove it"]),
        ("num_generation: 4", "there is no such field. Did you mean “num_generations”? It belongs under training.",
         ["Move it under training as num_generations", "Remove it"]),
        ("5: 6", "the name of a setting is a word, not 5.", ["Remove it"]),
    ],
)  # fmt: skip
def test_a_setting_of_a_function_is_moved_only_where_it_is_taken(
    setting: str, message: str, labels: list[str], own_home: Path
) -> None:
    text = f"name: a\nrewards:\n- name: length\n  {setting}\n"
    [(field, line, words)] = said_of(text)
    assert (line, words) == (4, message)
    assert labels_of(text, field) == labels


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD + "lora: {r: 8, trust_remote_code: true}\n",
         ("lora.trust_remote_code", 4, "cannot be set here: code from a model's repository is never run.")),
        (HEAD + "data: {source: 'é\u200b'}\n",
         ("data.source", 4, "should be task:NAME (built in), gym:NAME (reasoning-gym), file:NAME (in the home's data "
          "folder) or hub:ORG/NAME.")),
        (HEAD + "model:\n  true: 5\n", ("model.True", 5, "the name of a setting is a word, not true.")),
        (HEAD + "lora:\n  : 5\n", ("lora.None", 5, "the name of a setting is a word, not null.")),
    ],
)  # fmt: skip
def test_what_is_said_is_true_once_it_is_followed(text: str, said: Any, own_home: Path) -> None:
    assert said_of(text) == [said]


def test_beside_a_slip_a_number_is_said_as_it_is_written(own_home: Path) -> None:
    said = said_of(HEAD + "data:\n  source: 0x1F\n  limit: 5\n  limit: 5\n")
    assert ("data.source", 5, "should be text, not 0x1F.") in said


def test_of_a_length_whose_settings_are_misspelt_nothing_is_advised(own_home: Path) -> None:
    text = "name: a\nrewards:\n- name: length\n  Parameters: {low: 3}\ntraining: {max_completion_length: 48}\n"
    seen = view.describe_text(text, OFFER, None, {"script", "preflight"})
    assert [one["field"] for one in seen["problems"] if one["field"].startswith("rewards")] == ["rewards.0.Parameters"]


@pytest.mark.parametrize("written", ["'1e-5 '", "' 1e-5'", "'1e-5'"])
def test_of_a_number_in_quotes_spaces_are_no_part(written: str, own_home: Path) -> None:
    text = HEAD + f"training:\n  learning_rate: {written}\n"
    assert labels_of(text, "training.learning_rate")[0] == "Use 1e-5"
    assert clicked(text, "training.learning_rate", "Use 1e-5").endswith("  learning_rate: 1.0e-05\n")


@pytest.mark.parametrize("quotes", ["'", '"'])
def test_a_sign_that_nobody_sees_goes_by_itself(quotes: str, own_home: Path) -> None:
    text = HEAD.replace("a\n", f"{quotes}a\u202eb {quotes} # mine\n", 1)
    seen = view.describe_text(text, OFFER, None, {"script", "preflight"})
    [fix] = [fix for one in seen["problems"] if one["field"] == "name" for fix in one["fixes"]]
    assert edits.apply(text, edits.of_fix(fix)) == text.replace("\u202e", "")


@pytest.mark.parametrize(("extras", "labels"), [(["trackio"], ["Remove it"]), (["wandb"], ["Use wandb", "Remove it"])])
def test_a_tracker_is_offered_where_it_can_be_used(extras: list[str], labels: list[str], own_home: Path) -> None:
    offered = replace(OFFER, training=OFFER.training | {"report_to": {"types": ["str", "list"]}}, extras=extras)
    [problem] = launch.check_text(HEAD + "training:\n  report_to: wandbb\n", offered).problems
    assert [fix.label for fix in problem.fixes] == labels
    assert ("It is not installed here: pip install 'groupwise[wandb]'" in problem.message) == (extras == ["trackio"])


@pytest.mark.parametrize(
    ("setting", "field", "label", "written"),
    [
        ("data: {filter: answer > 3}", "data.filter", "Write it as a list", "filter: [answer > 3]"),
        ("data: {columns: question}", "data.columns", "Write it as a list", "columns: [question]"),
        ("data: {answer_column: [answer]}", "data.answer_column", "Use answer", "answer_column: answer"),
        ("data: {limit: [5]}", "data.limit", "Use 5", "limit: 5"),
        ("training: {beta: [0.02]}", "training.beta", "Use 0.02", "beta: 0.02"),
        ("training: {max_steps: ['5']}", "training.max_steps", "Use 5", "max_steps: 5"),
        ("training: {loss_type: [dapo]}", "training.loss_type", "Use dapo", "loss_type: dapo"),
    ],
)  # fmt: skip
def test_a_value_is_put_into_a_list_or_taken_out_of_it(
    setting: str, field: str, label: str, written: str, own_home: Path
) -> None:
    text = HEAD + setting + "\n"
    assert labels_of(text, field)[0] == label
    after = clicked(text, field, label)
    assert after == HEAD + f"{setting.partition('{')[0]}{{{written}}}\n"
    assert [one for one in said_of(after) if one[0] == field] == []


def test_points_of_a_schedule_stand_in_a_list(own_home: Path) -> None:
    text = HEAD + "  schedule: {step: 0}\n"
    assert labels_of(text, "rewards.0.schedule")[0] == "Write it as a list"
    after = yaml_edit.load(clicked(text, "rewards.0.schedule", "Write it as a list")) or {}
    assert after["rewards"][0]["schedule"] == [{"step": 0}]


def test_beside_a_full_width_colon_all_else_is_said(own_home: Path) -> None:
    text = HEAD + "training:\n  beta：x\n  ma\u200bx_steps: 5\n"
    said = said_of(text)
    assert [line for _, line, _ in said] == [5, 5, 6] and "Did you mean “max_steps”?" in said[2][2]
    assert said[0][2].endswith(WIDE)
    assert clicked(text, "", LABEL) == text.replace("beta：", "beta: ")


@pytest.mark.parametrize("opening", ["|\n    ", "\n    ", "'a\n    "])
def test_a_full_width_colon_in_a_text_is_its_own(opening: str, own_home: Path) -> None:
    end = "'" if "'" in opening else ""
    assert said_of(HEAD + f"data:\n  system_prompt: {opening}Answer：x{end}\n") == []
    [(_, line, _)] = said_of(HEAD + f"data:\n  system_prompt: {opening}Answer：x{end}\n  limit = 5\n")
    assert line == 7


def test_a_text_of_full_width_colons_alone_is_put_right(own_home: Path) -> None:
    text = "name：a\nrewards：\n- name：format\n"
    for label in (LABEL, f"{LABEL} in 2 lines"):
        text = clicked(text, said_of(text)[0][0], label)
    assert text == HEAD
    [(_, _, words)] = said_of(HEAD + "training: beta：0.1\n")
    assert words.endswith("The colon is a full-width one: write “beta: 0.1”.")


def test_what_is_wrong_in_a_part_with_a_letter_before_its_name_is_said_with_it(own_home: Path) -> None:
    text = HEAD + "x_data: {limit: x, foo: 5}\nx_stages:\n- trainin: {bet: 5}\n"
    assert [(field, line) for field, line, _ in said_of(text)] == [
        ("x_data", 4), ("x_data.limit", 4), ("x_data.foo", 4), ("x_stages", 5), ("x_stages.0.trainin", 6),
        ("x_stages.0.trainin.bet", 6),
    ]  # fmt: skip
    assert labels_of(text, "x_data")[0] == "Rename it to data"
