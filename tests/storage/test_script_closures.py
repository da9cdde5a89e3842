"""Reward functions that are made by other code come along with what they were made with, and score as they do in the
script; TRL's and open-r1's become built-ins where they are imported."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from groupwise.storage.checks.script_reader import ScriptImport, read_script
from groupwise.storage.library.rewards import signature

COSINE = '''
import math
from trl import GRPOConfig, GRPOTrainer


def get_cosine_scaled_reward(
    min_value_wrong: float = -1.0,
    max_value_wrong: float = -0.5,
    min_value_correct: float = 0.5,
    max_value_correct: float = 1.0,
    max_len: int = 1000,
):
    def cosine_scaled_reward(completions, solution, **kwargs):
        """Shorter right answers get more."""
        scores = []
        for text, right in zip(completions, solution):
            turn = math.cos(math.pi * len(text) / max_len)
            low, high = (min_value_correct, max_value_correct) if right in text else (max_value_wrong, min_value_wrong)
            scores.append(low + (high - low) * (1 + turn) / 2)
        return scores

    return cosine_scaled_reward


trainer = GRPOTrainer("a/b", reward_funcs=[get_cosine_scaled_reward(max_len=300)])
trainer.train()
'''


def test_a_factory_of_the_scripts_own_comes_along_whatever_it_is_called():
    """Under open-r1's name, with its parameters and its cosine: what it calls right is its own."""
    found = read_script(COSINE)
    assert [one["name"] for one in found.raw["rewards"]] == ["cosine_scaled_reward"]
    (one,) = found.functions
    theirs: dict[str, Any] = {}
    exec(COSINE[: COSINE.index("trainer = ")].replace("from trl", "# "), theirs)  # noqa: S102
    ours: dict[str, Any] = {}
    exec(one.code, ours)  # noqa: S102
    batch = {"completions": COMPLETIONS, "solution": ["b"] * len(COMPLETIONS)}
    made = theirs["get_cosine_scaled_reward"](max_len=300)
    assert ours["cosine_scaled_reward"](**batch) == made(**batch) and len(set(made(**batch))) > 2


BODY = "(self, completions, **kwargs):\n        return [float(len(c)) for c in completions]\n"
OWN = [
    # what the script defines, and what reaches the trainer
    (f"def accuracy_reward{BODY.replace('self, ', '')}", "accuracy_reward"),
    (f"class accuracy_reward:\n    def __call__{BODY}", "accuracy_reward()"),
    ("def get_repetition_penalty_reward(ngram_size=3, max_penalty=-1.0):\n    def accuracy_reward(completions, **kw):\n"
     "        return [max_penalty * len(set(c)) / ngram_size for c in completions]\n    return accuracy_reward\n",
     "get_repetition_penalty_reward(4)"),
]  # fmt: skip


@pytest.mark.parametrize(("own", "call"), OWN)
@pytest.mark.parametrize("before", ["from trl.rewards import *\n", "from trl.rewards import accuracy_reward\n"])
def test_what_a_script_defines_is_its_own_also_where_it_imports_theirs(own: str, call: str, before: str):
    found = read_script(f"{before}{own}from trl import GRPOTrainer\nGRPOTrainer('a/b', reward_funcs=[{call}]).train()")
    assert [one["name"] for one in found.raw["rewards"]] == ["accuracy_reward"]
    assert [one.name for one in found.functions] == ["accuracy_reward"]


@pytest.mark.parametrize(
    ("before", "name", "taken"),
    [
        ("from trl.rewards import *", "accuracy_reward", "math_equivalence"),
        ("from open_r1.rewards import *", "format_reward", "regular_expression"),
        ("from open_r1.rewards import accuracy_reward", "accuracy_reward", "math_equivalence"),
        ("from open_r1_of_mine import accuracy_reward", "accuracy_reward", "accuracy_reward"),
        ("from mine import *", "accuracy_reward", "accuracy_reward"),
        ("", "accuracy_reward", "accuracy_reward"),
    ],
)
def test_one_is_theirs_by_where_it_is_imported_from(before: str, name: str, taken: str):
    text = f"{before}\nfrom trl import GRPOTrainer\nGRPOTrainer('a/b', reward_funcs=[{name}]).train()"
    found = read_script(text)
    assert [one["name"] for one in found.raw["rewards"]] == [taken] and found.functions == []
    only_name = "is not defined in the script: only its name was taken."
    assert any(only_name in note for note in found.notes) is (taken == name)


