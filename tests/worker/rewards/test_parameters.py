"""What the parameters of the built-in rewards change, and what each says of a value that makes no sense."""

from __future__ import annotations

import pytest

from tests.support.rewards import NEEDED, both_shapes, load, score

WRONG = [
    ("format", "tags", []), ("format", "tags", ["a", "a"]), ("format", "tags", ["a b"]), ("format", "tags", [1.5]),
    ("format", "after_penalty", -1), ("format", "after_penalty", float("nan")),
    ("length", "mode", "short"), ("length", "low", 512), ("length", "low", -1), ("length", "target", -5),
    ("length", "tolerance", 0),
    ("correctness", "extract", "somewhere"), ("correctness", "tag", "<answer>"), ("correctness", "tolerance", -0.1),
    ("correctness", "tag", None), ("correctness", "tolerance", float("inf")),
    ("regular_expression", "pattern", "("), ("regular_expression", "pattern", ""), ("regular_expression", "times", 0),
    ("regular_expression", "times", 1.5), ("regular_expression", "timeout", 0), ("regular_expression", "pattern", 3),
    ("keywords", "words", []), ("keywords", "words", [""]), ("keywords", "words", [3]),
    ("keywords", "forbidden", [" "]),
    ("repetition_penalty", "ngram_size", 0), ("repetition_penalty", "ngram_size", True),
    ("repetition_penalty", "max_penalty", 1), ("repetition_penalty", "unit", "letters"),
    ("soft_overlong_punishment", "max_completion_len", 0), ("soft_overlong_punishment", "soft_punish_cache", 300),
    ("soft_overlong_punishment", "soft_punish_cache", -1),
    ("cosine_length", "max_len", 0), ("cosine_length", "min_value_wrong", float("nan")),
    ("reasoning_steps", "steps", 0), ("reasoning_steps", "min_characters", -1), ("reasoning_steps", "where", "end"),
    ("language_consistency", "scripts", []), ("language_consistency", "scripts", ["klingon"]),
    ("valid_json", "extract", "some"), ("valid_json", "partial", 2), ("valid_json", "schema", "object"),
    ("valid_json", "schema", {"type": "objet"}),
    ("math_equivalence", "precision", -1), ("math_equivalence", "precision", 1.5), ("math_equivalence", "timeout", 0),
    ("code_tests", "column", "none"), ("code_tests", "timeout", 0), ("code_tests", "memory", -1),
    ("code_tests", "concurrency", 0), ("code_tests", "timeout", "10"),
    ("reward_model", "models", []), ("reward_model", "models", [3]), ("reward_model", "combine", "max"),
    ("reward_model", "max_length", 0), ("reward_model", "batch_size", 0),
    ("llm_judge", "base_url", ""), ("llm_judge", "base_url", "file:///etc/passwd"), ("llm_judge", "model", ""),
    ("llm_judge", "base_url", "http://user:key@localhost/v1"), ("llm_judge", "rubric", "How good is {prompt}?"),
    ("llm_judge", "scale", 0), ("llm_judge", "retries", -1), ("llm_judge", "concurrency", 0),
    ("llm_judge", "cache", -1),
    ("llm_judge", "timeout", 0), ("llm_judge", "price_in", -1), ("llm_judge", "price_out", float("nan")),
    ("llm_judge", "options", "temperature: 1"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "parameter", "value"), WRONG)
def test_a_wrong_value_is_refused_by_the_name_of_its_parameter(name: str, parameter: str, value: object):
    batch = {"prompts": ["?"], "completions": ["1"], "completion_ids": [[1]], "answer": ["1"], "tests": ["assert 1"]}
    with pytest.raises(ValueError, match=rf"\b{parameter}\b"):
        load(name)(**batch, **{**NEEDED.get(name, {}), parameter: value})


@both_shapes
@pytest.mark.parametrize(
    ("text", "reward"),
    [
        ("<think>a</think><answer>b</answer>", 1.0),
        ("Well: <think>a</think> so <answer>b</answer> \n", 1.0),
        ("<think></think><answer></answer>", 1.0),
        ("<think>a</think><answer>b", 0.75),
        ("<think>a</think>", 0.5),
        ("<answer>b</answer><think>a</think>", 0.5 - 0.016),
        ("<think>a<think>b</think><answer>c</answer>", 0.75),
        ("<think>a</think><answer>b</answer>" + "!" * 100, 0.9),
        ("<think>a</think><answer>b</answer>" + "!" * 5000, 0.0),
        ("<think><answer></think></answer>" * 1000, 0.0),
        ("a" * 5000, 0.0),
        ("", 0.0),
    ],
)
def test_format_with_partial_credit(text: str, reward: float, shape: str):
    assert score("format", text, shape, strict=False) == pytest.approx(reward)


