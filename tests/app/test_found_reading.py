"""How a file was found to be read goes into the spec of the run that is launched, and into the script that is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import view
from groupwise.app.pages.new.found_reading import is_unread, reading_key, write_found_reading
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.registry import questions, registry
from groupwise.storage.spec.spec import parse_spec
from groupwise.worker.data.preview import answer_preview

TEXT = """name: german  # of the class 3b
data:
  source: file:a.csv
  prompt_template: "{ä}"
  answer_column: b  # the last one
rewards:
- name: correctness
"""


@pytest.fixture
def asked(registry_home: Path) -> int:
    """The number of the worker's answered preview of this data."""
    (paths.data_folder() / "a.csv").write_bytes("ä;b\n1;2\n".encode("cp1252"))
    question = view.about_data(parse_spec(TEXT))
    number = questions.ask_question(question)
    questions.answer_question(number, answer_preview(question))
    return number


def test_a_launched_spec_says_how_its_file_is_read_and_keeps_every_other_line(asked: int) -> None:
    written = write_found_reading(TEXT, parse_spec(TEXT))
    data = parse_spec(written).data
    assert (data.separator, data.quote, data.encoding, data.skip_lines) == ("semicolon", "double", "cp1252", 0)
    assert [line for line in written.splitlines() if line in TEXT.splitlines()] == TEXT.splitlines()
    assert write_found_reading(written, parse_spec(written)) == written
    said = TEXT.replace("  source", "  encoding: latin-1\n  source")
    assert write_found_reading(said, parse_spec(said)) == said  # of other settings nothing was found
    task = TEXT.replace("file:a.csv", "task:arithmetic")
    assert write_found_reading(task, parse_spec(task)) == task


MAPPED = TEXT.replace("  answer_column: b", "  answer_numbers: comma\n  limit: 1\n  answer_column: b")


def test_what_was_found_is_kept_whatever_was_made_of_the_rows_since(asked: int) -> None:
    assert not is_unread(parse_spec(MAPPED))
    data = parse_spec(write_found_reading(MAPPED, parse_spec(MAPPED))).data
    assert (data.separator, data.encoding, data.answer_numbers, data.limit) == ("semicolon", "cp1252", "comma", 1)


def test_what_the_page_was_told_counts_once_the_worker_s_answer_is_gone(asked: int) -> None:
    with registry.write_registry() as db:
        db.execute("DELETE FROM question")
    spec = parse_spec(MAPPED)
    assert is_unread(spec)
    assert write_found_reading(MAPPED, spec) == MAPPED
    reading = {"key": reading_key(spec.data), "settings": {"data.separator": "semicolon", "data.encoding": "cp1252"}}
    known = {"reading": reading}
    assert not is_unread(spec, known)
    data = parse_spec(write_found_reading(MAPPED, spec, known)).data
    assert (data.separator, data.encoding, data.quote) == ("semicolon", "cp1252", None)
    other = MAPPED.replace("  source", "  skip_lines: 1\n  source")  # read otherwise since
    assert write_found_reading(other, parse_spec(other), known) == other
    task = parse_spec(TEXT.replace("file:a.csv", "task:arithmetic"))
    assert not is_unread(task) and not is_unread(parse_spec(TEXT.replace("a.csv", "a.parquet")))


def test_the_script_reads_the_file_as_the_page_has_seen_it(asked: int) -> None:
    key = view.describe_text(TEXT, Offer())["keys"]["reading"]

    def script(reading: Any) -> str:
        return str(view.describe_text(TEXT, Offer(), {"reading": reading})["script"])

    seen = {"data.separator": "semicolon", "data.encoding": "cp1252"}
    assert 'SEPARATOR = ";"\nENCODING = "cp1252"\n' in script({"key": key, "settings": seen})
    for odd in (
        None, [], {"key": "other", "settings": seen}, {"key": key}, {"key": key, "settings": [1]},
        {"key": key, "settings": {"data.separator": ["x"]}}, {"key": key, "settings": {"data.source": "file:b.csv"}},
    ):  # fmt: skip
        assert "SEPARATOR" not in script(odd) and '"a.csv"' in script(odd)
