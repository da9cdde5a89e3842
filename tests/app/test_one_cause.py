"""One slip in a spec's text is one problem, said of what is written: nothing is made up about what is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from groupwise.app.pages.new import edits, launch, new_run
from groupwise.storage.home import paths
from groupwise.storage.spec.words.problem import Problem
from groupwise.storage.spec.yaml.yaml_text import COLON, INDENTATION, TAB
from groupwise.worker.builtin import models
from tests.support import offer

HEAD = "name: a\nrewards: [{name: format}]\n"


@pytest.fixture(autouse=True)
def offered(registry_home: Path, no_worker: None) -> None:
    """What the installed libraries offer, and the starter, which reads 512 tokens."""
    offer.publish_installed()
    models.install_starter()


REMOVED = "Remove it, and use 256 as max_completion_length"  # the starter reads no more than TRL's default


def said(text: str) -> list[tuple[str, int | None, str]]:
    return [(one.field, one.line, one.message) for one in launch.problems_of_text(text)]


def fixes_of(problem: Problem) -> list[str]:
    return [fix.label for fix in problem.fixes]


def first_fix(problem: Problem) -> list[edits.Edit]:
    """What a click on the first fix edits, as a page sends it."""
    return edits.of_fix(json.loads(json.dumps(problem.as_dict()))["fixes"][0])


def test_a_misspelt_setting_is_no_missing_one_and_its_value_is_kept_by_the_first_fix() -> None:
    text = f"{HEAD}training:\n  max_completion_lenght: 48  # as short as it goes\n  beta: 0.1\n"
    [problem] = launch.problems_of_text(text)
    assert problem.field == "training.max_completion_lenght"
    assert fixes_of(problem) == ["Rename it to max_completion_length", REMOVED]
    shown = [one["field"] for one in new_run.edit_settings({"text": text})["problems"] if one["level"] == "blocking"]
    assert shown == ["training.max_completion_lenght"]
    mended = edits.apply(text, first_fix(problem))
    assert launch.problems_of_text(mended) == []
    assert mended == text.replace("lenght", "length")  # in its place


def test_of_two_buttons_that_do_the_same_one_is_shown() -> None:
    [problem] = launch.problems_of_text(f"{HEAD}training: {{max_completion_lenght: 256}}\n")
    assert fixes_of(problem) == ["Rename it to max_completion_length"]


def test_of_a_misspelt_part_only_what_blocks_is_said_and_its_name_is_all_that_its_button_changes() -> None:
    text = "# mine\nname: a\nrewrds:  # these\n- name: correctness\n  weight: 1.0\nlora: {r: 8}\ntrainng:  # so\n"
    text += "  learning_rate: 1.0e-4\n  temperature: 1.0\n"
    said = json.loads(json.dumps(new_run.edit_settings({"text": text})))["problems"]
    assert [one["field"] for one in said] == ["rewrds", "trainng", "trainng.max_completion_length"]
    assert said[2]["level"] == "blocking"
    for problem in said[:2]:  # a browser sends 1 for 1.0
        edit = json.loads(json.dumps(problem["fixes"][0]).replace("1.0,", "1,").replace("1.0}", "1}"))
        text = new_run.edit_settings({"text": text, "edits": [{"fix": edit}]})["text"]
    assert text == (
        "# mine\nname: a\nrewards:  # these\n- name: correctness\n  weight: 1.0\nlora: {r: 8}\ntraining:  # so\n"
        "  learning_rate: 1.0e-4\n  temperature: 1.0\n"
    )


def test_a_misspelt_part_is_not_said_to_be_missing_as_well() -> None:
    [problem] = launch.problems_of_text("name: a\nrewads: [{name: format}]\ntraining: {max_completion_length: 64}\n")
    assert problem.field == "rewads" and fixes_of(problem)[0] == "Rename it to rewards"


@pytest.mark.parametrize(
    ("given", "labels", "joined"),
    [
        ("  epsilon: 0.2\n  beta: 0.1\n", ["Join them", "Remove it (3 settings)"],
         "  epsilon: 0.2\n  beta: 0.1\n  max_completion_length: 48\n  temperature: 1.0\n"),
        ("  beta: 0.5\n", ["Join them, with “beta: 0.5”", "Join them, with “beta: 0.1”", "Remove it (3 settings)"],
         "  beta: 0.5\n  max_completion_length: 48\n  temperature: 1.0\n"),
        ("  beta: 0.5\n  temperature: 2.0\n", ["Join them, with 2 settings as in training",
         "Join them, with 2 settings as in traning", "Remove it (3 settings)"],
         "  beta: 0.5\n  temperature: 2.0\n  max_completion_length: 48\n"),
    ],
)  # fmt: skip
def test_a_misspelt_part_beside_the_one_that_is_meant_is_joined_to_it(
    given: str, labels: list[str], joined: str
) -> None:
    text = f"{HEAD}traning:\n  max_completion_length: 48\n  beta: 0.1\n  temperature: 1.0\ntraining:\n{given}"
    view = json.loads(json.dumps(new_run.edit_settings({"text": text})))
    [problem] = [one for one in view["problems"] if one["level"] == "blocking"]
    assert (problem["field"], [fix["label"] for fix in problem["fixes"]]) == ("traning", labels)
    assert "training.max_completion_length" in view["answered"]  # so that the worker does not say that it is not set
    sent = json.loads(json.dumps(problem["fixes"][0]).replace("1.0}", "1}"))  # as a browser does
    after = new_run.edit_settings({"text": text, "edits": [{"fix": sent}]})
    assert after["text"] == f"{HEAD}training:\n{joined}"


def test_a_misspelt_list_of_rewards_beside_the_right_one_is_joined_to_it() -> None:
    text = "name: a\nrewads:\n- name: format\n- name: length\nrewards:\n- name: format\n"
    [problem] = [one for one in launch.problems_of_text(text) if one.field == "rewads"]
    assert fixes_of(problem) == ["Join them", "Remove it (2 entries)"]
    assert edits.apply(text, first_fix(problem)) == "name: a\nrewards:\n- name: format\n- name: length\n"


def test_max_length_is_offered_as_what_is_near_and_what_it_counts_elsewhere_is_said() -> None:
    text = f"{HEAD}training:\n  beta: 0.1\n  max_length: 48  # short\n"
    [problem] = launch.problems_of_text(text)
    assert problem.message == (
        "TRL's GRPOConfig has no such field. In SFT and DPO it counts prompt and completion together; "
        "max_completion_length counts the completion alone."
    )
    assert fixes_of(problem) == ["Use it as max_completion_length (48)", REMOVED]
    assert edits.apply(text, first_fix(problem)) == text.replace("max_length", "max_completion_length")
    [beside] = launch.problems_of_text(f"{text}  max_completion_length: 40\n")
    assert beside.message.endswith("counts the completion alone, and is set already.")
    assert fixes_of(beside) == ["Remove it"]


@pytest.mark.parametrize("text", ["name: {{{", "name: {{{\n", "name: {{{\n\n"])
def test_after_a_slip_of_the_yaml_nothing_is_said_of_what_is_not_there(text: str) -> None:
    assert said(text) == [("", 1, "This is not YAML: did not find expected node content")]


def test_after_a_refused_text_what_stands_there_is_judged_all_the_same() -> None:
    laughs = "a: &a [lol, lol]\nb: &b [*a, *a]\nc: [*b, *b]\ntraining: {max_steps: soon}\n"
    fields = [field for field, *_ in said(laughs)]
    assert sorted(fields)[:2] == ["", ""] and {"a", "b", "c", "training.max_steps"} <= set(fields)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("name: a: b\n", 1, COLON), ("a:\n  b: 1\n c: 2\n", 3, INDENTATION), ("a:\n  b: 1\n   c: 2\n", 3, INDENTATION),
        ("a:\n\tb: 1\n", 2, TAB),
    ],
)  # fmt: skip
def test_the_commonest_slips_say_what_to_do(text: str, line: int, words: str) -> None:
    assert ("", line, f"This is not YAML: {words}") in said(text)


def test_a_bare_name_in_a_list_of_rewards_becomes_its_entry() -> None:
    text = "name: a\nrewards:\n- format\ntraining: {max_completion_length: 64}\n"
    [problem] = launch.problems_of_text(text)
    assert (problem.field, problem.line) == ("rewards.0", 3)
    assert fixes_of(problem) == ["Write it as “- name: format”", "Remove this entry"]
    mended = edits.apply(text, first_fix(problem))
    assert launch.problems_of_text(mended) == [] and "name: format" in mended


def test_a_field_given_twice_says_what_to_do() -> None:
    assert said("name: a\nname: b\n")[0] == ("name", 2, "given twice (first in line 1): remove one of the two.")


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        (f"{HEAD}model: {{torch_dtype: float32}}\n", "dtype"),
        ("name: a\nrewards: [{name: format, param: {}}]\n", "parameters"),
        (f"{HEAD}training: {{epsilon_hi: 0.28}}\n", "epsilon_high"),
        (f"{HEAD}trainng: {{max_steps: 3}}\n", "training"),
    ],
)
def test_names_that_are_shortened_or_another_librarys_are_renamed_by_a_click(text: str, renamed: str) -> None:
    labels = [label for problem in launch.problems_of_text(text) for label in fixes_of(problem)]
    assert f"Rename it to {renamed}" in labels


def test_one_completion_is_one() -> None:
    text = f"{HEAD}training: {{num_generations: 2, per_device_train_batch_size: 1, max_completion_length: 64}}\n"
    assert "each generation makes 1 completion (1 a device)" in said(text)[0][2]


def test_what_cannot_be_read_is_not_said_to_be_missing() -> None:
    training = "training: {max_completion_length: 64, eval_on_start: true"
    text = f"{HEAD}data: {{holdout: 10 %}}\n{training}, eval_strategy: steps}}\n"
    [problem] = launch.problems_of_text(text)
    assert problem.field == "data.holdout" and fixes_of(problem) == ["Use 0.1", "Use the default (0)"]
    [problem] = launch.problems_of_text(f"{HEAD}{training}}}\n")
    assert (problem.field, fixes_of(problem)) == ("training.eval_on_start", ["Hold out 64 rows", "Do not evaluate"])


def of_name(text: str) -> list[tuple[str, int | None, str]]:
    return [(one.field, one.line, one.message) for one in launch.check_text(text).problems if one.field == "name"]


@pytest.mark.parametrize(
    ("typed", "words", "after"),
    [
        ("\u200b\u200b", "A run needs a name: this one has no visible character.", "name: my-run"),
        ("a\nb", "has several lines: lists and charts show one.", "name: a b"),
        ("a\x07b", "has a control character, which cannot be seen. Remove it.", 'name: "ab"'),
        ("\x1b\u2060", "A run needs a name: this one has no visible character.", 'name: "my-run"'),
        ("a\u202egpj\u200bx", "has characters that cannot be seen: U+202E and zero-width space. "
         "Two names that look alike would be different.", "name: agpjx"),
        ("a\u200d b", "has a character that cannot be seen: zero-width joiner. "
         "Two names that look alike would be different.", "name: a b"),
        ("naïve 名前 ❤️‍🔥 می‌خواهم", "", ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("more", ["", "stages: [{}, {training: {beta: 0.1}}]\n"], ids=["one go", "stages"])
def test_a_name_of_which_nothing_is_seen_is_none_in_the_form_and_in_yaml(
    typed: str, words: str, after: str, more: str
) -> None:
    view = new_run.edit_settings({"text": HEAD + more, "edits": [{"path": "name", "typed": typed}]})
    assert of_name(view["text"]) == ([("name", 1, words)] if words else [])
    if after:
        [problem] = [one for one in view["problems"] if one["field"] == "name"]
        fixed = new_run.edit_settings({"text": view["text"], "edits": [{"fix": problem["fixes"][0]}]})["text"]
        assert fixed == (HEAD + more).replace("name: a", after, 1) and of_name(fixed) == []


def test_a_blank_name_in_yaml_is_none() -> None:
    assert of_name(HEAD.replace("name: a", "name: ' '", 1)) == [("name", 1, "A run needs a name.")]


@pytest.mark.parametrize(
    ("more", "line", "words"),
    [
        ("", 5, "“data.system_prompt” has 977 KB: a spec has at most 256 KB in all."),
        ("data:\n  system_prompt: |\n    a: b\n    " + "x" * 400_000 + "\n  split: train\n", 4,
         "“data.system_prompt” has 391 KB: a spec has at most 256 KB in all."),
        ("stages:\n- name: " + "é" * 200_000 + "\n", 4, "“stages.name” has 391 KB: a spec has at most 256 KB in all."),
        ("description: " + "x" * 300_000 + "\n", 3, "“description” has 293 KB: a spec has at most 256 KB in all."),
        ("# x\n" * 100_000, None, "The spec is larger than 256 KB."),
    ],
    ids=["form", "block", "list", "unknown", "comments"],
)  # fmt: skip
def test_a_text_that_is_too_large_cannot_be_read_and_its_setting_is_named_with_its_line(
    more: str, line: int | None, words: str
) -> None:
    """So the page keeps what it knew of the text before apart from this one, and nothing is launched."""
    typed = [] if more else [{"path": "data.system_prompt", "typed": "x" * 1_000_000}]
    text = more if more.startswith("#") else HEAD + more
    for view in (seen := new_run.edit_settings({"text": text, "edits": typed})), new_run.edit_settings(seen):
        [problem] = view["unreadable"]["problems"]
        assert (problem["message"], problem["line"], problem["level"]) == (words, line, "blocking")
        assert "sentence" not in view and view["text"] == seen["text"]


@pytest.mark.parametrize("model", ["null", "../../etc", "no such/model", "/no/such/folder"])
@pytest.mark.parametrize("place", ["training: {%s}", "stages: [{name: a, training: {%s}}]"], ids=["one go", "stages"])
def test_no_rate_is_called_unusual_while_the_model_is_refused(model: str, place: str) -> None:
    """The fix would have written over the rate that suits the model that was meant."""
    text = f"{HEAD}model: {{id: {model}}}\n{place % 'learning_rate: 0.0001'}\n"
    fields = [one["field"] for one in new_run.edit_settings({"text": text, "edits": []})["problems"]]
    assert "model.id" in fields and not [one for one in fields if "learning_rate" in one]
    sound = new_run.edit_settings({"text": text.replace(model, "org/name-7B"), "edits": []})["problems"]
    assert [one["field"] for one in sound if "learning_rate" in one["field"]]


@pytest.mark.parametrize("more", ["", "stages: [{}, {training: {beta: 0.1}}]\n"], ids=["one go", "stages"])
def test_while_data_cannot_be_read_nothing_is_said_of_its_columns(more: str) -> None:
    """The fix took the reward for a mapping that was of other data."""
    paths.data_file("odd.csv").write_text("x")
    text = "name: a\nrewards: [{name: correctness}]\ndata: {source: 'file:odd.csv', answer_column: null}\n" + more
    text += "training: {max_completion_length: 64}\n"
    asked = {"text": text, "edits": []}
    view = new_run.edit_settings(asked)
    assert [one["field"] for one in view["problems"] if one["level"] == "blocking"] == ["data.answer_column"]
    known = {"source": view["keys"]["source"], "unreadable": True}
    unread = new_run.edit_settings({**asked, "known": known})
    assert [one for one in unread["problems"] if one["field"].startswith("data.")] == [] and not unread["blocked"]
    other = new_run.edit_settings({**asked, "text": text.replace("odd.csv", "more.csv"), "known": known})
    assert "data.answer_column" in [one["field"] for one in other["problems"]], "it is of the other file alone"
    assert launch.spec_and_problems(text, known)[1], "and nothing is launched for it"
