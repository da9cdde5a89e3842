"""The built-in rewards: what each gives for which completion, and that each file stands alone."""

import ast
import inspect
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.rewards import FOLDER, NAMES, NEEDED, both_shapes, load, score

# What gym_score gives: test_gym.py. What the others give: test_rewards_*.py.


def test_the_built_in_rewards_are_files_named_after_their_function():
    assert sorted(file.stem for file in FOLDER.glob("[!_]*.py")) == NAMES
    for name in NAMES:
        assert load(name).__name__ == name


@pytest.mark.parametrize("name", NAMES)
def test_a_description_is_one_plain_line(name: str):
    first, *rest = inspect.getdoc(load(name)).splitlines()
    assert first.endswith(".") and len(first) <= 90 and (not rest or rest[0] == "")


@pytest.mark.parametrize("name", NAMES)
def test_a_description_holds_whatever_its_parameters_are_set_to(name: str):
    numbers = {float(one) for one in re.findall(r"-?[0-9]+", inspect.getdoc(load(name)).splitlines()[0])}
    defaults = (one.default for one in inspect.signature(load(name)).parameters.values())
    assert not numbers & {one for one in defaults if type(one) in (int, float) and one not in (0, 1)}


@pytest.mark.parametrize("name", NAMES)
def test_a_parameter_is_told_of_and_has_a_plain_value(name: str):
    told = inspect.getdoc(load(name)).partition("Args:\n")[2]
    for parameter in inspect.signature(load(name)).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not parameter.name.startswith("log_"):
            assert f"\n    {parameter.name}: " in f"\n{told}"
            ast.literal_eval(repr(parameter.default))


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_runs_alone(name: str, tmp_path: Path):
    (tmp_path / "reward.py").write_text((FOLDER / f"{name}.py").read_text(encoding="utf-8"), encoding="utf-8")
    columns = {
        "prompts": [],
        "completions": [],
        "completion_ids": [],
        "answer": [],
        "tests": [],
        **NEEDED.get(name, {}),
    }
    code = f"import sys; sys.path.insert(0, '.'); import reward; assert reward.{name}(**{columns!r}) == []"
    packages = [] if name == "regular_expression" else ["-S"]  # that one compiles its pattern at once
    subprocess.run([sys.executable, "-I", *packages, "-c", code], cwd=tmp_path, check=True)


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_batch_gets_no_rewards(name: str):
    batch = {"prompts": [], "completions": [], "completion_ids": [], "answer": [], "tests": []}
    assert load(name)(**batch, **NEEDED.get(name, {})) == []


SAYS = {"keywords", "language_consistency", "math_equivalence", "reasoning_steps", "regular_expression", "valid_json"}


@pytest.mark.parametrize("name", sorted(SAYS | {"code_tests", "correctness", "format"}))
@pytest.mark.parametrize(
    "completion", [[], [{"role": "assistant", "content": None}], [{"role": "assistant", "content": ""}], "", " \n"]
)
def test_a_completion_that_says_nothing_gets_nothing(name: str, completion: list[dict] | str):
    batch = {"prompts": ["?"], "completions": [completion], "completion_ids": [[]], "answer": ["42"]}
    assert load(name)(**batch, tests=[["assert True"]], **NEEDED.get(name, {})) == [0.0]


@both_shapes
@pytest.mark.parametrize(
    ("text", "reward"),
    [
        ("<think>a</think><answer>b</answer>", 1.0),
        (" \n<think>a\nb</think>\n<answer>\nc\n</answer>\n ", 1.0),
        ("<think>1 < 2 and <b>so</b></think><answer>b</answer>", 1.0),
        ("", 0.0),
        ("42", 0.0),
        ("<answer>b</answer>", 0.0),
        ("<think>a</think>", 0.0),
        ("<think></think><answer></answer>", 0.0),
        ("<think>a</think><answer> </answer>", 0.0),
        ("<answer>b</answer><think>a</think>", 0.0),
        ("So: <think>a</think><answer>b</answer>", 0.0),
        ("<think>a</think>so<answer>b</answer>", 0.0),
        ("<think>a</think><answer>b</answer>!", 0.0),
        ("<think>a</think><answer>b</answer><answer>c</answer>", 0.0),
        ("<think>a<think>b</think><answer>c</answer>", 0.0),
        ("<think>a</think><answer>b", 0.0),
        ("<THINK>a</THINK><ANSWER>b</ANSWER>", 0.0),
    ],
)
def test_format(text: str, reward: float, shape: str):
    assert score("format", text, shape) == reward


