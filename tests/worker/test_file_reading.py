"""Text files as people have them: what is found of each, reading gives back what was written, and their answers."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from groupwise.storage.home import paths
from groupwise.storage.spec.rows.file_format import QUOTES, SEPARATORS
from groupwise.storage.spec.spec import DataSpec, ModelSpec
from groupwise.worker.data import data, data_checks, preview
from groupwise.worker.data.files import convert, file_reading, separators
from groupwise.worker.data.files.data_error import DataError
from tests.support.data_files import opened, put, rows_of, shown

LETTERS = "abc äöüß ÄÖÜ éèàç „“ € 0123 .,;|\t"

# ---- text: separators, quotes, encodings ----
# What no one writes, and what therefore says nothing of an encoding: a capital amid a word, a sign amid one, and more
# than two letters in a row that are not ASCII.
UNWRITTEN = re.compile(r"[a-zäöüßéèàç][ÄÖÜ]|[^\W\d_][„“€]+[^\W\d_]|€[^\W\d_]|[^\W\d_]„|[^\x00-\x7f]{3}")
CELL = (
    st.text(st.sampled_from(LETTERS), min_size=1, max_size=12)
    .map(lambda cell: f"w{cell}w")
    .filter(lambda cell: not UNWRITTEN.search(cell))
)
AS_WRITTEN = ("comma", "double", "cp1252", csv.QUOTE_MINIMAL, "\n")  # how the examples that once failed were


@example([["cÄw", "w“w", "wàw"]] * 3, *AS_WRITTEN)
@example([["waw", "w“w", "wbw"]] * 9, *AS_WRITTEN)
@example([["wàw", "wäw", "wèw"]] * 9, *AS_WRITTEN)
@given(
    st.lists(st.lists(CELL, min_size=3, max_size=3, unique=True), min_size=3, max_size=12),
    st.sampled_from(sorted(SEPARATORS)),
    st.sampled_from(["double", "single"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_was_written_is_found_and_read_back(
    tmp_path: Path, rows: list[list[str]], separator: str, quote: str, encoding: str, quoting: int, end: str
) -> None:
    assume(quote == "double" or quoting == csv.QUOTE_ALL)
    heading = ["Frage Nr.", "Lösung", "Größe (cm)"]
    sink = io.StringIO()
    writer = csv.writer(
        sink, delimiter=SEPARATORS[separator], quotechar=QUOTES[quote], quoting=quoting, lineterminator=end
    )
    writer.writerows([heading, *rows])
    content = sink.getvalue().encode(encoding)
    path = tmp_path / "any.csv"
    path.write_bytes(content)
    found = file_reading.find_reading(path, DataSpec())
    assert (found.separator, found.quote) == (separator, quote)
    wrote = {"utf-8-sig": "utf-8"}.get(encoding, encoding)
    assert found.encoding == wrote or content.decode(found.encoding) == content.decode(wrote)  # both say the same
    text = convert_text(path, found)
    assert separators.parse_rows(text, found.separator, found.quote, whole=True) == [heading, *rows]


def convert_text(path: Path, found: file_reading.FileReading) -> str:
    """The text as the process that converts writes it."""
    convert.convert(path, path.with_suffix(".plain"), found)
    return path.with_suffix(".plain").read_bytes().decode()


FOUND = [
    ("cp1252", "Frage;Lösung\nÜber?;58,0 €\n", "semicolons, Windows-1252"),
    ("utf-8-sig", "Frage;Lösung\nÜber?;58,0 €\n", "semicolons, UTF-8"),
    ("utf-16", "Frage\tLösung\nÜber?\t58,0 €\n", "tabs, UTF-16"),
    ("utf-16-be", "Frage\tLösung\nÜber?\t58,0 €\n", "tabs, UTF-16 BE"),
    ("mac-roman", "Größe,Straße\nÄpfel,öl\n", "commas, Mac Roman"),
    ("cp850", "Größe,Straße\nläuft,öl\n", "commas, DOS 850"),
    ("cp1251", "вопрос,ответ\nпривет как дела,да\n", "commas, Windows-1251 (Cyrillic)"),
    ("gb18030", "问题,答案\n你好世界今天天气,是的是的\n", "commas, GB 18030 (Chinese)"),
    ("shift-jis", "質問,答え\nこんにちは世界,はい\n", "commas, Shift JIS (Japanese)"),
    ("ascii", "a|b\n1,5|2\n", "pipes (|), UTF-8"),
    ("ascii", "sep=;\r\na;b\r\n1;2\r\n", "semicolons, UTF-8, heading in line 2"),
    ("ascii", 'a;b\n"5" x;3\n"6" y;4\n', "semicolons, no quotes, UTF-8"),
    ("ascii", "Name, Vorname;Alter\nMeier, Anna;30\nWu, Li;9\n", "semicolons, UTF-8"),
    ("ascii", 'question,answer\n"a; b; c",1\n"d; e",2\n', "commas, UTF-8"),
    ("ascii", "question\nis it so; or not\n", "commas, UTF-8"),
    ("cp1252", "Prüfung 3b\nStand: 1. März, Berlin\n\nNr;Frage;Lösung (€)\n1;Was?;2,5\n2;Wie?;3\n",
     "semicolons, Windows-1252, heading in line 4"),
    ("cp1252", "Prüfung 3b;;\n;;\nNr;Frage;Lösung (€)\n1;Was?;2,5\n2;Wie?;3\n",
     "semicolons, Windows-1252, heading in line 3"),
    ("ascii", "sep=;\nTest 3b;;\na;b;c\n1;2;3\n", "semicolons, UTF-8, heading in line 3"),
]  # fmt: skip


@pytest.mark.parametrize(("encoding", "text", "words"), FOUND, ids=[words for _, _, words in FOUND])
def test_how_a_file_is_read_is_found_and_said(registry_home: Path, encoding: str, text: str, words: str) -> None:
    put("a.csv", text.encode(encoding))
    found = opened("a.csv")
    assert found.reading is not None and found.reading.in_words() == words
    assert "\ufffd" not in str(rows_of("a.csv"))
    said = shown("a.csv", answer_column=None).read_as
    assert (said.words, said.heading) == (words, found.columns)
    assert said.found == ["data.separator", "data.quote", "data.encoding", "data.skip_lines", "data.heading"]


def test_the_same_file_is_read_the_same_way_once_what_was_found_is_said(registry_home: Path) -> None:
    put("a.csv", "sep=;\r\nä;b\r\n1,5;2\r\n".encode("cp1252"))
    spec = file_reading.with_found(DataSpec(source="file:a.csv"))
    assert (spec.separator, spec.quote, spec.encoding, spec.skip_lines) == ("semicolon", "double", "cp1252", 1)
    found = {name: getattr(spec, name) for name in ("separator", "quote", "encoding", "skip_lines")}
    assert rows_of("a.csv") == rows_of("a.csv", **found) == [["ä", "b"], ["1,5", "2"]]


def mixed_text(heading: str, *ways: str) -> str:
    """A heading, and rows whose cells are put together by these in turn."""
    rows = (ways[n % len(ways)].format(f"Was ist {n}+1?", n + 1, "Heft, Seite 3") for n in range(20))
    return "\n".join([heading, *rows])


MIXED = [
    (mixed_text("question;answer,hint", "{},{};{}", "{};{},{}"), "10 of 20 rows are",
     "2: “Was ist 0+1?,1;Heft, Seite 3”"),
    (mixed_text("question;answer", "{},{}", *["{};{}"] * 9), "2 of 20 rows are", "2: “Was ist 0+1?,1”"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "count", "first"), MIXED, ids=["in the heading too", "in rows"])
def test_rows_separated_otherwise_than_the_heading_are_said(
    registry_home: Path, text: str, count: str, first: str
) -> None:
    """As it was seen: read by semicolons without doubt, with the answer in the prompt and a column “answer,hint”."""
    put("m.csv", text)
    found = shown("m.csv", answer_column="answer")
    said = [one.message for one in found.problems if "mixes" in one.message]
    whole = f"m.csv mixes semicolons and commas: {count} not separated as the heading is, such as line {first}"
    assert [message.partition(". Save")[0] for message in said] == [whole]
    if "hint" in text:  # what its columns are called is not known
        offered = [value for one in found.problems for fix in one.fixes for value in fix.settings.values()]
        assert not found.guess and "answer,hint" not in offered
    assert any(one.message == said[0] for one in data_checks.check_data(
        DataSpec(source="file:m.csv", answer_column=None), ModelSpec(), 64, True).problems)  # fmt: skip


def test_a_heading_separated_otherwise_than_the_rows_is_said(registry_home: Path) -> None:
    put("m.csv", mixed_text("question;answer", "{},{}"))
    with pytest.raises(DataError, match="mixes commas and semicolons: all 20 rows are not separated as the heading is"):
        shown("m.csv")


PLAIN_TEXTS = [
    mixed_text("question;answer, rounded", "{};{},0", "{};{},5"),  # a decimal comma
    mixed_text("question;answer;note", "{};{};{}"),  # commas in sentences
    mixed_text("question,answer,note", '{},{},"a; {}"', '{},{},"{};b"'),
    mixed_text("question,answer,note", '"{};",{},"a;b"', '"a;\n{}",{},c'),
    mixed_text("question,answer,note", "{},{}", '{},{},"{}"'),  # rows that lack a cell
]


@pytest.mark.parametrize("text", PLAIN_TEXTS)
def test_other_separators_in_cells_are_no_mixture(registry_home: Path, text: str) -> None:
    put("p.csv", text)
    assert file_reading.find_reading(paths.data_file("p.csv"), DataSpec()).mixed is None


def test_titles_above_the_heading_are_left_out_and_a_price_is_the_answer(registry_home: Path) -> None:
    text = "Prüfung 3b;;\n\nStand: März;;\nNr;Frage;Lösung (€)\n1;Was kostet das?;2,5\n2;Wie viel ist das?;3\n"
    put("titles.csv", text.encode("cp1252"))
    guess = shown("titles.csv").guess
    assert guess["data.prompt_template"] == "{Frage}" and guess["data.answer_column"] == "Lösung (€)"
    asked = DataSpec(source="file:titles.csv", prompt_template="{Frage}", answer_column="Lösung (€)")
    train, _ = data.load_data(asked, chat=True)
    assert [row["answer"] for row in train] == ["2,5", "3"]


NO_TITLES = {
    "the name of a column": "question\nIs 1, 2?\nIs 1, 4?\n",
    "an index without a name, as pandas writes it": ",question\n0,a\n1,b\n",
    "rows below it": "Titel\nWas ist das hier genau?,2\nWie viel ist denn das?,3\nWer ist denn das da?,4\n",
    "numbers below it": "Titel\n1,2\n3,4\n",
    "nothing below it": "Titel\na,b\n",
}


@pytest.mark.parametrize("text", NO_TITLES.values(), ids=NO_TITLES)
def test_what_is_no_title_is_not_skipped(text: str) -> None:
    assert separators.find_layout(text, whole=True, usual="comma", said={}, skip=None).skip_lines == 0


def test_letters_that_come_late_say_the_encoding(registry_home: Path) -> None:
    plain = b"question,answer\n" + b"what is it,1\n" * 200_000
    put("late.csv", plain + "süß,2\n".encode("cp1252"))
    found = opened("late.csv")
    assert found.reading is not None and found.reading.encoding == "cp1252"
    *_, last = found.rows()  # `row` may give one nearby, where reading on takes long
    assert last == {"question": "süß", "answer": "2"}


WRONG = [
    ("ä;b\n1;2\n", "cp1252", {"encoding": "utf-8"}, "line 1 of a.csv is not UTF-8", "data.encoding"),
    ("ä;b\n1;2\n", "utf-8", {"encoding": "utf-16"}, "is not in UTF-16. Choose another", "data.encoding"),
    ("a;b\nü\u201d;2\n", "utf-8", {"encoding": "cp1252"}, "line 2 of a.csv is not in Windows-1252", "data.encoding"),
    ('a;b\n"x;y";2\n', "ascii", {"separator": "comma", "quote": "double"}, "goes on after its closing", "data.source"),
    ("a,b\n1,2\n", "ascii", {"skip_lines": 9}, "nothing below its first 9 lines", "data.skip_lines"),
    ("a,b\n1,2,3\n", "ascii", {"separator": "comma"}, "Is it separated by commas", "data.source"),
]


@pytest.mark.parametrize(("text", "encoding", "said", "words", "field"), WRONG, ids=[words for *_, words, _ in WRONG])
def test_a_wrong_choice_is_a_sentence_with_a_way_back(
    registry_home: Path, text: str, encoding: str, said: dict[str, Any], words: str, field: str
) -> None:
    put("a.csv", text.encode(encoding))
    asked = DataSpec(source="file:a.csv", **said)
    answer = preview.answer_preview(preview.PreviewQuestion(data=asked))
    assert words in answer.error and answer.field == field  # type: ignore[attr-defined]
    problem = answer.problems[0]  # type: ignore[attr-defined]
    assert problem.fixes[0].removed == [
        f"data.{name}" for name in ("separator", "quote", "encoding", "skip_lines") if name in said
    ]


def test_letters_read_in_another_encoding_are_warned_of(registry_home: Path) -> None:
    put("a.csv", "Frage,Antwort\nsüß?,über\n")
    found = shown("a.csv", encoding="latin-1", prompt_template="{Frage}", answer_column="Antwort")
    said = [problem for problem in found.problems if problem.field == "data.encoding"]
    assert "looks wrong: “sÃ¼Ã\x9f?”" in said[0].message and said[0].fixes[0].removed == ["data.encoding"]
    put("b.csv", "Frage,Antwort\nsÃ¼ÃŸ?,Ã¼ber\n")  # damaged before: no choice here mends it
    found = shown("b.csv", prompt_template="{Frage}", answer_column="Antwort")
    assert "some letters were damaged before the file was saved: “sÃ¼ÃŸ?”" in [p.message for p in found.problems][0]


# ---- answers ----
def checked(answers: list[str], **said: Any) -> Any:
    put("n.jsonl", "\n".join(json.dumps({"question": f"q{n}", "answer": a}) for n, a in enumerate(answers)))
    return data_checks.check_data(DataSpec(source="file:n.jsonl", **said), ModelSpec(), 64, True)


def about_numbers(found: Any) -> list[tuple[str, str, list[dict[str, Any]]]]:
    told = [problem for problem in found.problems if problem.field == "data.answer_numbers"]
    return [(problem.level, problem.message, [fix.settings for fix in problem.fixes]) for problem in told]


COMMA, POINT = {"data.answer_numbers": "comma"}, {"data.answer_numbers": "point"}
COLUMNS = [
    (["58,0", "58 Stück", "= 7", "4"], "warning", "3 of 4 answers are not plain numbers (for example “58,0”", [COMMA]),
    (["58,0", "4"], "warning", "1 of 2 answers is not a plain number (for example “58,0”", [COMMA]),
    (["58 Stück", "= 58", "4"], "warning", "2 of 3 answers are not plain numbers", [POINT]),
    (["1.234,5", "1.234"], "warning", "that says 1234.5 wrong", [COMMA]),
    (
        ["8,0", "58 Stück", "1.234,5", "= 56", "1/2", "zehn", "7", "42 €", "2.", "5 %"],
        "warning",
        "9 of 10 answers are not plain numbers (for example “8,0”, “58 Stück”, “1.234,5”): “correctness”, for one, "
        "scores a completion that says 8 wrong. Keeping only the number (decimal comma) makes 7 of them plain; 2 stay "
        "as written, such as “1/2”.",
        [COMMA],
    ),
    (["58 kg", "3 kg", "a 4" * 30], "warning", "none of the 3 answers is a plain number", [POINT]),
    (["$1,234.50", "$2.5"], "warning", "that says 1234.5 wrong", [POINT]),
    (
        ["1.234", "5"],
        "advice",
        "1 of 2 answers can be read in two ways. “1.234” may be 1.234 or 1234, and no answer says which: choose. "
        "“correctness”, for one, takes it for 1.234 now.",
        [POINT, COMMA],
    ),
    (["1,234", "5"], "advice", "“1,234” may be 1234 or 1.234, and no answer says which: choose.", [POINT, COMMA]),
    (["1,234 €", "5"], "warning", "scores a completion that says 1234 or 1.234 wrong. “1,234” may be", [POINT, COMMA]),
    (["1,5", "2,5", "2.5"], "warning", "2 have a decimal comma, 1 a decimal point. Choose", [COMMA, POINT]),
]


@pytest.mark.parametrize(("answers", "level", "words", "fixes"), COLUMNS, ids=[" ".join(c[0]) for c in COLUMNS])
def test_answers_that_no_number_equals_are_noticed_and_a_doubt_is_never_guessed_away(
    registry_home: Path, answers: list[str], level: str, words: str, fixes: list[dict[str, Any]]
) -> None:
    found = checked(answers)
    ((said_level, message, said_fixes),) = about_numbers(found)
    assert said_level == level and words in message and said_fixes == fixes
    assert found.answer_numbers is not None and not found.answer_numbers.on


@pytest.mark.parametrize(
    "answers", [["58", "1.5", "-3"], ["1,234", "1.5"], ["ja", "nein", "58 Stück"], ["2/3", "10:30"], ["a" * 80 + " 5"]]
)
def test_answers_that_are_plain_numbers_or_none_are_left_alone(registry_home: Path, answers: list[str]) -> None:
    found = checked(answers)
    assert about_numbers(found) == [] and found.answer_numbers is None


@pytest.mark.parametrize("as_text", [True, False])
def test_what_changes_is_counted_by_what_is_written_and_what_is_kept(registry_home: Path, as_text: bool) -> None:
    """As it was seen: “0 of 2 answers change” under “Answer: 1001 written “1,001””."""
    found = checked(["1,001", "2,002"])
    assert [one.after for one in found.answer_numbers.examples] == ["1001 or 1.001"]  # nothing is chosen yet
    for mark, kept in (("point", "1001"), ("comma", "1.0010")):
        found = checked(["1,001", "2,002"], answer_numbers=mark)
        assert (found.answer_numbers.changed, found.answer_numbers.of) == (2, 2)
        assert [one.after for one in found.answer_numbers.examples] == [kept]
        assert shown("n.jsonl", row=0, answer_numbers=mark).answer == kept
    found = checked(["58.0" if as_text else 58.0, "3 kg"], answer_numbers="point")
    assert found.answer_numbers.changed == 1 + as_text  # a number that is none of text stays as it is


def test_formulas_in_place_of_their_results_are_said(registry_home: Path) -> None:
    """As it was seen: a file of "=1+0" got no word."""
    save = "Save the results instead: in Excel as values, or the file as .xlsx."
    words = f"such as “=1+0”, and no number equals {{}}. {save}"
    found = checked(["=1+0", "=B2*$C$2", "= SUM(A1:A3)/2"])
    whole = f"all 3 answers look like formulas, {words.format('them')}"
    assert about_numbers(found) == [("warning", whole, [])]
    assert found.answer_numbers is not None and found.answer_numbers.examples == []
    one = f"1 of 4 answers looks like a formula, {words.format('it')}"
    both = about_numbers(checked(["= 58", "58 kg", "4", "=1+0"]))
    assert [fixes for _, _, fixes in both] == [[POINT], []] and both[1][1] == one
    kept = about_numbers(checked(["= 58", "58 kg", "4", "=1+0"], answer_numbers="point"))
    assert [message for _, message, _ in kept] == [one]
    for plain in ("= 58", "=-3", "= 1/2", "= 2x + 3", "=> A", "== 4", "5+3"):
        assert not any("formula" in message for _, message, _ in about_numbers(checked([plain, "7"])))


def test_a_list_stands_among_answers_as_it_does_in_the_table(registry_home: Path) -> None:
    put("n.json", json.dumps([{"question": "1+1?", "answer": ["2", "two"]}, {"question": "4?", "answer": "4,0"}]))
    found = data_checks.check_data(DataSpec(source="file:n.json"), ModelSpec(), 64, True)
    assert "['2'" not in found.model_dump_json()


def test_a_json_file_that_is_no_list_of_rows_is_called_that(registry_home: Path) -> None:
    put("s.json", "5")
    with pytest.raises(DataError, match="s.json holds no rows: it should be a list of objects, such as"):
        opened("s.json")


def test_what_is_switched_on_is_shown_on_rows_and_is_what_training_gets(registry_home: Path) -> None:
    found = checked(["58,0", "58 Stück", "drei", "4"], answer_numbers="comma")
    assert [(one.row, one.before, one.after) for one in found.answer_numbers.examples] == [
        (0, "58,0", "58"), (1, "58 Stück", "58"),
    ]  # fmt: skip
    assert (found.answer_numbers.on, found.answer_numbers.changed, found.answer_numbers.of) == (True, 2, 4)
    assert [message for _, message, _ in about_numbers(found)] == [
        "1 of 4 answers holds no number, or several, such as “drei”: it stays as written."
    ]
    assert [each for each, _ in found.answers.top] == ["58", "drei", "4"]
    row = shown("n.jsonl", row=1, answer_numbers="comma")
    assert (row.answer, row.written_answer) == ("58", "58 Stück")
    assert shown("n.jsonl", row=3, answer_numbers="comma").written_answer is None
    found = checked(["1,5", "2,5"], answer_numbers="point")
    ((_, message, fixes),) = about_numbers(found)
    assert "2 answers are written with a decimal comma, 0 with a decimal point, which is chosen" in message
    assert fixes == [COMMA]
