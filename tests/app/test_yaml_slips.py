"""Slips that people make in YAML: each is one problem, at its line, and its fix does what it says."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from groupwise.app.pages.new import edits, launch, view
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.words.trl_words import OWN_WEIGHTS
from groupwise.storage.spec.yaml import yaml_text
from groupwise.storage.spec.yaml.slips import read_past_slips

HEAD = "name: a\nrewards:\n- name: format\n"
FIELDS: dict[str, Any] = {
    "bf16": {"types": ["bool", "none"], "default": None}, "max_steps": {"types": ["int"], "default": -1},
    "gradient_checkpointing": {"types": ["bool"], "default": True}, "beta": {"types": ["float"], "default": 0.0},
    "learning_rate": {"types": ["float"], "default": 1e-6}, "save_steps": {"types": ["float"], "default": 500},
    "loss_type": {"types": ["str"], "default": "dapo", "choices": ["grpo", "dapo", "bnpo"]},
}  # fmt: skip
OFFER = Offer(FIELDS, {"r": {"types": ["int"], "default": 8}, "lora_alpha": {"types": ["int"], "default": 8},
                       "target_modules": {"types": ["str", "list"], "default": None}}, {"format": {}})  # fmt: skip


def problems(text: str) -> list[Any]:
    """What is said of a text, with the fields that this machine's TRL has."""
    return launch.check_text(text, OFFER).problems


