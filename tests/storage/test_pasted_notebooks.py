"""Notebooks that train with GRPO are pasted whole, and what is left of them are reward functions that run."""

from __future__ import annotations

import json
import re

import pytest

from groupwise.storage.library.rewards import library
from groupwise.storage.library.rewards.pasted import NOTEBOOK, clean_paste
from groupwise.storage.library.rewards.signature import analyse
from groupwise.storage.library.rewards.strip_script import keep_only
from groupwise.storage.spec.words.problem import BLOCKING
from groupwise.worker.sandbox import client
from tests.support.notebooks import BAD, GOOD, NOTEBOOKS, as_file, whole


def pasted_whole(text: str) -> str:
    """As the page does it: cleaned, then without the script."""
    return keep_only(clean_paste(text))


def code_lines(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(("#", "pass  # ")))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_pasted_whole_leaves_reward_functions_only(name: str):
    notebook = NOTEBOOKS[name]
    text = pasted_whole(notebook.text)
    analysis = analyse(text)
    assert [each.message for each in analysis.problems if each.level == BLOCKING] == []
    assert notebook.function in [each.name for each in analysis.functions]
    left = code_lines(text)
    assert [each for each in notebook.gone if each in left] == []
    assert [each for each in notebook.stays if each not in left] == []
    assert not any(word in left for word in ("tokenizer", "unsloth", "pip install", "%%capture"))
    assert keep_only(text) == text and clean_paste(text) == text


def test_what_is_left_runs_in_the_sandbox_and_scores():
    batch = {
        "completions": [[{"role": "assistant", "content": text}] for text in (GOOD, BAD)],
        "prompts": [[{"role": "user", "content": "2 + 2?"}]] * 2,
        "answer": ["4", "4"],
    }
    for name, notebook in NOTEBOOKS.items():
        host = client.Host([client.Code(notebook.function, pasted_whole(notebook.text), {})])
        try:
            result = host.score(notebook.function, batch)
        finally:
            host.close()
        assert (name, result.failures, result.values) == (name, [], notebook.scores)


def test_a_notebooks_file_is_no_python_and_its_code_is_taken_out():
    text = as_file("def f(completions, **kwargs):\n    return [1.0 for _ in completions]")
    [problem] = analyse(text).problems
    assert (problem.message, problem.level, [each.name for each in analyse(text).functions]) == (
        NOTEBOOK,
        BLOCKING,
        ["f"],
    )
    clean = clean_paste(text)
    assert analyse(clean).problems == [] and "# %%bash\n# for f in" in clean and "not_code" not in clean
    older = json.dumps({"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1\n", "y = 2"]}]}]})
    assert clean_paste(older) == "x = 1\ny = 2\n"
    for other in ('{"cells": [{"cell_type": 3}, 7]}', '{"cell_type": "code"', '{"cell_type": [{}]}'):
        assert clean_paste(other).strip() in ("", other)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("return [len(tokenizer(c)) for c in completions]", "“tokenizer” was loaded by the script, and is not here. "
         "completion_ids has the tokens of each completion: add that argument, and use len(ids)."),
        ("return [float(c in dataset['answer']) for c in completions]", "“dataset” was loaded by the script, and is "
         "not here. A reward function gets the row's columns as arguments, such as answer."),
    ],
)  # fmt: skip
def test_what_a_function_needs_of_the_script_itself_is_said(code: str, words: str):
    text = pasted_whole(whole(f"def f(completions, **kwargs):\n    {code}\n"))
    blocking = [each for each in analyse(text).problems if each.level == BLOCKING]
    assert [each.message for each in blocking] == [words] and "from_pretrained" not in code_lines(text)
    own = text.replace("tokenizer(c)", "c").replace("dataset['answer']", "'a'")
    assert [each for each in analyse(own).problems if each.level == BLOCKING] == []


@pytest.mark.usefixtures("registry_home")
def test_relative_imports_are_refused_unless_the_code_catches_them():
    body = "\ndef f(completions, **kwargs):\n    return [x for _ in completions]\n"
    words = "Line 2: Relative imports don't work here: paste the code itself."
    with pytest.raises(library.LibraryError, match=re.escape(words)):
        library.save_reward("f", f"import re\nfrom .tools import x{body}", taken=[])
    guarded = f"try:\n    from .tools import x\nexcept ImportError:\n    x = 1.0{body}"
    assert library.save_reward("f", guarded, taken=[]).name == "f"
    unneeded = f"from .data import rows\nrows()\nx = 1.0{body}"
    assert library.save_reward("f", keep_only(unneeded), taken=[]).code.startswith("# from .data import rows\n# rows()")