@both_shapes
@pytest.mark.parametrize(
    ("text", "answer", "reward"),
    [
        ("<think>12+30=42</think><answer>42</answer>", "42", 1.0),
        ("<answer> 42.0\n</answer>", "42", 1.0),
        ("<answer>1,000</answer>", "1000", 1.0),
        ("<answer>1000</answer>", "1,000", 1.0),
        ("<answer>1,2</answer>", "12", 0.0),
        ("<answer>0.1</answer>", "0.10", 1.0),
        ("<answer>-7</answer>", "-7", 1.0),
        ("<answer>-7</answer>", "7", 0.0),
        ("<answer>42</answer>", 42, 1.0),
        ("<answer>42</answer>", 42.0, 1.0),
        ("<answer>10000000000000001</answer>", "10000000000000000", 0.0),
        ("<answer>Paris</answer>", " Paris ", 1.0),
        ("<answer>Rome</answer>", "Paris", 0.0),
        ("<answer>42 apples</answer>", "42", 1.0),
        ("<answer>42 apples or 43</answer>", "42", 0.0),
        ("<answer>not 42</answer>", "42", 0.0),
        ("<answer>= 42.</answer>", "42", 1.0),
        ("<answer>42 apples</answer>", "42 pears", 0.0),
        ("<answer>1/2</answer>", "0.5", 1.0),
        ("<answer>1/2/2024</answer>", "2024", 0.0),
        ("<answer>-$5</answer>", "-5", 1.0),
        ("12 kg of CO2", "12", 1.0),
        ("<answer>nan</answer>", "42", 0.0),
        ("<answer></answer>", "42", 0.0),
        ("<answer>1</answer><answer>42</answer>", "42", 1.0),
        ("<answer>42</answer><answer>1</answer>", "42", 0.0),
        ("<answer>42</answer><answer>1", "42", 1.0),
        ("<answer>42</answer></answer>", "42", 1.0),
        ("<answer>42</answer> and 7", "42", 1.0),
        ("42", "42", 1.0),
        ("12+30=42.", "42", 1.0),
        ("It is 42, not 41", "42", 0.0),
        ("5-3", "3", 1.0),
        ("5-3 = -2", "-2", 1.0),
        ("1,000 and 2,500.5", "2500.5", 1.0),
        ("<answer>42", "42", 0.0),
        ("It is 42. <answer>", "42", 0.0),
        ("<answer>20</think>42<answe", "42", 0.0),
        ("It is 42. <answe", "42", 0.0),
        ("</answer>42", "42", 1.0),
        ("no idea", "42", 0.0),
        ("", "42", 0.0),
        ("42", None, None),
        ("42", "", None),
        ("42", "  ", None),
        ("0", 0, 1.0),
    ],
)
def test_correctness(text: str, answer: object, reward: float | None, shape: str):
    assert score("correctness", text, shape, answer=[answer]) == reward


def test_correctness_pairs_each_completion_with_its_own_row():
    scores = load("correctness")(completions=["1", "2", "3"], answer=["1", None, "4"])
    assert scores == [1.0, None, 0.0]


@both_shapes
@pytest.mark.parametrize(("tokens", "reward"), [(0, 1.0), (64, 1.0), (176, 0.75), (288, 0.5), (512, 0.0), (5000, 0.0)])
def test_length_counts_tokens_and_not_characters(tokens: int, reward: float, shape: str):
    assert score("length", "short", shape, completion_ids=[[0] * tokens]) == pytest.approx(reward)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("reward_model", "llm_judge")])
@pytest.mark.parametrize(
    "piece",
    [
        "<think>", "<answer>", "<answer></think>", "</answer>", "1", "1,", "1,000,", "1.", "-", "<", " ", "\n", "{",
        "[", "```\n", "`", "$", "\\boxed{", "Step 1: ", "\n- ", "First, ", "я", "(", "a ",
    ],
)  # fmt: skip
def test_a_hostile_completion_takes_linear_time(name: str, piece: str):
    text = piece * (200_000 // len(piece))
    batch = {"completions": [text], "completion_ids": [range(len(text))], "answer": ["42"], "tests": [""]}
    started = time.process_time()
    load(name)(**batch, **NEEDED.get(name, {}))
    assert time.process_time() - started < 2