@pytest.mark.parametrize(
    ("text", "line", "words", "label", "value"),
    [
        (HEAD + "training:\n  bf16: yes\n", 5, 'should be true or false, not “yes”. Did you mean true?', "Use true",
         ("training", {"bf16": True})),
        (HEAD + "training:\n  gradient_checkpointing: no\n", 5,
         'should be true or false, not “no”. Did you mean false?', "Use false",
         ("training", {"gradient_checkpointing": False})),
        (HEAD + "training:\n  max_steps: 60.0\n", 5, "should be a whole number, not 60.0.", "Use 60",
         ("training", {"max_steps": 60})),
        (HEAD + "training:\n  learning_rate: 1,5e-5\n", 5,
         'should be a number, not “1,5e-5”. Did you mean 1.5e-5?', "Use 1.5e-5",
         ("training", {"learning_rate": 1.5e-5})),
        (HEAD + "training:\n  learning_rate: 1e-5,\n", 5, 'should be a number, not “1e-5,”. Did you mean 1e-5?',
         "Use 1e-5", ("training", {"learning_rate": 1e-5})),
        (HEAD + "training: {learning_rate: 1e-5 // lower}\n", 4,
         'should be a number, not “1e-5 // lower”. Did you mean 1e-5?', "Use 1e-5",
         ("training", {"learning_rate": 1e-5})),
        (HEAD + "training:\n  loss_type: GRPO\n", 5, "should be one of grpo, dapo, bnpo. Did you mean “grpo”?",
         "Use grpo", ("training", {"loss_type": "grpo"})),
        (HEAD + "training:\n  loss_type: ' dapo'\n", 5,
         "should be one of grpo, dapo, bnpo. There is a space at its beginning. Did you mean “dapo”?", "Use dapo",
         ("training", {"loss_type": "dapo"})),
        (HEAD + "launch: {engine: Local}\n", 4, "should be “local”, not “Local”. Did you mean “local”?", "Use local",
         ("launch", {"engine": "local"})),
        (HEAD + "model: {dtype: fp32}\n", 4,
         "should be “auto”, “float32”, “bfloat16” or “float16”, not “fp32”. Did you mean “float32”?", "Use float32",
         ("model", {"dtype": "float32"})),
        (HEAD + "data: {source: 'hub:<b>no/such'}\n", 4, "should be the dataset's id on the hub, such as openai/gsm8k.",
         "Use the built-in task arithmetic", ("data", {"source": "task:arithmetic"})),
        (HEAD + "data: {source: Task:arithmetic}\n", 4, "should be task:NAME (built in), gym:NAME (reasoning-gym), "
         "file:NAME (in the home's data folder) or hub:ORG/NAME. Did you mean “task:arithmetic”?",
         "Use task:arithmetic", ("data", {"source": "task:arithmetic"})),
        (HEAD + "model:\n  id: starter\u00a0\n", 5, "should be “starter”. There is a space that cannot be seen at its "
         "end.", "Use starter", ("model", {"id": "starter"})),
        (HEAD + "data: {source: 'task:arithmetic '}\n", 4, "should be “task:arithmetic”. There is a space at its end.",
         "Use task:arithmetic", ("data", {"source": "task:arithmetic"})),
        (HEAD + "training:\n  max_steps: ٥٠\n", 5,
         'should be a whole number, not “٥٠”. Its digits are of another script. Did you mean 50?', "Use 50",
         ("training", {"max_steps": 50})),
        (HEAD + "training:\n  beta: ０．０２\n", 5,
         'should be a number, not “０．０２”. Its digits are of another script. Did you mean 0.02?', "Use 0.02",
         ("training", {"beta": 0.02})),
        (HEAD + "training:\n  learning_rate: 2×10⁻⁵\n", 5, 'should be a number, not “2×10⁻⁵”. Did you mean 2e-5?',
         "Use 2e-5", ("training", {"learning_rate": 2e-5})),
        (HEAD + "training:\n  learning_rate: 10^-5\n", 5, 'should be a number, not “10^-5”. Did you mean 1e-5?',
         "Use 1e-5", ("training", {"learning_rate": 1e-5})),
        (HEAD + "training:\n  learning_rate: 2*10**-5\n", 5,
         'should be a number, not “2*10**-5”. Did you mean 2e-5?', "Use 2e-5",
         ("training", {"learning_rate": 2e-5})),
        (HEAD + "training:\n  max_steps: 1 000\n", 5, 'should be a whole number, not “1 000”. Did you mean 1000?',
         "Use 1000", ("training", {"max_steps": 1000})),
        (HEAD + "training:\n  max_steps: 1.000\n", 5,
         "should be a whole number: 1.000 is read as 1. Did you mean 1 or 1000?", "Use 1",
         ("training", {"max_steps": 1})),
        (HEAD + "training:\n  save_steps: 2.000\n", 5, "2.000 is read as 2. Did you mean 2 or 2000?", "Use 2",
         ("training", {"save_steps": 2})),
        (HEAD + "data: {limit: 4.500}\n", 4, "should be a whole number: 4.500 is read as 4.5. Did you mean 4500?",
         "Use 4500", ("data", {"limit": 4500})),
        (HEAD + "lora_r: 8\n", 4, "belongs under lora as r.", "Move it under lora as r", ("lora", {"r": 8})),
        (HEAD + "training: {lora_alpha: 8}\n", 4, "belongs under lora.", "Move it under lora",
         ("lora", {"lora_alpha": 8})),
        (HEAD + "model: {learning_rate: 1e-5}\n", 4, "belongs under training.", "Move it under training",
         ("training", {"learning_rate": 1e-5})),
        (HEAD + "training: {dtype: float32}\n", 4, "belongs under model.", "Move it under model",
         ("model", {"dtype": "float32"})),
        (HEAD + "training: {limit: 8}\n", 4, "belongs under data.", "Move it under data", ("data", {"limit": 8})),
        (HEAD + "lora: {r: 8, beta: 0.1}\n", 4, "belongs under training.", "Move it under training",
         ("training", {"beta": 0.1})),
        ("name: a\nreward_funcs: [format, trl.rewards.format]\n", 2,
         "is TRL's word: here it is “rewards”.", "Rename it to rewards",
         ("rewards", [{"name": "format"}, {"name": "format"}])),
        ("run_name: a\nrewards:\n- name: format\n", 1, "is TRL's word: here it is “name”.", "Rename it to name",
         ("name", "a")),
        (HEAD + "args: {beta: 0.1}\n", 4, "is TRL's word: here it is “training”.", "Rename it to training",
         ("training", {"beta": 0.1})),
        (HEAD + "peft_config: {r: 8}\n", 4, "is TRL's word: here it is “lora”.", "Rename it to lora",
         ("lora", {"r": 8})),
        (HEAD + "train_dataset: trl-lib/DeepMath-103K\ndata: {limit: 8}\n", 4,
         "is TRL's word: here it is “data.source”.", "Write it as “data.source: hub:trl-lib/DeepMath-103K”",
         ("data", {"source": "hub:trl-lib/DeepMath-103K", "limit": 8})),
        (HEAD + "dataset_name: org/rows\n", 4, "is TRL's word: here it is “data.source”.",
         "Write it as “data.source: hub:org/rows”", ("data", {"source": "hub:org/rows"})),
        (HEAD + "model_name_or_path: org/name\n", 4, "belongs under model as id.", "Move it under model as id",
         ("model", {"id": "org/name"})),
        (HEAD + "data: {source: file, path: ./rows.jsonl}\n", 4, "there is no such field. The source names the file: "
         "“source: file:./rows.jsonl”.", "Write it as “source: file:./rows.jsonl”",
         ("data", {"source": "file:./rows.jsonl"})),
        (HEAD + "training: {rank: 8}\n", 4, "belongs under lora as r.", "Move it under lora as r", ("lora", {"r": 8})),
        (HEAD + "training: {beta: 0.1, target_kl: 0.05}\n", 4, "belongs under kl as target.",
         "Move it under kl as target", ("kl", {"target": 0.05})),
        (HEAD + "lerning_rate: 1e-5\n", 4,
         "there is no such field. Did you mean “learning_rate”? It belongs under training.",
         "Move it under training as learning_rate", ("training", {"learning_rate": 1e-5})),
        (HEAD + "learning_rate: 1e-5\n", 4, "belongs under training.", "Move it under training",
         ("training", {"learning_rate": 1e-5})),
        (HEAD + "  max_steps: 5\n", 4, "belongs under training.", "Move it under training",
         ("training", {"max_steps": 5})),
        (HEAD + "training: max_steps 5\n", 4, "should be a mapping of settings, one to a line, not “max_steps 5”. A "
         "colon is missing: write “max_steps: 5”.", "Write “max_steps: 5”", ("training", {"max_steps": 5})),
        (HEAD + "training:\n  max_steps 5\n  beta 0.1\n", 4, "should be a mapping of settings, one to a line, not "
         "“max_steps 5 beta 0.1”. A colon is missing: write “max_steps: 5” and “beta: 0.1”.",
         "Write “max_steps: 5” and “beta: 0.1”", ("training", {"max_steps": 5, "beta": 0.1})),
        (HEAD + "training:\n- max_steps: 5\n- beta: 0.1\n", 4, "should be a mapping of settings, one to a line, not "
         '[{"max_steps": 5}, {"beta": 0.1}]. These are entries of a list: write them without “-” and brackets.',
         "Write “max_steps: 5” and “beta: 0.1”", ("training", {"max_steps": 5, "beta": 0.1})),
        (HEAD + "model: id starter\n", 4, "should be a mapping of settings, one to a line, not “id starter”. A colon "
         "is missing: write “id: starter”.", "Write “id: starter”", ("model", {"id": "starter"})),
        (HEAD + "lora: true\n", 4, "should be a mapping of settings, one to a line, not true. Write it as “lora: "
         "{r: 16, lora_alpha: 32, target_modules: all-linear}”.", "Use LoRA of rank 16",
         ("lora", {"r": 16, "lora_alpha": 32, "target_modules": "all-linear"})),
        (HEAD + "data: openai/gsm8k\n", 4,
         "should be a mapping of settings, one to a line, not “openai/gsm8k”. Write it as "
         "“data: {source: hub:openai/gsm8k}”.",
         "Write it as “source: hub:openai/gsm8k”", ("data", {"source": "hub:openai/gsm8k"})),
        (HEAD + "model: org/name\n", 4, "should be a mapping of settings, one to a line, not “org/name”. Write it as "
         "“model: {id: org/name}”.", "Write it as “id: org/name”", ("model", {"id": "org/name"})),
        ("name: a\nrewards:\n- format\n", 3,
         "should be a mapping of settings, one to a line, not “format”. Write it as "
         "“- name: format”.", "Write it as “- name: format”", ("rewards", [{"name": "format"}])),
        ("name: a\nrewards: format\n", 2, "should be a list, not “format”. Write it as “rewards: [{name: format}]”.",
         "Write it as a list with “format”", ("rewards", [{"name": "format"}])),
        ("name: a\nrewards:\n  -format\n  -format\n", 2, "should be a list, not “-format -format”. Write it as "
         "“rewards: [{name: format}, {name: format}]”.", "Write it as a list with “format” and “format”",
         ("rewards", [{"name": "format"}, {"name": "format"}])),
        ("name: a\nrewards:\n- format, format\n", 3, "should be a mapping of settings, one to a line, not “format, "
         "format”.", "Write an entry each for “format” and “format”",
         ("rewards", [{"name": "format"}, {"name": "format"}])),
        ("name: a\nrewards: format, format\n", 2, "should be a list, not “format, format”. Write it as “rewards: "
         "[{name: format}, {name: format}]”.", "Write it as a list with “format” and “format”",
         ("rewards", [{"name": "format"}, {"name": "format"}])),
        ("name: a\nrewards:\n  name: format\n", 2, 'should be a list, not {"name": "format"}. Write it as “rewards: '
         "[{name: format}]”.", "Write it as an entry, with its dash", ("rewards", [{"name": "format"}])),
        ("name: a\ntraining: {reward_funcs: format}\n", 2, "is TRL's word: here it is “rewards”.",
         "Rename it to rewards", ("rewards", [{"name": "format"}])),
        (HEAD + "training: {train_dataset: org/rows}\n", 4, "is TRL's word: here it is “data.source”.",
         "Write it as “data.source: hub:org/rows”", ("data", {"source": "hub:org/rows"})),
        (HEAD + "training:\n  beta:\n", 5, "has no value: it should be a number.", "Use the default (0.0)",
         ("training", {})),
        (HEAD + "training:\n  learning_rate: 1 e-5\n", 5, "should be a number, not “1 e-5”. Did you mean 1e-5?",
         "Use 1e-5", ("training", {"learning_rate": 1e-5})),
        (HEAD + "data: {source: 'hub:a/b', limit: 5, streaming: yes}\n", 4,
         "should be true or false, not “yes”. Did you mean true?", "Use true",
         ("data", {"streaming": True})),
        ("name: a\nrewards:\n- name: “format”\n", 3, "should be the name of a Python function, not ““format””.",
         "Use format", ("rewards", [{"name": "format"}])),
        ("name: a\nrewards:\n- name: formatt\n", 3, "there is no reward function “formatt”. Did you mean “format”?",
         "Use format", ("rewards", [{"name": "format"}])),
        ("name: a\nrewards:\n- name: fromat_reward\n", 3, "there is no reward function “fromat_reward”. Did you mean "
         "“format”?", "Use format", ("rewards", [{"name": "format"}])),
    ],
)  # fmt: skip
def test_a_slip_is_one_problem_and_its_fix_is_what_was_meant(
    text: str, line: int, words: str, label: str, value: tuple[str, Any]
) -> None:
    (problem,) = problems(text)
    assert (problem.line, problem.message) == (line, words)
    first, *others = problem.fixes
    assert first.label == label and label not in [fix.label for fix in others]
    mended = edits.apply(text, edits.of_fix({"settings": first.settings, "removed": list(first.removed)}))
    part, wanted = value
    read = launch.check_text(mended, OFFER)
    got = getattr(read.spec, part)
    if part == "rewards":
        assert [reward.name for reward in got] == [one["name"] for one in wanted]
    else:
        plain = {part: got} if part == "name" else got if isinstance(got, dict) else got.model_dump()
        wanted = {part: wanted} if part == "name" else wanted
        assert {key: plain[key] for key in wanted} == wanted
    assert not any(one.field == problem.field for one in read.problems)