def test_format_with_partial_credit_and_no_penalty_for_what_comes_after():
    text = "<think>a</think><answer>b</answer>" + "!" * 100
    assert score("format", text, strict=False, after_penalty=0) == 1.0


@pytest.mark.parametrize(
    ("tags", "text", "reward"),
    [
        (["plan", "code", "check"], "<plan>a</plan>\n<code>b</code>\n<check>c</check>", 1.0),
        (["plan", "code", "check"], "<plan>a</plan><code>b</code>", 0.0),
        (["plan", "code", "check"], "<plan>a</plan><code>b</code>so<check>c</check>", 0.0),
        ("answer", "<answer>42</answer>", 1.0),
        (["answer"], "<think>a</think><answer>42</answer>", 0.0),
        (["a.b"], "<a.b>1</a.b>", 1.0),
        (["a.b"], "<axb>1</axb>", 0.0),
    ],
)
def test_format_of_other_tags(tags: list[str], text: str, reward: float):
    assert score("format", text, tags=tags) == reward


def test_partial_credit_is_shared_among_all_tags():
    assert score("format", "<plan>a</plan>", tags=["plan", "code", "check"], strict=False) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("mode", "tokens", "reward"),
    [
        ("longer", 0, 0.0), ("longer", 10, 0.0), ("longer", 15, 0.5), ("longer", 20, 1.0), ("longer", 5000, 1.0),
        ("shorter", 10, 1.0), ("shorter", 15, 0.5), ("shorter", 20, 0.0),
        ("target", 100, 1.0), ("target", 95, 0.5), ("target", 105, 0.5), ("target", 90, 0.0), ("target", 0, 0.0),
    ],
)  # fmt: skip
def test_length_in_each_mode(mode: str, tokens: int, reward: float):
    given = {"mode": mode, "low": 10, "high": 20, "target": 100, "tolerance": 10}
    assert score("length", "", completion_ids=[[0] * tokens], **given) == pytest.approx(reward)


@both_shapes
@pytest.mark.parametrize(
    ("extract", "text", "answer", "reward"),
    [
        ("boxed", r"so \boxed{42}, not 41", "42", 1.0),
        ("boxed", r"\boxed{\frac{1}{2}}", r"\frac{1}{2}", 1.0),
        ("boxed", r"\boxed{1} then \boxed{42}", "42", 1.0),
        ("boxed", r"\boxed{42", "42", 0.0),
        ("boxed", "42", "42", 0.0),
        ("line", "It may be 41.\n42\n", "42", 1.0),
        ("line", "42\nI think", "42", 0.0),
        ("all", " 42 ", "42", 1.0),
        ("all", "It is 42", "42", 0.0),
        ("tag", "<answer>42</answer>", "42", 1.0),
        ("tag", "42", "42", 0.0),
        ("number", "<answer>42</answer> 7", "42", 0.0),
        ("number", "<answer>x</answer> 42", "42", 1.0),
    ],
)
def test_correctness_looks_where_it_is_told(extract: str, text: str, answer: str, reward: float, shape: str):
    assert score("correctness", text, shape, answer=[answer], extract=extract) == reward


@pytest.mark.parametrize(
    ("text", "answer", "given", "reward"),
    [
        ("<answer>3.14</answer>", "3.14159", {"tolerance": 0.01}, 1.0),
        ("<answer>3.1</answer>", "3.14159", {"tolerance": 0.01}, 0.0),
        ("<answer>3.14</answer>", "3.14159", {}, 0.0),
        ("<answer>x</answer>", "3.14159", {"tolerance": 0.01}, 0.0),
        ("<answer>" + "9" * 2_000_000 + "</answer>", "3", {"tolerance": 0.01}, 0.0),
        ("<answer>paris</answer>", "Paris", {"ignore_case": True}, 1.0),
        ("<answer>paris</answer>", "Paris", {}, 0.0),
        ("<result>42</result><answer>41</answer>", "42", {"tag": "result"}, 1.0),
    ],
)
def test_correctness_compares_as_it_is_told(text: str, answer: str, given: dict, reward: float):
    assert score("correctness", text, answer=[answer], **given) == reward