# ---- what comes along ----
TOP = "import re\nWORDS = ['a', 'b']\ndef known(text):\n    return text in WORDS\n"
BY_PATTERN = (
    "def make(pattern):\n    def scorer(completions, **kwargs):\n"
    "        return [float(len(pattern.findall(c))) for c in completions]\n    return scorer\n"
)
MADE = [
    # what the script has, what reaches the trainer, the name in the library, what the note says
    ("def make(weight, words=('a',)):\n    def scorer(completions, **kwargs):\n        # a comment\n"
     "        return [weight * known(c) + len(words) for c in completions]\n    return scorer\n",
     "make(2)", "scorer", "is made by make(…): it is imported with the values"),
    ("def make(pattern):\n    import math\n    found = re.compile(pattern)\n    def helper(text):\n"
     "        return math.floor(len(found.findall(text)) / 2)\n    def scorer(completions, **kwargs):\n"
     "        return [helper(c) for c in completions]\n    return scorer\n",
     "make(r'\\w')", "scorer", "is made by make(…)"),
    ("", "lambda completions, **kwargs: [1.0 if known(c) else 0.0 for c in completions]", "reward",
     "is a lambda: it is imported as a function of this name"),
    ("short = lambda completions, **kwargs: [float(len(c) < 3) for c in completions]\n", "short", "short",
     "is a lambda: it is imported as a function of this name"),
    ("_short: object = lambda completions, **kwargs: [float(len(c) < 3) for c in completions]\n", "_short", "reward",
     "is a lambda"),
    ("START = '[' + WORDS[0]\nEND = START.upper() + 'd]'\n" + BY_PATTERN,
     "make(re.compile(START + END, re.I))", "scorer", "is made by make(…)"),
    (BY_PATTERN + "def main():\n    return make(re.compile('|'.join(map(re.escape, sorted(WORDS)))))\n", "main()",
     "scorer", "is made by make(…)"),
    (BY_PATTERN + "FOUND = [re.escape(word) for word in WORDS]\nBOTH = re.compile(f'({str().join(FOUND)})', re.I)\n",
     "make(BOTH)", "scorer", "is made by make(…)"),
    ("class LongJudge:\n    def __init__(self, limit=3):\n        self.limit = limit\n"
     "    def __call__(self, completions, **kwargs):\n        \"\"\"Long \\\"ones\\\".\"\"\"\n"
     "        return [float(len(c) > self.limit) for c in completions]\n",
     "LongJudge(limit=1)", "long_judge", "is an object that is called"),
    ("class Judge:\n    limit = 1\n    def score(self, completions, **kwargs):\n"
     "        return [float(len(c) > self.limit) for c in completions]\njudge = Judge()\n",
     "judge.score", "score", "is a method of an object"),
    ("class Judge:\n    @staticmethod\n    def score(completions, **kwargs):\n"
     "        return [float(known(c)) for c in completions]\n",
     "Judge.score", "score", "is a method of Judge"),
    ("class Judge:\n    async def __call__(self, completions, **kwargs):\n"
     "        return [float(known(c)) for c in completions]\n",
     "Judge()", "judge", "is an object that is called"),
]  # fmt: skip
COMPLETIONS = ["a", "abcd", "", "b"]


def reading(before: str, reward: str) -> ScriptImport:
    return read_script(f"{TOP}{before}from trl import GRPOTrainer\nGRPOTrainer('x/y', reward_funcs=[{reward}]).train()")


def scores(function: Any) -> list[float]:
    made = function(completions=COMPLETIONS, prompts=COMPLETIONS)
    if not asyncio.iscoroutine(made):
        return made
    with ThreadPoolExecutor(1) as apart:  # the browser's tests of this process keep a loop in this thread
        return apart.submit(asyncio.run, made).result()


@pytest.mark.parametrize(("before", "reward", "name", "words"), MADE, ids=[f"{row[1][:20]}-{row[2]}" for row in MADE])
def test_what_other_code_made_comes_along_and_scores_the_same(before: str, reward: str, name: str, words: str):
    found = reading(before, reward)
    (one,) = found.functions
    assert (one.name, one.places, one.problems) == (name, [0], []), one.code
    assert f"The reward “{name}” (line " in "\n".join(found.notes) and words in "\n".join(found.notes)
    theirs: dict[str, Any] = {}
    exec(f"{TOP}{before}made = {reward}", theirs)  # noqa: S102
    ours: dict[str, Any] = {}
    exec(one.code, ours)  # noqa: S102
    assert scores(ours[name]) == scores(theirs["made"])


def test_one_factory_that_is_called_twice_gives_two_functions():
    found = reading(MADE[0][0], "make(2), make(3)")
    assert [one["name"] for one in found.raw["rewards"]] == ["scorer", "scorer_2"]
    assert ["weight=2" in one.code for one in found.functions] == [True, False]
    assert "def scorer_2(completions" in found.functions[1].code and "# a comment" in found.functions[1].code


