"""Cells as nobody expects them: megabytes long, lists, characters that cannot be seen. Each is said, with its row."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groupwise.storage.home import paths
from groupwise.storage.spec.spec import DataSpec, ModelSpec
from groupwise.worker.data import data, data_checks, preview
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.data.source_rows import ROW

ASKED = DataSpec(source="file:a.jsonl")


def put(*rows: dict[str, Any]) -> None:
    (paths.data_folder() / "a.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")


def told(found: Any, field: str) -> list[tuple[str, str]]:
    return [(problem.level, problem.message) for problem in found.problems if problem.field == field]


def test_a_cell_of_megabytes_is_cut_with_its_size_said(registry_home: Any) -> None:
    put({"question": "lorem ipsum dolor " * 250_000, "answer": "x" * 5_000_000}, {"question": "b", "answer": "1"})
    shown = preview.preview(ASKED, ModelSpec(), 0)
    assert shown.row.cells["question"].endswith("… (4,500,000 characters; the rest is not shown)")
    assert (shown.answer or "").endswith("… (5,000,000 characters; the rest is not shown)")
    assert shown.messages is not None and "characters; the rest is not shown)" in shown.messages[0].content
    assert 4_000_000 < (shown.tokens or 0) < 5_000_000  # each letter is a token of the starter model
    assert len(shown.model_dump_json()) < 400_000
    checked = data_checks.check_data(ASKED, ModelSpec(), 64, True)
    assert 4_000_000 < checked.lengths.longest.length < 5_000_000
    assert checked.lengths.longest.row == 0 and checked.lengths.longest.text.endswith("the rest is not shown)")


@pytest.mark.parametrize(("cell", "words"), [(["a", "b"], 'is a list, ["a", "b"]'), ({"a": 1}, "is a mapping, {")])
def test_answers_that_are_lists_are_explained(registry_home: Any, cell: Any, words: str) -> None:
    put({"question": "q", "answer": None}, {"question": "q", "answer": cell})
    assert told(preview.preview(ASKED, ModelSpec(), 0), "data.answer_column") == []  # it does not know how many
    checked = data_checks.check_data(ASKED, ModelSpec(), 64, True)
    ((level, message),) = [one for one in told(checked, "data.answer_column") if "Rewards get" in one[1]]
    assert level == "warning" and words in message and "in row 2. Rewards get it whole" in message
    assert message.startswith("the only answer in “answer” is ") and "and scores it wrong." in message
    assert told(checked, "data.answer_numbers") == [], "no number is to be taken out of one"


def test_only_the_answers_that_are_mappings_are_called_wrong(registry_home: Any) -> None:
    """“correctness” was said to score none right, where half of the answers are plain numbers."""
    answers = [{"v": 23}, 98, {"v": 86}, 48, ["16"], None]
    put(*({"question": None if n == 3 else f"q{n}", "answer": answer} for n, answer in enumerate(answers * 2)))
    checked = data_checks.check_data(ASKED, ModelSpec(), 64, True)
    ((_, message),) = [one for one in told(checked, "data.answer_column") if "Rewards get" in one[1]]
    assert message == (
        '6 of 9 answers in “answer” are mappings or lists, such as {"v": 23} in row 1. Rewards get them whole: one of '
        "your own can search them, but “correctness” compares with one answer, and scores none of them right. For it, "
        "put one answer in each row."
    )


LONG = "123456789012345678901"


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([LONG, "2"], f"in “answer”, {LONG} (line 1) has too many digits to be read exactly, and others may be read "),
        (["2", f"-{LONG}"], f"in “answer”, -{LONG} (line 2) has too many"),
        (['"x"', LONG, LONG], f"in “answer”, {LONG} (line 2) has too many"),
        (["9223372036854775808"], "in “answer”, 9223372036854775808 (line 1) has too many"),
        (["1", '"x"', "1e999"], "in “answer”, 1e999 (line 3) is too large to be read, and is taken as empty: write "),
    ],
)  # fmt: skip
def test_numbers_that_are_not_read_as_they_are_written_are_named(
    registry_home: Any, cells: list[str], words: str
) -> None:
    """The preview showed 1.2345678901234568e+20 without a word."""
    text = "".join(f'{{"question": "q{n}", "answer": {cell}, "id": {LONG}}}\n' for n, cell in enumerate(cells))
    (paths.data_folder() / "a.jsonl").write_text(text, encoding="utf-8")
    for found in (preview.preview(ASKED, ModelSpec(), 0), data_checks.check_data(ASKED, ModelSpec(), 64, True)):
        (one,) = [one for one in told(found, "data.source") if "to be read" in one[1]]  # “id” is not used
        assert one[0] == "warning" and one[1].startswith(words), one
        assert one[1].endswith(": write the numbers of this column in quotes.")


def test_numbers_are_read_as_they_are_written_in_quotes_in_csv_and_in_64_bits(registry_home: Any) -> None:
    put({"question": "a", "answer": LONG}, {"question": f"[{LONG}, 1e999", "answer": "2"})
    assert told(preview.preview(ASKED, ModelSpec(), 0), "data.source") == []
    put({"question": "a", "answer": 2**63 - 1}, {"question": "b", "answer": -(2**63)})
    shown = preview.preview(ASKED, ModelSpec(), 0)
    assert told(shown, "data.source") == [] and shown.row.cells["answer"] == str(2**63 - 1)
    (paths.data_folder() / "a.csv").write_text(f"question,answer\na,{LONG}\nb,2\n", encoding="utf-8")
    shown = preview.preview(DataSpec(source="file:a.csv"), ModelSpec(), 0)
    assert told(shown, "data.source") == [] and shown.row.cells["answer"] == LONG


def test_characters_that_cannot_be_seen_are_named_with_their_row(registry_home: Any) -> None:
    put(
        {"question": "plain\n\ttext", "answer": "1"},
        {"question": "a\x07b", "answer": "2\u200b"},
        {"question": "\ufeffc\x00", "answer": "3"},
        {"question": "d\x07", "answer": "4\u202e"},
    )
    ((level, message),) = told(data_checks.check_data(ASKED, ModelSpec(), 64, True), "data.source")
    assert level == "advice" and message == (
        "there are invisible characters, which the model reads: BEL (bell) in “question” of row 2 and 1 more; "
        "zero-width space in “answer” of row 2; byte order mark (BOM) in “question” of row 3; NUL in “question” of "
        "row 3; 1 more kind. Delete them in the file where they do not belong."
    )
    put({"question": "plain\n\ttext", "answer": "می‌خواهم"}, {"question": "👩‍🚀", "answer": "1"})
    assert told(data_checks.check_data(ASKED, ModelSpec(), 64, True), "data.source") == []


def test_a_row_that_cannot_be_asked_is_named_also_where_rows_are_shuffled(registry_home: Any) -> None:
    chats = [[{"role": "user", "content": f"q{n}"}] for n in range(9)]
    chats[6] = [{"role": "assistant", "content": "nothing was asked"}]
    put(*({"prompt": chat} for chat in chats))
    asked = DataSpec(source="file:a.jsonl", prompt_column="prompt", answer_column=None, shuffle=3)
    with pytest.raises(DataError, match="^row 7 of the data: a chat in the prompt column .* has no user message"):
        data.load_data(asked, chat=True)
    put({"question": "a", "answer": "1"}, {"question": "b", "answer": "2"}, {"question": "c", "answer": "3"})
    rows, held_out = data.load_data(ASKED.model_copy(update={"shuffle": 1, "holdout": 1}), chat=True, numbered=True)
    assert held_out is not None
    numbers = {row["answer"]: row[ROW] for row in (*rows, *held_out)}
    assert numbers == {"1": 0, "2": 1, "3": 2}
    assert ROW not in data.load_data(ASKED, chat=True)[0].column_names
