"""The reward functions of a script, each with what it needs of it and nothing else."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from groupwise.storage.checks.script_reader import read_script
from groupwise.storage.checks.script_reader.reward_code import ScriptFunction
from groupwise.storage.spec.spec import from_dict
from groupwise.worker.data import data
from tests.support.foreign_scripts import GSM8K, UNSLOTH_NOTEBOOK, notebook

REST = "\nfrom trl import GRPOTrainer\nGRPOTrainer('a/b', reward_funcs=[score]).train()\n"


def function(text: str) -> ScriptFunction:
    (found,) = read_script(text + REST).functions
    ast.parse(found.code)
    return found


def test_a_function_brings_what_it_needs_and_no_more():
    one, two = read_script(GSM8K).functions
    assert one.imports == ["import re"] and one.problems == [] and one.places == [0]
    assert [getattr(node, "name", None) for node in ast.parse(one.code).body] == [
        None,
        None,
        "last_number",
        "right_answer",
    ]
    assert two.code.startswith("def short(") and two.imports == [] and "a global that" not in two.code


@pytest.mark.parametrize(
    ("before", "needs"),
    [
        ("import numpy as np", "np.mean([1])"),
        ("try:\n    import regex as re\nexcept ImportError:\n    import re", "re.findall('a', 'b')"),
        ("WORDS = {}\nWORDS['a'] = 1", "WORDS['a']"),
        ("class Judge:\n    limit = 3", "Judge.limit"),
        ("A = 2\nB = A + 1", "B"),
        ("if True:\n    LIMIT = 3\nelse:\n    LIMIT = 4", "LIMIT"),
        ("def old():\n    return 1\n\n\ndef old():\n    return 2", "old()"),
    ],
)
def test_what_it_uses_comes_along(before: str, needs: str):
    body = f"def score(completions, **kwargs):\n    return [{needs} for _ in completions]\n"
    found = function(f"unused = load()\n{before}\n{body}")
    assert "unused" not in found.code and "GRPOTrainer" not in found.code
    kept = before if "old" not in before else "def old():\n    return 2"
    assert kept in found.code and body.rstrip() in found.code
    assert before.count("return 1") == 0 or "return 1" not in found.code


def test_of_imports_that_bring_several_names_only_those_that_it_uses_come_along():
    body = "def score(completions, **kwargs) -> List[float]:\n    return [float('a' in re.escape(c))]\n"
    found = function(
        f"import re, torch, os  # all that the notebook needs\nfrom typing import (\n    Any,\n    List,\n)\n{body}"
    )
    assert found.imports == ["import re", "from typing import List"] and body.rstrip() in found.code
    assert "torch" not in found.code and "Any" not in found.code


def test_the_last_function_of_a_name_is_the_one_that_is_trained_with():
    found = function("def score(completions, **k):\n    return [1]\n\n\ndef score(completions, **k):\n    return [2]\n")
    assert "return [2]" in found.code and "return [1]" not in found.code


def test_decorators_and_future_imports_stay():
    text = "from __future__ import annotations\nimport functools\n\n\n@functools.wraps(print)\n"
    found = function(text + "def score(completions, **k):\n    return [0.0 for _ in completions]\n")
    assert found.code.startswith("from __future__ import annotations\nimport functools\n\n\n@functools.wraps(print)\n")


def test_what_is_wrong_with_a_function_is_said_by_its_own_lines():
    found = function("x = 1\n\n\ndef score(completions):\n    return len(completions)\n")
    assert [(problem.line, "**kwargs" in problem.message) for problem in found.problems] == [(1, True)]
    assert found.where == ["line 4"], "what is told of it before it is taken is by the script's lines"
    heavy = function(
        "tok = AutoTokenizer.from_pretrained('a')\n\n\ndef score(completions, **k):\n    return tok(completions)\n"
    )
    assert heavy.code.startswith("# tok = AutoTokenizer.from_pretrained('a')\n")
    assert [problem.message for problem in heavy.problems] == [
        "“tok” got its value from what the script loaded. Give it one above."
    ]
    assert heavy.where == ["line 5"]


def test_what_is_wrong_is_said_by_the_lines_of_the_script_wherever_the_function_stands():
    inner = "class R:\n    @staticmethod\n    def score(completions, penalty=0.5, **k):\n        return [penalty] * 2\n"
    text = f"import re\n\n{inner}\nfrom trl import *\nGRPOTrainer('a/b', reward_funcs=[R.score]).train()\n"
    (found,) = read_script(text).functions
    assert [(where, "“penalty”" in one.message) for where, one in zip(found.where, found.problems, strict=True)] == [
        ("line 5", True)
    ]
    cells = notebook("import re\nN = 2", f"x = 1\n{inner}", "from trl import *",
                     "GRPOTrainer('a/b', reward_funcs=R.score).train()")  # fmt: skip
    assert [one.where for one in read_script(cells).functions] == [["code cell 2, line 4"]]


def test_a_function_of_a_notebook_has_its_code_without_commands():
    (found,) = read_script(UNSLOTH_NOTEBOOK).functions
    assert found.name == "check_answer" and "!pip" not in found.code


def test_a_function_with_parameters_and_one_that_is_named_twice():
    text = "def score(completions, *, most=3, **k):\n    return [0.0 for _ in completions]\n"
    found = read_script(
        f"from functools import partial\n{text}GRPOTrainer('a/b', reward_funcs=[partial(score, most=5), score])"
    )
    assert found.raw["rewards"] == [
        {"name": "score", "parameters": {"most": 5}, "weight": 1.0},
        {"name": "score_2", "weight": 1.0},
    ]
    assert [one.places for one in found.functions] == [[0], [1]]


def test_what_a_partial_gives_by_place_is_the_parameter_of_that_place():
    code = "def scaled(factor, completions, **kwargs):\n    return [factor * len(c) for c in completions]\n"
    found = read_script(f"from functools import partial\n{code}GRPOTrainer('a/b', reward_funcs=[partial(scaled, 0.5)])")
    assert found.raw["rewards"] == [{"name": "scaled", "parameters": {"factor": 0.5}, "weight": 1.0}]
    (function,) = found.functions
    assert "def scaled(completions, *, factor=0.5, **kwargs):" in function.code and not function.problems
    for given in ("partial(scaled, 0.5, factor=1)", "partial(scaled, 0.5, [], 3)"):
        text = f"from functools import partial\n{code}GRPOTrainer('a/b', reward_funcs=[{given}])"
        assert "rewards" not in read_script(text).raw, "which Python itself refuses"


MAPPED = (
    "from datasets import load_dataset\nfrom trl import *\n"
    "ds = load_dataset('json', data_files='train.jsonl', split='train').map(lambda r: {'prompt': r['problem'], %s})\n"
)


def mapped(code: str, made: str = "'target': r['solution'].replace(',', '')") -> tuple[ScriptFunction, str]:
    """The only function of a script that makes the answer of a column, and its notes."""
    found = read_script(MAPPED % made + code + "\nGRPOTrainer('a/b', reward_funcs=f2, train_dataset=ds).train()\n")
    (one,) = found.functions
    return one, "\n".join(found.notes)


@pytest.mark.parametrize("arguments", ["completions, target", "completions, *, target: list"])
def test_a_parameter_for_the_answer_is_called_as_runs_give_it(arguments: str):
    body = '    """Whether the target is hit."""  # target\n    return ["ü" in c or "é" == t for c, t in zip(c, %s)]\n'
    found, notes = mapped(f"def f2({arguments}, **kw):\n{body % 'target'}")
    assert found.code == f"def f2({arguments.replace('target', 'answer')}, **kw):\n{body % 'answer'}"
    assert "The column “target” (line 3) is the answer, which rewards here are given as “answer”: " in notes
    assert "f2's parameter target is called answer now." in notes


def test_a_method_is_called_with_the_answer():
    call = "class F2:\n    def __call__(self, completions, target, **kw):\n        return target\n\n\nf2 = F2()\n"
    found, notes = mapped(call)
    assert "(completions, answer, **kw):\n    return _f2(completions=completions, target=answer, **kw)" in found.code
    assert "f2's parameter target is called answer now." in notes


@pytest.mark.parametrize(
    "code",
    [
        "def f2(completions, target, answer=None, **kw):\n    return target\n",
        "def f2(completions, target, **kw):\n    return [len(kw['answer']) for _ in target]\n",
        "def f2(completions, target, **kw):\n    answer = [t.strip() for t in target]\n    return answer\n",
        "def f2(completions, target, **kw):\n    return [(lambda target: 1)(t) for t in target]\n",
        "def f2(completions, target, **kw):\n    return [locals()['target'] for t in target]\n",
        "def f2(completions, **kw):\n    return kw['target']\n",
        "def f2(completions, **kw):\n    return kw.get('target')\n",
    ],
)
def test_a_function_that_cannot_be_changed_is_named_with_what_to_do(code: str):
    found, notes = mapped(code)
    assert found.code == code
    assert "The reward “f2” (line 3) asks for the column “target”, which the run does not give: once it is" in notes
    assert "change it under Rewards to take “answer” in its place." in notes


def test_what_the_run_gives_by_the_same_name_stays():
    code = "def f2(completions, solution, **kw):\n    return solution\n"
    assert mapped(code, "'solution': r['solution']")[0].code == code
    assert "answer" in mapped(code, "'solution': r['solution'].strip('$')")[0].code
    passed = "def f2(completions, solution, **kw):\n    return g(completions, solution=solution, **kw)\n"
    found, notes = mapped(passed, "'solution': r['solution'].strip('$')")
    assert found.code == passed and "which the run gives as the data has it" in notes


# ---- prompts that are texts ----
SCORED = """
from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