@pytest.mark.parametrize(
    ("typed", "label", "kept"),
    [
        ("1e-5 // lower", "Write it as “1e-5  # lower”", "1e-5  # lower"),
        ("1e-5, -- lower", "Write it as “1e-5  # lower”", "1e-5  # lower"),
        ("1,5e-5 ; lower  # mine", "Write it as “1.5e-5  # lower”", "1.5e-5  # lower  # mine"),
        ("1e-5,  # mine", "Use 1e-5", "1.0e-05  # mine"),
    ],
)
def test_a_remark_behind_a_number_stays_as_a_comment(typed: str, label: str, kept: str) -> None:
    text = HEAD + f"training:\n  learning_rate: {typed}\n  beta: 0.1\n"
    (problem,) = problems(text)
    assert [fix.label for fix in problem.fixes][0] == label
    sent = [{"fix": asdict(problem.fixes[0])}]
    after = edits.apply(edits.cut_out(text, sent), edits.read_edits(sent, {}))
    assert after == HEAD + f"training:\n  learning_rate: {kept}\n  beta: 0.1\n"
    assert problems(after) == []


def test_trls_list_of_weights_goes_with_its_list_of_functions() -> None:
    text = "name: a\nreward_funcs:\n- format\n- format\nreward_weights: [1, 0.5]\n"
    functions, weights = problems(text)
    assert (functions.field, weights.field) == ("reward_funcs", "reward_weights")
    assert functions.fixes[0] == weights.fixes[0]
    fix = {"settings": functions.fixes[0].settings, "removed": list(functions.fixes[0].removed)}
    read = launch.check_text(edits.apply(text, edits.of_fix(fix)), OFFER)
    assert read.spec is not None and [reward.weight for reward in read.spec.rewards] == [1.0, 0.5]
    alone = problems(HEAD + "reward_weights: [1]\noutput_dir: out\n")
    assert [one.message for one in alone] == [
        "each of the rewards has its own weight: write “weight: 1.0” under “format”.",
        "is not set here: each run has its own folder.",
    ]
    (both,) = problems(HEAD + "reward_funcs: [format]\n")
    assert both.message == "is TRL's word for “rewards”, which is set already."
    assert [fix.label for fix in both.fixes] == ["Remove it"]
    (code,) = [one for one in problems("name: a\nreward_funcs: [3]\n") if one.field == "reward_funcs"]
    assert [fix.label for fix in code.fixes] == ["Remove it"]


