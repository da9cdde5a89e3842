"""The built-in rewards that TRL has too give what TRL's give, and mathematics is compared in a process of its own."""

from __future__ import annotations

import random
import time

import pytest

from tests.support.rewards import both_shapes, load, module, score

IDS = [[], [1], [1, 2], [1, 2, 3], [5, 5, 5, 5, 5], [1, 2, 1, 2, 1, 2, 3], list(range(500)), [7] * 300]
IDS += [[random.Random(seed).randrange(9) for _ in range(seed * 7)] for seed in range(1, 40)]


@pytest.mark.parametrize(("size", "penalty"), [(3, -1.0), (1, -0.5), (2, -2), (20, -1.0), (3, 0)])
def test_repetition_penalty_is_trls(size: int, penalty: float):
    from trl.rewards import get_repetition_penalty_reward

    ours = load("repetition_penalty")([""] * len(IDS), completion_ids=IDS, ngram_size=size, max_penalty=penalty)
    assert ours == pytest.approx(get_repetition_penalty_reward(size, penalty)(IDS))


@both_shapes
def test_repetition_penalty_of_words(shape: str):
    given = {"unit": "words", "ngram_size": 2}
    assert score("repetition_penalty", "the end The end THE END", shape, **given) == pytest.approx(-0.6)
    assert score("repetition_penalty", "all of it is new", shape, **given) == 0.0
    assert score("repetition_penalty", "", shape, **given) == 0.0


@pytest.mark.parametrize(("limit", "cache"), [(256, 64), (100, 20), (300, 300), (100, 0), (1, 0)])
def test_soft_overlong_punishment_is_trls(limit: int, cache: int):
    from trl.rewards import get_soft_overlong_punishment

    ids = [[0] * count for count in range(0, 320, 3)]
    given = {"max_completion_len": limit, "soft_punish_cache": cache}
    ours = load("soft_overlong_punishment")([""] * len(ids), completion_ids=ids, **given)
    assert ours == pytest.approx(get_soft_overlong_punishment(limit, cache)(ids))


@pytest.mark.parametrize("values", [{}, {"min_value_wrong": -3.0, "max_value_wrong": 0.0, "max_value_correct": 5.0}])
def test_cosine_length_is_trls(values: dict[str, float]):
    from trl.rewards import get_cosine_scaled_reward

    texts = [rf"so \boxed{{{number}}}" for number in (1, 2)] * len(IDS)
    chats = [[{"role": "assistant", "content": text}] for text in texts]
    ids, answers = IDS + IDS, ["1"] * len(texts)
    ours = load("cosine_length")(chats, answer=answers, completion_ids=ids, max_len=100, **values)
    assert ours == pytest.approx(get_cosine_scaled_reward(100, **values)(chats, answers, ids))


@both_shapes
@pytest.mark.parametrize(
    ("text", "answer", "reward"),
    [
        ("<answer>42</answer>", "42", 1.0),
        (r"\boxed{42}", "42.0", 1.0),
        ("It is 42", 42, 1.0),
        ("<answer>Paris</answer>", "Paris", 1.0),
        ("<answer>41</answer>", "42", -1.0),
        (r"\boxed{42", "42", -1.0),
        ("<answer>42", "42", -1.0),
        (r"\boxed{42} <answe", "42", -1.0),
        ("", "42", -1.0),
        ("42", None, None),
        ("42", " ", None),
    ],
)
def test_cosine_length_of_the_shortest(text: str, answer: object, reward: float | None, shape: str):
    assert score("cosine_length", text, shape, answer=[answer], completion_ids=[[]]) == reward


@pytest.fixture(scope="module")
def equivalence():
    """math_equivalence as one process has it: what compares stays warm."""
    loaded = module("math_equivalence")
    yield loaded.math_equivalence
    loaded.end()