def length(completions, **kwargs):
    return [-abs(len(c) - 40) / 40 for c in completions]

def has(completions, answer, **kwargs):
    return [float(a in c) for a, c in zip(answer, completions)]

def chatty(completions, **kwargs):
    return [float(len(c[0]["content"])) for c in completions]

data = load_dataset("json", data_files="mine.jsonl", split="train").map(lambda r: {"prompt": PROMPT})
GRPOTrainer("a/b", REWARDS, GRPOConfig(), train_dataset=data).train()
"""
CHAT = 'tok.apply_chat_template([{"role": "user", "content": r["question"]}], tokenize=False)'
MESSAGES = 'then get lists of messages, not texts: in “length” and “has”, score completion[-1]["content"]'


def read_prompt(prompt: str, rewards: str = "[length, has, chatty]") -> tuple[Any, str]:
    found = read_script(SCORED.replace("PROMPT", prompt).replace("REWARDS", rewards))
    row = {"question": "1+1?", "answer": "2", "chat": [{"role": "user", "content": "1+1?"}]}
    return data.prompt(row, from_dict(found.raw).data, chat=True), "\n".join(found.notes)


@pytest.mark.parametrize(
    "prompt", ["f\"Q: {r['question']}\"", CHAT, 'tok.apply_chat_template(r["chat"], tokenize=False)']
)
def test_functions_that_score_texts_are_named_where_prompts_become_messages(prompt: str):
    asked, said = read_prompt(prompt)
    assert isinstance(asked, list) and asked[0]["content"].endswith("1+1?"), "TRL gives functions messages then"
    assert said.count(MESSAGES) == 1 and "“chatty”" not in said


@pytest.mark.parametrize("prompt", ['r["question"]', "f\"{r['question']}\"", 'r["question"].strip()'])
def test_a_text_that_is_a_column_stays_text(prompt: str):
    asked, said = read_prompt(prompt)
    assert asked == "1+1?" and "messages" not in said


@pytest.mark.parametrize("prompt", ["f\"Q: {r['question']}\"", CHAT, '[{"role": "user", "content": r["question"]}]'])
def test_functions_that_score_messages_are_not_named(prompt: str):
    rewards = "[length, has]" if prompt.startswith("[") else "[chatty]"
    assert "lists of messages" not in read_prompt(prompt, rewards)[1]


def test_the_answer_that_a_function_asks_for_is_the_source_s_column():
    found = read_script(SCORED.replace("PROMPT", 'r["question"]').replace("REWARDS", "has"))
    assert from_dict(found.raw).data.answer_column == "answer"
    assert "data.answer_column answer (which the rewards compare with)" in found.notes[-1]
    without = read_script(SCORED.replace("PROMPT", 'r["question"]').replace("REWARDS", "length"))
    assert without.raw["data"]["answer_column"] is None


def test_of_an_imported_function_in_a_partial_the_parameters_that_were_taken_are_named() -> None:
    head = "from functools import partial\nfrom mine import sql_ok\n"
    cases = {'dialect="pg"': "name and dialect were", "a=1, b=2": "name, a and b were", "a=n()": "name was"}
    for given, taken in cases.items():
        found = read_script(f"{head}GRPOTrainer('a/b', reward_funcs=[partial(sql_ok, {given})])")
        words = f"is not defined in the script: only its {taken} taken. Save its code under Rewards."
        assert any(one.startswith("sql_ok (line ") and one.endswith(words) for one in found.notes), found.notes


BY_NAME = (
    "import sys\nfrom trl import GRPOTrainer\ndef r(completions, **kwargs):\n    return [1.0] * len(completions)\n"
    "names = ['r']\ndef named(name):\n    return globals()[name]\n"
    "GRPOTrainer('a/b', [{}, lambda completions, **k: [0.0] * len(completions)]).train()\n"
)


@pytest.mark.parametrize(
    "given",
    ["*[globals()[n] for n in names]", "globals().get('r')", "locals()['r']", "vars()['r']", "named('r')",
     "getattr(sys.modules[__name__], 'r')"],
)  # fmt: skip
def test_a_function_that_is_looked_up_by_its_name_is_taken(given: str):
    found = read_script(BY_NAME.format(given))
    assert [one["name"] for one in found.raw["rewards"]] == ["r", "reward"]
    assert [one.name for one in found.functions] == ["r", "reward"] and "was not taken" not in "".join(found.notes)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("globals()[sys.argv[1]]", "looked up by a name known only when the script runs, and was not taken: choose a"),
        ("{'a': r}[which()]", "looked up by a name known only when the script runs, and was not taken: choose a"),
        (
            "globals()['missing']",
            "looked up by the name “missing”, which the script does not define, and was not taken",
        ),
        ("mine.ALL['a']", "an entry of mine.ALL, which cannot be followed, and was not taken: choose a reward here."),
    ],
)
def test_of_one_that_is_looked_up_otherwise_it_is_said_by_what(given: str, why: str):
    found = read_script(BY_NAME.format(given))
    assert [one["name"] for one in found.raw["rewards"]] == ["reward"]
    assert f"A reward (line 8) is {why}" in "\n".join(found.notes)


def test_of_a_list_that_is_looked_up_by_unknown_names_that_is_said():
    text = BY_NAME.replace("[{}, lambda completions, **k: [0.0] * len(completions)]", "[globals()[n] for n in which()]")
    said = "reward_funcs (line 8) are looked up by names known only when the script runs: choose them here."
    assert said in read_script(text).notes