def test_accelerates_number_of_processes_is_renamed_or_moved_to_ours() -> None:
    (inside,) = problems(HEAD + "launch: {num_processes: 2}\n")
    assert inside.fixes[0].settings == {"launch.processes": 2} and inside.fixes[0].removed == (inside.field,)
    (outside,) = problems(HEAD + "num_processes: 2\n")
    assert "belongs under launch" in outside.message.lower() and outside.fixes[0].settings == {"launch.processes": 2}


@pytest.mark.parametrize("under", ["", "training: "])
def test_trls_list_of_weights_becomes_the_weight_of_each_reward(under: str) -> None:
    """As it was seen: “write “weight: 2.0” under its name. Weights are set there already.”: under which, and where?"""
    messages: list[str] = []

    def labels(weights: str, more: str = "") -> list[str]:
        entries = f"name: a\nrewards:\n- name: format\n{more}- name: correctness\n"
        line = f"reward_weights: {weights}"
        said = problems(entries + (f"training: {{{line}}}\n" if under else f"{line}\n"))
        (problem,) = [one for one in said if one.field.endswith("reward_weights")]
        messages.append(problem.message)
        if problem.fixes[0].settings:
            assert problem.fixes[0].settings == {"rewards.0.weight": 1.0, "rewards.1.weight": 2.5}
            assert problem.fixes[0].removed == (problem.field,)
        return [fix.label for fix in problem.fixes]

    assert labels("[1, 2.5]") == ["Make them the weights of format and correctness", "Remove it"]
    assert labels("[1, 2.5]", "  weight: 3\n") == ["Remove it"]  # no click writes over what is set
    assert labels("[1]") == labels("[1, 2, 3]") == labels("[1, x]") == labels("1") == ["Remove it"]
    own, first = "each of the rewards has its own weight", "write “weight: 1.0” under “format”"
    pair = f"{first} and “weight: 2.5” under “correctness”"
    assert messages == [
        f"{own}: {pair}.",
        f"{own}: {pair}. Set already: 3.0 under “format”.",
        f"{own}, and here is 1 number for 2 rewards. By their order, {first}; “correctness” has no number.",
        f"{own}, and here are 3 numbers for 2 rewards. By their order, {pair.replace('2.5', '2.0')}; 3 has no reward.",
        OWN_WEIGHTS,
        OWN_WEIGHTS,
    ]


