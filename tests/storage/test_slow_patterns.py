"""A pattern that Python would search for until the end of time is given up, in a sentence that names its field."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home import paths
from groupwise.storage.registry.messages.completions import SpecPart
from groupwise.storage.registry.questions import CHECK_DATA, PREVIEW
from groupwise.storage.spec.rows import patterns, row_filter
from groupwise.storage.spec.spec import DataSpec
from groupwise.worker.data import data
from groupwise.worker.questions import server
from groupwise.worker.questions.workbench import rows as workbench_rows

TANGLED = r"^(a|aa)+$"
ROWS = [{"q": f"{n}?", "a": "a" * 60 + "!"} for n in range(50)]
ASKED: dict[str, Any] = {"source": "file:rows.jsonl", "prompt_template": "{q}", "answer_column": "a"}
# Of the two fields that hold a pattern: what is asked, and where the problem is.
FIELDS = {
    "data.answer_pattern": {"answer_pattern": TANGLED},
    "data.filter.1": {"filter": ["q is not empty", f"a matches {TANGLED}"]},
}


@pytest.fixture(autouse=True)
def rows(registry_home: Path) -> None:
    (paths.data_folder() / "rows.jsonl").write_text("\n".join(json.dumps(row) for row in ROWS))


def test_such_a_pattern_would_take_longer_than_anyone_waits() -> None:
    began = time.monotonic()
    with pytest.raises(patterns.TooSlow):
        patterns.search_pattern(TANGLED, ROWS[0]["a"])
    assert time.monotonic() - began < 20 * patterns.SECONDS
    assert patterns.search_pattern(r"#### (.+)", "so #### 42")[1] == "42"


@pytest.mark.parametrize("field", FIELDS)
def test_everything_that_looks_at_rows_gives_it_up_and_names_the_field(field: str) -> None:
    began = time.monotonic()
    asked = ASKED | FIELDS[field]
    for answer in (
        server.answer_question(PREVIEW, {"data": asked}),
        server.answer_question(CHECK_DATA, {"data": asked, "all": True}),
    ):
        said = answer.get("problems") or []
        [words] = [problem["message"] for problem in said if problem["field"] == field]
        assert "takes more than 0.25 s on one cell" in words and "(a|aa)+" in words, answer
    for load in (lambda spec: data.load_data(spec, chat=True), _on_the_workbench):
        with pytest.raises(data.DataError, match="takes more than 0.25 s on one cell") as caught:
            load(DataSpec.model_validate(asked))
        assert caught.value.field == field
    assert time.monotonic() - began < 10


def _on_the_workbench(spec: DataSpec) -> None:
    workbench_rows.find_rows(SpecPart(data=spec), 4)


def test_marks_that_come_a_hundred_thousand_times_are_no_guess() -> None:
    (paths.data_folder() / "rows.jsonl").write_text(json.dumps({"q": "1?", "a": "<answer>" * 100_000}))
    began = time.monotonic()
    assert server.answer_question(PREVIEW, {"data": {**ASKED}})["guess"]["data.answer_pattern"] is None
    assert time.monotonic() - began < 60  # a guess that tried them all would take hours


@pytest.mark.parametrize("pattern", ["(", "a{2", "(?P<a>x)(?P<a>y)", "[" * 400, r"\p{Greek}", "(?<n>a)"])
def test_what_is_no_pattern_for_python_is_said_so_everywhere(pattern: str) -> None:
    """The plain script searches with `re`; what only the package `regex` understands would fail there."""
    wrong = patterns.fault(pattern)
    assert bool(wrong) is (pattern != "a{2"), wrong
    spec = DataSpec.model_validate(ASKED | {"answer_pattern": pattern})
    if wrong:
        with pytest.raises(data.DataError, match="is not a regular expression"):
            data.check_pattern(spec)
        with pytest.raises(row_filter.ConditionError, match="is not a regular expression"):
            row_filter.parse_condition(f"a matches {json.dumps(pattern)}")


@pytest.mark.parametrize("pattern", ["2{d}", "(?:ab){e<=1}", "a{i,d}", r"a\{d}", "[{d}]b", "a{2}", "a{,2}b", "a{", "{}",
                                     r"\N{DIGIT TWO}{d}", r"\\{d}"])  # fmt: skip
def test_a_brace_is_read_as_python_reads_it(pattern: str) -> None:
    """“2{d}” found a 2, or nothing: `regex` searches for about that."""
    for text in (
        "2",
        "2{d}",
        "ab",
        "aab",
        "a{d}",
        "{b",
        "db",
        "aa",
        "a{",
        "{}",
        "\\{d}",
        "\\",
        "(?:ab){e<=1}",
        "a{i,d}",
    ):
        expected = re.search(pattern, text)
        found = patterns.search_pattern(pattern, text)
        assert (found and found[0]) == (expected and expected[0]), (pattern, text)