@pytest.mark.parametrize(
    ("before", "reward", "words"),
    [
        ("def make(tokenizer):\n    def score(completions, **k):\n        return [len(tokenizer(c))]\n"
         "    return score\n", "make(load('x'))", "it uses “tokenizer”, which is known only while the script runs"),
        ("def make():\n    count = 0\n    def score(completions, **k):\n        nonlocal count\n        count += 1\n"
         "        return [count for c in completions]\n    return score\n", "make()", "(nonlocal)"),
        ("class Judge:\n    def __init__(self, model):\n        self.model = model\n"
         "    def __call__(self, completions, **k):\n        return [0.0 for c in completions]\n",
         "Judge(load('x'))", "“Judge(1)”"),
        ("def make(WORDS):\n    def score(completions, **k):\n        return [known('c') + len(WORDS)]\n"
         "    return score\n", "make(['z'])", "“WORDS”, which means two things"),
        ("class Judge:\n    def score(self, completions, **k):\n        return [0.0]\n", "Judge.score",
         "an object of Judge"),
        *((f"import os\n{before}def make(part):\n    def score(completions, **k):\n        return [part for c in c]\n"
           "    return score\n", f"make({made})", "it uses “part”, which is known only while the script runs")
          for before, made in (
            ("", "os.environ['X'] + 'a'"), ("", "re.compile(open('x').read())"), ("", "list(map(open, WORDS))"),
            ("data = load('x')\n", "len(data)"), ("WORDS.append(load('x'))\n", "'|'.join(WORDS)"),
            ("LAST = 'a'\nSOME = re.compile(LAST, re.I)\nLAST = 'b'\n", "SOME"),
            ("def inner(WORDS):\n    return make(re.compile('|'.join(WORDS), re.I))\n", "re.compile(load('x'), 2)"),
        )),
    ],
)  # fmt: skip
def test_what_only_running_the_script_would_tell_is_named(before: str, reward: str, words: str):
    found = reading(before, reward)
    assert found.functions == [] and "rewards" not in found.raw
    said = "\n".join(found.notes)
    assert words in said and "Write it under Rewards." in said


# ---- what a partial gives ----
PARTIAL = [
    # the function's arguments, and what a partial gives of them
    ("completions, low=1, **kwargs", "low=2"),
    ("completions, low, **kwargs", "low=2"),
    ("completions, low: int = 1, prompts=None, **kwargs", "low=2"),
    ("\n    completions,\n    low=1,\n    **kwargs,\n", "low=2"),
    ("completions, *, low=1, **kwargs", "low=2"),
]


@pytest.mark.parametrize(("arguments", "given"), PARTIAL)
def test_what_a_partial_gives_arrives_as_a_parameter(arguments: str, given: str):
    before = (
        f"from functools import partial\ndef longer({arguments}):\n    # why\n"
        "    return [float(len(c) > low) for c in completions]\n"
    )
    found = reading(before, f"partial(longer, {given})")
    (one,) = found.functions
    assert found.raw["rewards"] == [{"name": "longer", "parameters": {"low": 2}, "weight": 1.0}]
    (known,) = signature.analyse(one.code, "longer").functions
    assert [each["name"] for each in known.parameters] == ["low"]
    assert known.arguments == ["completions", *(["prompts"] if "prompts" in arguments else [])]
    assert one.problems == [] and one.where == [] and "# why" in one.code
    ours: dict[str, Any] = {}
    exec(one.code, ours)  # noqa: S102
    assert ours["longer"](completions=COMPLETIONS, **found.raw["rewards"][0]["parameters"]) == [0.0, 1.0, 0.0, 0.0]


def test_what_a_partial_gives_that_can_be_no_parameter_is_said():
    body = "    return [1.0 for c in completions]\n"
    rest = f"from functools import partial\ndef score(completions, **kwargs):\n{body}"
    called = (
        "from functools import partial\ndef score(completions, low=1, **kwargs):\n"
        "    return [low for c in completions] or score(completions, 3)\n"
    )
    for before in (rest, called):
        found = reading(before, "partial(score, low=2)")
        assert found.raw["rewards"] == [{"name": "score", "weight": 1.0}]
        assert any(
            "score's parameter low (line" in note and "set it in the function's code" in note for note in found.notes
        )


# ---- what a factory is called with ----
FACTORY = """
def make(most, low=0.1, words=("a",), kind="x", answer_only=True):
    def helper(text):
        return len(text) < low
    def scorer(completions, **kwargs):
        kind = "own"
        return [float(len(c) > most) + helper(c) + len(words) * answer_only for c in completions]
    return scorer
"""


def test_what_a_factory_is_called_with_are_parameters() -> None:
    """Those that its function alone reads, and as what they are: `low` is a helper's, `words` no plain value."""
    found = reading(FACTORY, "make(9), make(-2.5, answer_only=False)")
    first, second = found.functions
    assert "def scorer(completions, *, most=9, answer_only=True, **kwargs):" in first.code
    assert "def scorer_2(completions, *, most=-2.5, answer_only=False, **kwargs):" in second.code
    assert "low = 0.1\n" in first.code and "most = " not in first.code and "kind = 'x'" not in first.code
    said = "it is imported with the values that it was made with; most and answer_only can be set in each run."
    assert any(said in note for note in found.notes)
    place: dict[str, Any] = {}
    exec(first.code, place)  # noqa: S102 — the test's own code
    one = ["a" * 10, "b"]
    assert place["scorer"](one) == [2.0, 1.0] and place["scorer"](one, most=20) == [1.0, 1.0]