def test_a_slip_in_a_stage_is_judged_by_what_the_stage_sets() -> None:
    """Seen: “It is set already”, of the run's own, and the only button took the stage's value away."""
    text = HEAD + "training: {beta: 0.1}\nstages:\n- training: {bet: 0.2}\n- training: {bet: 0.2, beta: 0.3}\n"
    (first, second) = problems(text)
    assert first.field == "stages.0.training.bet"
    rename = first.fixes[0]
    assert (rename.label, rename.settings) == ("Rename it to beta", {"stages.0.training.beta": 0.2})
    assert second.message.endswith("It is set already.") and [fix.label for fix in second.fixes] == ["Remove it"]


def test_a_stages_list_of_weights_sets_no_reward_of_other_stages() -> None:
    (shared,) = problems(HEAD + "stages:\n- training: {reward_weights: [2]}\n")
    assert [fix.label for fix in shared.fixes] == ["Remove it"]
    (own,) = problems(HEAD + "stages:\n- rewards: [{name: format}]\n  training: {reward_weights: [2]}\n")
    assert own.fixes[0].settings == {"stages.0.rewards.0.weight": 2.0}


def test_what_a_function_takes_is_moved_under_its_parameters() -> None:
    text = "name: a\nrewards:\n- name: format\n  strict: false\n"
    (problem,) = problems(text)
    assert problem.message == "there is no such field. What a function takes belongs under parameters."
    mended = edits.apply(text, edits.of_fix({"settings": problem.fixes[0].settings, "removed": ["rewards.0.strict"]}))
    read = launch.check_text(mended, OFFER).spec
    assert read is not None and read.rewards[0].parameters == {"strict": False}


