"""Code that was pasted from notebooks, terminals and web pages is read, said, and cleaned; no text is too much."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupwise.storage.library.rewards.pasted import count_foreign
from groupwise.storage.library.rewards.signature import analyse, clean_paste
from groupwise.storage.spec.words.problem import BLOCKING

BODY = "\n    return [1.0 for _ in completions]\n"
CLEAN = f"import re\ndef f(completions, **kwargs):{BODY}"
PASTED = {
    "a cell": f"%pip install x\n!ls\n%%time\n{CLEAN}files = !ls\nf?\n",
    "a terminal": "".join(
        f"{'... ' if line[:1] in (' ', '') else '>>> '}{line}\n" for line in CLEAN.split("\n")
    ) + ">>> f(['a'])\n[1.0]\n",
    "IPython": "In [3]: import re\nIn [4]: def f(completions, **kwargs):\n   ...:     return [1.0 for _ in "
               "completions]\n"
               "   ...:\nOut[4]: [1.0]\n",
    "IPython's plain prompts": f"In [3]: import re\n{CLEAN[10:]}\nOut[3]: 4\nmore 'output\n",
    "a web page": f"```python\n{CLEAN}```\n",
    "a web page's spaces": CLEAN.replace("    ", "\u00a0\u00a0\u00a0\u00a0"),
    "indented": "".join(f"    {line}\n" for line in CLEAN.splitlines()),
    "a file with a mark": "\ufeff" + CLEAN,
}  # fmt: skip


@pytest.mark.parametrize("source", PASTED)
def test_what_is_pasted_from_elsewhere_is_read_and_said_and_can_be_cleaned(source: str):
    code = PASTED[source]
    analysis = analyse(code)
    assert [function.name for function in analysis.functions] == ["f"]
    assert analysis.problems and {problem.level for problem in analysis.problems} == {BLOCKING}
    new = clean_paste(code)
    assert [each for each in analyse(new).problems if each.level == BLOCKING] == []
    assert len(new.split("\n")) == len(code.split("\n"))  # lines keep their numbers
    assert clean_paste(new) == new


def test_a_magic_is_named_with_its_line_and_a_string_is_no_magic():
    code = f'%pip install x\ns = """\n%not\n>>> this\n"""\n{CLEAN}'
    analysis = analyse(code)
    assert [(each.line, each.message) for each in analysis.problems] == [
        (1, "“%pip install x” is for the notebook, not Python. Take the line out."),
    ]  # fmt: skip
    assert clean_paste(code) == "# " + code


@pytest.mark.parametrize("code", [CLEAN, "x = 10 \\\n%f\n", 's = """\n!ls\n"""\n', "def broken(:\n    x = '%d' % 3\n"])
def test_python_and_broken_python_are_left_as_they_are(code: str):
    assert clean_paste(code) == code


def test_a_magic_inside_of_a_block_leaves_the_block_whole():
    code = "def f(completions, **kwargs):\n    %time\n    return [1.0 for _ in completions]\n"
    assert analyse(code).functions and "    pass  # %time\n" in clean_paste(code)


PIECES = st.sampled_from(
    ["def f(completions, **kwargs):", "\n", "    ", "return ", "[1]", "%pip x", ">>> ", "... ", "In [1]: ", "Out[1]: ",
     "!",
     '"""', "'", "(", ")", ":", "lambda completions: 1", "\u00a0", "\ud800", "\0", "é", "#", "```", "x = ",
     "*, a=", "\\", "@"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join))
def test_no_text_however_broken_is_too_much(code: str):
    analysis = analyse(code)
    assert analysis.functions or analysis.problems
    assert all(problem.line >= 1 and problem.column >= 1 and problem.message for problem in analysis.problems)
    assert len(clean_paste(code).split("\n")) == len(code.split("\n"))


def test_lines_that_are_no_python_are_counted_as_they_become_comments() -> None:
    pasted_cell = f"!pip install trl \\\n  more\ndef f(completions, **k):\n    %time x{BODY}"
    assert count_foreign(pasted_cell) == 3
    assert count_foreign(">>> # hi\n>>> def f(c):\n...   return [1]\n>>> f(1)\n[1]\n") == 1
    assert count_foreign(f"# mine\n{CLEAN}") == 0
    cells = [{"cell_type": "code", "source": source} for source in ("%%bash\nls", pasted_cell)]
    assert count_foreign(json.dumps({"cells": cells})) == 5