FORMULAS = [
    (r"\boxed{\frac{1}{3}}", r"\frac{1}{3}"), (r"\boxed{0.5}", r"$\frac{1}{2}$"), (r"so \boxed{x^2+2x+1}", "$(x+1)^2$"),
    (r"\boxed{2\sqrt{2}}", r"$\sqrt{8}$"), (r"\boxed{42}", "42"), (r"\boxed{41}", "42"), (r"\boxed{}", "42"),
    (r"The answer is $\frac{2}{4}$.", r"$\frac{1}{2}$"), (r"\boxed{\{1,2\}}", r"$\{2,1\}$"), ("", "42"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "answer"), FORMULAS)
def test_math_equivalence_is_trls_for_formulas(text: str, answer: str, equivalence):
    from trl.rewards import accuracy_reward

    chat = [[{"role": "assistant", "content": text}]]
    assert equivalence(chat, answer=[answer]) == accuracy_reward(chat, [answer])


@both_shapes
@pytest.mark.parametrize(
    ("text", "answer", "reward"),
    [
        (r"\boxed{\frac12}", "0.5", 1.0),
        ("<answer>1/2</answer>", "0.5", 1.0),
        (r"<answer>\frac{1}{2}</answer>", "0.5", 1.0),
        ("<answer>x^2+2x+1</answer>", "(x+1)^2", 1.0),
        ("<think>41</think><answer>1,000</answer>", "1000", 1.0),
        ("It is 42.", 42, 1.0),
        ("<answer>50%</answer>", "0.5", 1.0),
        ("<answer>41</answer> 42", "42", 0.0),
        ("<answer>41, 42, 43</answer>", "42", 0.0),
        ("<answer>42 or 41</answer>", "42", 0.0),
        (r"\boxed{41} \boxed{42} \boxed{43}", "42", 0.0),
        ("<answer>1 < x < 100</answer>", "42", 0.0),
        ("<answer></answer>", "42", 0.0),
        ("<answer>42", "42", 0.0),
        ("It is 42. <answe", "42", 0.0),
        ("", "42", 0.0),
        ("no idea", "42", 0.0),
        ("<answer>__import__('os').system('true')</answer>", "42", 0.0),
        ("{" * 100_000, "42", 0.0),
        ("\\boxed{" * 20_000, "42", 0.0),
        ("<answer>Pairs</answer>", "Paris", None),
        ("<answer>42</answer>", None, None),
        ("<answer>42</answer>", "", None),
    ],
)
def test_math_equivalence(text: str, answer: object, reward: float | None, shape: str, equivalence):
    completion = text if shape == "text" else [{"role": "assistant", "content": text}]
    assert equivalence([completion], answer=[answer], timeout=60) == [reward]


def test_a_comparison_that_would_never_end_says_nothing_and_the_next_works(equivalence):
    told: dict[str, float] = {}
    towers = [r"\boxed{9^{9^{9^{9}}}}", "<answer>42</answer>", "<answer>10000000!</answer>", "<answer>42</answer>"]
    started = time.monotonic()
    scores = equivalence(towers, answer=["42"] * 4, timeout=2, log_metric=told.__setitem__)
    assert scores[0] is None and scores[2] is None and scores[1] == scores[3] == 1.0
    assert told == {"math_equivalence/timeouts": 2.0}
    assert time.monotonic() - started < 60


def test_the_comparison_sees_no_secrets(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_canary")
    loaded = module("math_equivalence")
    process = loaded.comparer()
    with open(f"/proc/{process.pid}/environ", "rb") as file:
        assert b"hf_canary" not in file.read()
    loaded.end()
    assert process.returncode is not None


def test_the_comparison_works_off_the_main_thread():
    import concurrent.futures

    loaded = module("math_equivalence")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(loaded.math_equivalence, [str(number)], answer=["3"]) for number in range(8)]
        assert [call.result() for call in calls] == [[float(number == 3)] for number in range(8)]
    loaded.end()