def test_nothing_is_moved_over_a_part_that_is_no_mapping() -> None:
    by_field = {one.field: one for one in problems(HEAD + "dtype: float32\nmodel: org/name\n")}
    assert [fix.label for fix in by_field["dtype"].fixes] == ["Remove it"]


@pytest.mark.parametrize(
    "part",
    ["training: {lr.rate: 5}", "training: {5: 1}", "training: {0.5: 1}", "training: {~: 1}", "training: {true: 1}",
     "model: {id.x: 1}", "rewards: [{name: format, parameters: {a.b: 1}}]", "training: {a..b: 1}", "'': 1",
     "training: {beta: 0.1}\nlora: {x.y: {z: 1}}", "training: {loss_type: GRPO}\nlora_r: 4", "a b: 1", "kl: {rat: 1}"],
)  # fmt: skip
def test_every_button_changes_the_text(part: str) -> None:
    text = part + "\n" if part.startswith("rewards") else HEAD + part + "\n"
    text = text if "name: a\n" in text else "name: a\n" + text
    said = view.describe_text(text, OFFER)["problems"]
    assert said
    for problem in said:
        for fix in problem["fixes"]:
            assert edits.apply(text, edits.of_fix(json.loads(json.dumps(fix)))) != text, fix["label"]


def test_a_refused_value_is_not_advised_on() -> None:
    text = HEAD + "training: {learning_rate: -1, max_completion_length: 5}\n"
    said = [one for one in view.describe_text(text, OFFER)["problems"] if one["field"] == "training.learning_rate"]
    assert [(one["level"], one["message"]) for one in said] == [("blocking", "should be at least 0.")]
    assert [fix["label"] for fix in said[0]["fixes"]] == ["Use 1e-4"]  # usual for the starter


def test_steps_that_are_a_word_get_a_number_or_are_left_to_the_epochs() -> None:
    (problem,) = problems(HEAD + "training: {max_steps: zwanzig}\n")
    assert [fix.label for fix in problem.fixes] == ["Use 60", "Leave it to the epochs"]


def test_a_setting_that_is_under_training_too_is_not_moved_onto_it() -> None:
    (problem,) = problems(HEAD + "beta: 0.1\ntraining:\n  beta: 0.2\n")
    assert problem.message == "belongs under training, where beta is set already."
    assert [(fix.label, fix.settings, fix.removed) for fix in problem.fixes] == [("Remove it", {}, ("beta",))]


def test_a_part_that_is_indented_too_far_is_said() -> None:
    found = problems(HEAD + "  training:\n    max_steps: 5\n")
    assert [(one.line, one.field, one.message) for one in found] == [
        (4, "rewards.0.training", "is indented too far: “training” begins at the left edge.")
    ]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (HEAD + "training:\n\tmax_steps: 5\n", 5, "there is a tab. Indent with spaces instead."),
        (HEAD + "training:\n  max_steps:\t5\n", 5, "there is a tab in this line. Write a space instead."),
        ("name: 'a\nrewards:\n- name: format\n", 1,
         "a quotation mark is not closed: close it, or write the text without quotes."),
        (HEAD + "---\nname: b\n", 4, "there is a second document after “---”. A spec is one."),
        (HEAD + "training:\n  beta: 0.1\n  max_steps 5\n", 6, "there is no colon after the name in this line, as in "
         "“max_steps: 5”."),
        (HEAD + "training:\n  max_steps:5\n  beta: 0.1\n", 5, "there is no space after this line's colon."),
        (HEAD + "training:\n  max_steps: 5\n   beta: 0.1\n", 6, "this line's indentation does not fit the lines "
         "above. The names of one part begin at the same column."),
    ],
)  # fmt: skip
def test_what_is_no_yaml_is_said_in_a_persons_words(text: str, line: int, words: str) -> None:
    (problem,) = problems(text)
    assert (problem.line, problem.message) == (line, f"This is not YAML: {words}")
    (alias,) = problems("base: &b 5\nname: *b\n")
    assert alias.message == "Aliases (*name) are not allowed in a spec: write what it stands for." and alias.line == 2


BATCHES = HEAD + "training:\n  max_steps: 5\n"


@pytest.mark.parametrize(
    ("lines", "words", "label"),
    [
        ("  --save_steps 5\n", "this is an argument of a command.", "Write it as “save_steps: 5”"),
        ("  --save-steps=5\n", "this is an argument of a command.", "Write it as “save_steps: 5”"),
        ("  save_steps=5\n  beta = 0.1\n", "there is an equals sign", "Write these 2 lines with a colon"),
        ("  save_steps=5,\n  beta=0.1,\n  bf16=false\n", "there is an equals sign", "Write these 3 lines with a colon"),
        ("```\n", "this line is not a setting: it marks code", "Remove the line"),
    ],
)
def test_lines_of_a_command_a_script_or_a_chat_are_written_as_settings(lines: str, words: str, label: str) -> None:
    """Lines without a colon are one text to YAML: no button could write them right one by one."""
    text, written = BATCHES + lines, {"max_steps": 5}
    [problem] = read_past_slips(text).problems
    assert problem.message.startswith(f"This is not YAML: {words}") and problem.line == 6
    [fix] = problem.fixes
    assert fix.label == label
    after = yaml_text.read_yaml(edits.cut_out(text, [{"fix": {"cut": asdict(fix.cut)}}]))[0]
    written |= {"save_steps": 5} if "save" in lines else {}
    written |= {"beta": 0.1} if "beta" in lines else {}
    assert after["training"] == written | ({"bf16": False} if "bf16" in lines else {})


def test_both_fences_around_a_spec_are_said() -> None:
    assert [(one.line, len(one.fixes)) for one in read_past_slips(f"```yaml\n{BATCHES}```\n").problems] == [
        (1, 1),
        (7, 1),
    ]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("training.beta: 0.1", "Write “beta: 0.1” under training."),
        ("lora.use_rslora: true", "Write “use_rslora: true” under lora."),
        ("data.source: hub:a/b", "Write “source: hub:a/b” under data."),
    ],
)
def test_a_setting_that_names_its_part_before_a_dot_is_told_where_it_stands(line: str, words: str) -> None:
    [problem] = problems(HEAD + "training: {max_steps: 5}\n" + line)
    assert (problem.line, problem.message) == (5, f"there is no such field. {words}")


@pytest.mark.parametrize(
    ("text", "slips", "after"),
    [
        (HEAD + "data: {source: 'task:arithmetic\ntraining: {max_steps: 4}\n", [4], {"source": "task:arithmetic"}),
        (HEAD + "data: {source: 'task:arithmetic}\ntraining: {max_steps: 4}\n", [4], {"source": "task:arithmetic"}),
        (HEAD + "data: {source: 'task:arithmetic, limit: 5\nlora: {r: '8\n", [4, 5],
         {"source": "task:arithmetic", "limit": 5}),
        (HEAD + "data: {limit: 5, source: \"hub:a/b # mine\nmodel: {id: 'starter'}\n", [4],
         {"limit": 5, "source": "hub:a/b"}),
        ("name: a\nrewards: [format, 'correctness\ndata: {limit: 5}\n", [2], {"limit": 5}),
    ],
)  # fmt: skip
def test_a_quotation_mark_that_is_open_in_brackets_is_closed_with_them(
    text: str, slips: list[int], after: dict[str, Any]
) -> None:
    found = [one for one in read_past_slips(text).problems if one.message.startswith("This is not YAML")]
    assert [one.line for one in found] == slips
    assert all("quotation mark" in one.message and one.fixes[0].label.startswith("Close") for one in found)
    made = edits.cut_out(text, [{"fix": asdict(one.fixes[0])} for one in found])
    assert yaml_text.read_yaml(made)[0]["data"] == after


@pytest.mark.parametrize(
    ("head", "label"),
    [
        ("  name: a\nrewards:\n- name: format\n", "Begin it at the left edge"),
        ("\tname: a\nrewards:\n- name: format\n", "Begin it at the left edge"),
        ("# mine\n\n  name: a\n  rewards:\n  - name: format\n", "Begin these 3 lines at the left edge"),
    ],
)
def test_a_text_that_begins_indented_is_one_slip(head: str, label: str) -> None:
    """Every line below it was called no YAML, and the one click led to settings in the wrong parts."""
    text = head + "training:\n  max_steps: 5\n  num_generations: 4\n"
    [slip] = read_past_slips(text).problems
    assert slip.line == text[: text.index("name:")].count("\n") + 1
    assert [fix.label for fix in slip.fixes] == [label] and slip.fixes[0].cut
    raw, _ = yaml_text.read_yaml(edits.cut_out(text, [{"fix": {"cut": asdict(slip.fixes[0].cut)}}]))
    assert raw == {
        "name": "a", "rewards": [{"name": "format"}], "training": {"max_steps": 5, "num_generations": 4},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("model", "words", "labels", "after"),
    [
        ("name: starter", "Did you mean “id”?", ["Rename it to id", "Remove it"], {"id": "starter"}),
        ("model: starter", "Did you mean “id”?", ["Rename it to id", "Remove it"], {"id": "starter"}),
        ("path: starter", "Did you mean “id”?", ["Rename it to id", "Remove it"], {"id": "starter"}),
        ("id: starter, name: other", "Did you mean “id”? It is set already.", ["Remove it"], {"id": "starter"}),
    ],
)
def test_a_model_under_another_name_is_renamed_to_id(
    model: str, words: str, labels: list[str], after: dict[str, Any]
) -> None:
    text = HEAD + f"model: {{{model}}}\n"
    [problem] = problems(text)
    assert problem.message == f"there is no such field. {words}"
    assert [fix.label for fix in problem.fixes] == labels
    assert yaml_text.read_yaml(_after_first(text, problem))[0]["model"] == after


def test_a_runs_name_below_its_model_is_moved_where_the_run_has_none() -> None:
    text = "model:\n  id: starter\n  name: mine\nrewards:\n- name: format\n"
    [problem] = [one for one in problems(text) if one.field == "model.name"]
    assert [fix.label for fix in problem.fixes] == ["Move it to the left edge", "Remove it"]
    assert yaml_text.read_yaml(_after_first(text, problem))[0] == {
        "model": {"id": "starter"}, "rewards": [{"name": "format"}], "name": "mine",
    }  # fmt: skip


@pytest.mark.parametrize("revision", ["", "  revision: main\n"])
def test_the_starter_takes_a_revision_away_and_writes_none(revision: str) -> None:
    text = f"{HEAD}model:\n  id: /nowhere\n{revision}"
    [problem] = problems(text)
    assert [fix.label for fix in problem.fixes] == ["Use the starter model"]
    assert _after_first(text, problem) == f"{HEAD}model:\n  id: starter\n"


def _after_first(text: str, problem: Any) -> str:
    """The text once its first button is pressed."""
    return edits.apply(text, edits.read_edits(json.loads(json.dumps([{"fix": asdict(problem.fixes[0])}])), {}))
