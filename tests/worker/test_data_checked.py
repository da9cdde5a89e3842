"""All rows of the data, checked before a run: the bad ones counted, what a click leaves out, and what is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import view
from groupwise.storage.registry.messages.data_checks import BINS
from groupwise.storage.registry.questions import CHECK_DATA
from groupwise.storage.spec.spec import NO_MODEL, DataSpec, ModelSpec
from groupwise.worker.data import data, data_checks, preview, preview_source
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.questions import server
from tests.support.data_files import put
from tests.support.previews import GSM, MAPPED, check, fixed, write
from tests.support.runs import make_spec


@pytest.fixture(autouse=True)
def prepared(registry_home: Path) -> None:
    write("gsm.jsonl", GSM)


def test_a_check_of_good_data_finds_nothing_wrong():
    found = check(**MAPPED, holdout=0.1)
    assert found["problems"] == [] and found["note"] == "All rows were checked: 27 to train on, 3 held out."
    assert (found["checked"], found["kept"], found["held_out"], found["filtered"]) == (30, 27, 3, 0)
    assert found["rows"] == {"count": 30, "exact": True} and found["room"] == 512 - 256
    assert sum(found["lengths"]["counts"]) == 30 and found["lengths"]["unit"] == "tokens"
    longest = found["lengths"]["longest"]
    assert longest["row"] == 9 and longest["text"] == GSM[9]["problem"]
    assert (
        found["lengths"]["edges"][0] <= found["lengths"]["median"] <= longest["length"] < found["lengths"]["edges"][-1]
    )
    assert found["answers"]["distinct"] == 30


def test_without_a_model_prompts_are_counted_in_characters_and_fit():
    longer = data_checks.check_data(DataSpec(**MAPPED), ModelSpec(id=NO_MODEL), 1024, every=True)
    assert longer.room is None and longer.too_long == 0 and longer.problems == []
    assert longer.lengths is not None and longer.lengths.unit == "characters"


def test_the_rows_there_are_do_not_depend_on_how_many_are_used():
    few = check(**MAPPED, limit=4, holdout=1)
    assert (few["usable"], few["kept"], few["held_out"]) == (30, 3, 1), "another limit is reckoned from all"


def test_rows_that_all_are_sums_are_known_as_what_the_starter_can_do():
    rows = [{"question": f"{n}+{n + 1}?", "answer": str(2 * n + 1)} for n in range(9)]
    write("sums.jsonl", rows)
    assert check(source="file:sums.jsonl", system_prompt="Answer.")["sums"] is True
    write("others.jsonl", [*rows, {"question": "1+2+3?", "answer": "6"}])
    assert check(source="file:others.jsonl")["sums"] is False


@pytest.mark.parametrize(
    ("asked", "answers", "point"),
    [
        ("0,5 + 0,25 = ?", ["0.75", "2"], "0.75"),
        ("0.5 + 0.25 = ?", ["0.75", "2"], ""),
        ("0,5 + 0,25 = ?", ["0,75", "2"], ""),  # said as answers that are no plain numbers
        ("0,5 + 0,25 = ?", ["0.75", "1.125"], ""),  # which by a comma is a thousand
        ("1 + 2 = ?", ["3", "4"], ""),
    ],
)
def test_answers_with_a_point_beside_prompts_with_commas_are_noticed(asked: str, answers: list[str], point: str):
    rows = "".join(f'"{asked}","{answer}"\n' for answer in answers * 5)
    put("decimals.csv", f"question,answer\n{rows}".encode())
    mapped = {"prompt_column": "question", "answer_column": "answer"}
    assert check(source="file:decimals.csv", **mapped)["point"] == point


@pytest.mark.parametrize(
    ("template", "other", "fixes"),
    [
        ("{question}", {"Lösung": "b"}, ["Use “Lösung”"]),
        ("Answer this: {question}", {"Lösung": "b"}, ["Use “Lösung”"]),  # it is the column that is asked
        ("{question}", {}, []),
    ],
)
def test_an_answer_column_that_is_the_prompts_is_said_before_a_run(template: str, other: dict[str, str], fixes: list):
    write("same.jsonl", [{"question": f"Name the capital of land {n}."} | other for n in range(30)])
    asked: dict[str, Any] = {"source": "file:same.jsonl", "prompt_template": template, "answer_column": "question"}
    (problem,) = check(**asked)["problems"]
    assert (problem["field"], problem["level"]) == ("data.answer_column", "warning")
    assert problem["message"].startswith("all 30 rows have the prompt itself as the answer, such as “Name the capital")
    assert [fix["label"] for fix in problem["fixes"]] == fixes
    assert problem["message"].endswith("Did you mean “Lösung”?" if fixes else "Is it the right column?")
    if fixes:
        assert "itself" not in str(check(**fixed(asked, problem))["problems"])
    spec = make_spec(data=asked, rewards=[{"name": "format"}])  # which reads no answer
    assert not view.about_lengths(spec).answer_read
    unread = server.answer_question(CHECK_DATA, view.about_lengths(spec).as_dict())["problems"]
    assert "itself" not in str(unread)
    assert view.about_lengths(make_spec(data=asked, rewards=[{"name": "correctness"}])).answer_read


def test_tags_that_the_prompts_ask_for_are_noticed():
    write("tags.jsonl", [{"question": "Use <think> and <answer>: 1 < 2?", "answer": "<b>"}] * 3)
    assert check(source="file:tags.jsonl")["tags"] == ["think", "answer"]


def test_sums_whose_answers_are_other_numbers_are_said():
    """With random answers to “25+22?” a run came to “The prompts are too hard”."""
    rows = [{"question": f"{n}+{n + 1}?", "answer": str(731 if n < 6 else 2 * n + 1)} for n in range(9)]
    write("wrong.jsonl", rows)
    told = "6 of 9 rows have an answer that looks wrong: the answer of “0+1?” is given as 731."
    assert [one["message"] for one in check(source="file:wrong.jsonl", answer_column="answer")["problems"]] == [told]
    write("some.jsonl", [*rows[5:], *({"question": f"{n}+1?", "answer": f"{n + 1}.0"} for n in range(20, 25))])
    found = check(source="file:some.jsonl", answer_column="answer")["problems"]
    assert not any("looks wrong" in one["message"] for one in found), "a slip, and sums written with a point"


def problem_of(found: dict[str, Any], words: str) -> dict[str, Any]:
    matching = [problem for problem in found["problems"] if words in problem["message"]]
    assert len(matching) == 1, found["problems"]
    return matching[0]


def messy() -> list[dict[str, Any]]:
    rows = [{"question": f"Is {n} even?", "answer": "yes" if n % 5 else "no"} for n in range(40)]
    rows += [
        {"question": "Is 1 even?", "answer": "no"},
        {"question": " ", "answer": "no"},
        {"question": None, "answer": "no"},
    ]
    rows += [{"question": "Is it even?", "answer": None}, {"question": "Is it odd?", "answer": ""}]
    return rows + [{"question": "Why? " * 90, "answer": "yes"}]


def test_a_prompt_that_comes_twice_may_be_held_out_and_trained_on_as_well():
    write("messy.jsonl", messy())
    plain = problem_of(check(source="file:messy.jsonl"), "as one before")
    assert plain["level"] == "advice" and "held out" not in plain["message"]
    assert "1 of 44 rows has the same prompt as one before. It weighs" in plain["message"]
    held = problem_of(check(source="file:messy.jsonl", holdout=5), "as one before")
    assert held["level"] == "warning" and held["message"].endswith("the held-out score is too high.")


def test_each_kind_of_bad_row_is_counted_and_said():
    write("messy.jsonl", messy())
    found = check(source="file:messy.jsonl")
    counted = {name: found[name] for name in ("checked", "empty", "duplicates", "missing_answers", "too_long")}
    assert counted == {"checked": 46, "empty": 2, "duplicates": 1, "missing_answers": 2, "too_long": 1}
    assert found["lengths"]["longest"]["row"] == 45
    assert [problem["level"] for problem in found["problems"]] == ["warning", "warning", "warning", "advice", "advice"]
    assert "of the answers are “yes”" in problem_of(found, "always gives it")["message"]
    assert "more than 256 tokens, which with a completion of 256 is more than the 512" in str(found["problems"])


@pytest.mark.parametrize(
    ("words", "count"),
    [("have no prompt", "empty"), ("no answer in", "missing_answers"), ("is more than the 512", "too_long")],
)
def test_one_click_leaves_the_bad_rows_out(words: str, count: str):
    write("messy.jsonl", messy())
    parts: dict[str, Any] = {"source": "file:messy.jsonl"}
    found = check(**parts)
    mended = check(**fixed(parts, problem_of(found, words)))
    assert found[count] > 0 and mended[count] == 0
    left_out_anyway = found[count] if count == "empty" else 0
    assert mended["filtered"] == found[count] and mended["kept"] == found["kept"] - found[count] + left_out_anyway


def test_answers_that_are_missing_in_all_rows_block_and_no_button_would_keep_nothing():
    write("nan.jsonl", [{"question": f"{n}?", "answer": (float("nan"), None)[n % 2]} for n in range(10)])
    [problem] = check(source="file:nan.jsonl")["problems"]
    assert (problem["level"], problem["field"]) == ("blocking", "data.answer_column")
    assert problem["message"].startswith("none of the 10 rows has an answer: “answer” is empty in all of them.")
    assert [fix["settings"] for fix in problem["fixes"]] == [{"data.answer_column": None}]
    shown = preview.preview(DataSpec(source="file:nan.jsonl"), ModelSpec(), 0)
    assert shown.answer is None
    write(
        "half.jsonl", [{"question": f"{n}?" if n % 2 else None, "answer": None if n % 2 else str(n)} for n in range(10)]
    )
    (problem, *_) = [one for one in check(source="file:half.jsonl")["problems"] if one["field"] == "data.answer_column"]
    assert [fix["settings"] for fix in problem["fixes"]] == [{"data.answer_column": None}], "not the column that is set"


def test_a_row_that_no_model_can_hold_is_the_problem_and_is_left_out_at_a_round_length():
    rows = [{"question": f"What is {n} times {n}?", "answer": n} for n in range(20)]
    write("huge.jsonl", [*rows, {"question": "x, " * 50_000, "answer": 1}])
    parts: dict[str, Any] = {"source": "file:huge.jsonl"}
    problem = problem_of(check(**parts), "1 of 21 rows has more than 256 tokens")
    assert problem["level"] == "blocking" and problem["fixes"][0]["label"] == "Keep rows where length of question < 200"
    assert problem["message"].endswith(" The filter “length of question < 200” leaves out 1 of 21 rows.")
    kept = check(**fixed(parts, problem))
    assert kept["problems"] == [] and kept["filtered"] == 1


def test_overlong_prompts_may_also_have_shorter_completions():
    write("messy.jsonl", messy())
    problem = problem_of(check(source="file:messy.jsonl", completion=100), "more than 412 tokens")
    shorter = problem["fixes"][1]["settings"]["training.max_completion_length"]
    assert check(source="file:messy.jsonl", completion=shorter)["too_long"] == 0


def test_a_pattern_that_misses_some_rows_is_said():
    write("mixed.jsonl", [*GSM, {"problem": "No mark", "solution": "no mark"}])
    parts = {**MAPPED, "source": "file:mixed.jsonl"}
    problem = problem_of(check(**parts), "the pattern finds nothing")
    assert problem["level"] == "warning" and check(**fixed(parts, problem))["missing_answers"] == 0
    none = check(**{**parts, "answer_pattern": r"(\d{9})"})
    assert problem_of(none, "the pattern finds nothing")["level"] == "blocking"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"filter": ["problem = nope"]}, "data.filter"),
        ({"holdout": 30}, "data.holdout"),
        ({"filter": ["problem contains 3"], "holdout": 29}, "data.holdout"),
    ],
)
def test_nothing_left_to_train_on_blocks_with_a_fix(change: dict[str, Any], field: str):
    parts = {**MAPPED, **change}
    [problem] = check(**parts)["problems"]
    assert (problem["field"], problem["level"]) == (field, "blocking")
    assert check(**fixed(parts, problem))["problems"] == []


def test_a_look_at_the_first_rows_estimates_the_rest_and_all_counts_them(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(data_checks, "FEW", 1000)
    write("many.jsonl", [{"question": f"Is {n} even?", "answer": n % 2} for n in range(3000)])
    some = check(source="file:many.jsonl", filter=["answer = 0"], holdout=100)
    assert some["note"] == "The first 1,000 of 3,000 rows were checked: about 1,400 to train on, 100 held out."
    assert some["kept"] == 1400 and some["estimated"]
    plain = check(source="file:many.jsonl", holdout=100)
    assert plain["note"] == "The first 1,000 of 3,000 rows were checked: 2,900 to train on, 100 held out."
    assert plain["kept"] == 2900 and not plain["estimated"], "one number, as it is known"
    every = check(all_=True, source="file:many.jsonl", filter=["answer = 0"], holdout=100)
    assert every["note"] == "All rows were checked: 1,400 to train on, 100 held out."
    assert (every["checked"], every["filtered"], every["kept"]) == (3000, 1500, 1400)


@pytest.mark.parametrize("conditions", [["answer is not empty", "question is not empty"], ["answer is not empty"], []])
def test_what_training_loads_is_what_was_counted(conditions: list[str]):
    write("messy.jsonl", messy())
    parts = {"source": "file:messy.jsonl", "filter": conditions, "holdout": 0.2}
    said: list[str] = []
    asked = DataSpec.model_validate({**parts, "shuffle": 1})
    train, held_out = data.load_data(asked, chat=True, say=said.append)
    found = check(all_=True, **parts)
    assert held_out is not None and (found["kept"], found["held_out"]) == (len(train), len(held_out))
    rows = {0: 46, 1: 44}.get(len(conditions))
    gone = f"2 of {rows} rows have no prompt, and are left out: “question” is empty there."
    assert said == ([gone] if rows else [])
    assert not [row for row in train if "None" in str(row["prompt"]) or not row["prompt"][0]["content"].strip()]


def test_rows_that_ask_nothing_are_left_out_with_their_count_and_alone_they_are_refused():
    write("one.jsonl", [{"question": None, "answer": "1"}, {"question": "1+1?", "answer": "2"}])
    [problem] = check(source="file:one.jsonl")["problems"]
    assert (problem["level"], problem["message"]) == ("warning", "1 of 2 rows has no prompt and is left out.")
    write("none.jsonl", [{"question": None, "answer": "1"}, {"question": "  ", "answer": "2"}])
    [problem] = check(source="file:none.jsonl")["problems"]
    assert (problem["level"], problem["field"]) == ("blocking", "data.prompt_template")
    assert problem["message"] == "none of the rows has a prompt: “question” is empty."
    with pytest.raises(DataError, match="none of the 2 rows has a prompt: “question” is empty there"):
        data.load_data(DataSpec(source="file:none.jsonl"), chat=True)
    [problem] = check(source="file:none.jsonl", prompt_column="question", prompt_template="{question}")["problems"]
    assert problem["field"] == "data.prompt_column"
    write("nothing.jsonl", [{"question": None, "answer": None, "other": "1+1?"}, {"question": " ", "other": "2+2?"}])
    asks, answers = check(source="file:nothing.jsonl")["problems"]  # both at once, not one after the other was mended
    assert (asks["field"], answers["field"]) == ("data.prompt_template", "data.answer_column")
    assert answers["message"].startswith("none of the 2 rows has an answer: “answer” is empty in all of them.")


@pytest.mark.parametrize("answer", [None, "Lösung"])
def test_a_column_of_answers_is_not_offered_as_what_is_asked(answer: str | None):
    """Where nothing else was left, “Use “Lösung”” was the button for the questions; or there was none."""
    write("leer.jsonl", [{"Aufgabe": "", "Lösung": str(n)} for n in range(5)])
    parts = {"source": "file:leer.jsonl", "prompt_template": "{Aufgabe}", "answer_column": answer}
    problem = problem_of(check(**parts), "has a prompt")
    assert problem["message"] == "none of the rows has a prompt: “Aufgabe” is empty."
    assert [(fix["label"], fix["leads"]) for fix in problem["fixes"]] == [("Choose another file", True)]


def test_a_file_without_questions_says_so_before_they_are_mapped():
    """It offered “{Aufgabe}”, and then said that it is empty."""
    write("leer.jsonl", [{"Aufgabe": "", "Lösung": str(n)} for n in range(5)])
    for template in ("{question}", "{Column 1}"):
        asked = DataSpec(source="file:leer.jsonl", prompt_template=template, answer_column="Lösung")
        found = preview.preview(asked, ModelSpec()).problems
        (problem,) = (one for one in found if one.field == "data.prompt_template")
        assert "“Aufgabe” asks nothing: it is empty." in problem.message
        assert [fix.label for fix in problem.fixes] == ["Choose another file"]


def test_a_cell_that_is_missing_says_nothing_beside_one_that_is_there():
    write("alpaca.jsonl", [{"instruction": "Add.", "input": None, "answer": 1}, {"instruction": "Go.", "input": "x"}])
    asked = DataSpec(source="file:alpaca.jsonl", prompt_template="{instruction}|{input}")
    assert [row["prompt"] for row in data.load_data(asked, chat=False)[0]] == ["Add.|", "Go.|x"]


def test_every_length_is_in_a_bin():
    assert data_checks.histogram([]) == ([], [])
    assert data_checks.histogram([7, 7]) == ([7, 8], [2])
    edges, counts = data_checks.histogram([1, 2, 1000])
    assert len(counts) <= BINS and sum(counts) == 3
    assert len(edges) == len(counts) + 1 and edges[0] <= 1 and edges[-1] > 1000


def test_a_source_of_no_kind_is_refused():
    with pytest.raises(DataError, match="is not a data source"):
        preview_source.table_of(DataSpec(source="ftp:x"))


@pytest.mark.parametrize("length", ["many", 0, -5, 1.5, [48], None])
def test_the_data_is_checked_though_the_longest_completion_is_no_length(registry_home: Path, length: Any):
    usual = server.answer_question(CHECK_DATA, {"data": {"limit": 8}, "model": {}})
    spec = make_spec(data={"limit": 8}, training={"max_completion_length": length})
    assert server.answer_question(CHECK_DATA, view.about_lengths(spec).as_dict()) == usual
    assert usual["lengths"] and "error" not in usual


def test_a_heading_among_the_rows_of_joined_files_is_said_with_its_row_and_one_click_leaves_it_out():
    part = "question,2026\n" + "".join(f"{n}+{n}?,{2 * n}\n" for n in range(20))
    put("joined.csv", part + part.replace("+", "-") + part.replace("+", "*"))
    parts = {"source": "file:joined.csv", "prompt_template": "{question}", "answer_column": "2026"}
    problem = problem_of(check(**parts), "repeat the heading")
    words = "row 21 and row 42 repeat the heading: “question” would be a prompt. Were files joined?"
    assert problem["message"] == words
    assert problem["level"] == "warning"
    mended = check(**fixed(parts, problem))
    assert mended["filtered"] == 2 and "repeat" not in str(mended["problems"])
    asked = DataSpec.model_validate({**fixed(parts, problem)})
    assert len(data.load_data(asked, chat=True)[0]) == 60
    parts["prompt_template"] = "{2026}"
    named = check(**fixed(parts, problem_of(check(**parts), "repeat the heading")))
    assert named["filtered"] == 2, "a column that is called by a number is compared as text"


def exercises(**given: Any) -> DataSpec:
    rows = [
        {"Nr": n, "Hinweis": " ", "Aufgabe": f"Was ist {n} + {n}?", "Antwort": None, "Lösung": str(2 * n)}
        for n in range(1, 41)
    ]
    write("übung.jsonl", rows)
    return DataSpec(source="file:übung.jsonl", **given)


def fixes_of(asked: DataSpec) -> list[tuple[str, list[tuple[str, dict[str, Any]]]]]:
    """The fields of what blocks, each with its buttons."""
    found = data_checks.check_data(asked, ModelSpec(), 64, True).problems
    return [(one.field, [(f.label, f.settings) for f in one.fixes]) for one in found if one.level == "blocking"]


@pytest.mark.parametrize(
    ("given", "field", "settings"),
    [
        ({"prompt_template": "Löse: {Hinweis}"}, "prompt_template", {"data.prompt_template": "Löse: {Aufgabe}"}),
        ({"prompt_template": "{Hinweis} {Antwort}"}, "prompt_template", {"data.prompt_template": "{Aufgabe}"}),
        ({"prompt_column": "Hinweis"}, "prompt_column", {"data.prompt_column": "Aufgabe"}),
    ],
)
def test_of_rows_that_ask_nothing_the_cause_alone_is_said_with_a_column_that_has_text(
    given: dict[str, Any], field: str, settings: dict[str, Any]
) -> None:
    asked = exercises(**given, answer_column="Lösung", holdout=1)
    assert fixes_of(asked) == [(f"data.{field}", [("Use “Aufgabe”", settings)])]


def test_where_the_answers_are_is_offered_first_when_their_column_is_empty() -> None:
    asked = exercises(prompt_template="{Aufgabe}", answer_column="Antwort", holdout=1)
    [(field, fixes)] = fixes_of(asked)
    assert field == "data.answer_column"
    assert fixes == [
        ("Use “Lösung”", {"data.answer_column": "Lösung"}), ("There is no answer", {"data.answer_column": None}),
    ]  # fmt: skip
    write("marked.jsonl", [{"q": f"{n}+1?", "answer": "", "solution": f"so #### {n + 1}"} for n in range(9)])
    marked = DataSpec(source="file:marked.jsonl", prompt_template="{q}", answer_column="answer")
    assert fixes_of(marked)[0][1][0][0] == r"Use “solution” with the answer pattern ####\s*(.+)", "all that it sets"
    only = exercises(prompt_template="{Lösung}", answer_column="Antwort", holdout=1)  # which is what is asked
    assert [label for label, _ in fixes_of(only)[0][1]] == ["There is no answer"]


def test_sums_in_another_writing_are_said_of_the_starter_with_a_template_that_turns_them():
    def told(**asked: Any) -> list[dict[str, Any]]:
        found = check(**asked)["problems"]
        return [one for one in found if one["field"] == "data.prompt_template"]

    rows = [{"a": str(n), "b": str(n + 7), "answer": str(2 * n + 7)} for n in range(1, 9)]
    write("parts.jsonl", rows)
    said = told(source="file:parts.jsonl", prompt_template="{a} + {b} =")
    assert said[0]["message"] == "the starter model knows sums only as “1+8?”: of “1 + 8 =” it finds hardly any."
    [fix] = said[0]["fixes"]
    assert fix["settings"] == {"data.prompt_template": "{a}+{b}?"}
    assert told(source="file:parts.jsonl", prompt_template="{a}+{b}?") == []
    write("whole.jsonl", [{"question": f"{row['a']} + {row['b']} =", "answer": row["answer"]} for row in rows])
    [whole] = told(source="file:whole.jsonl", prompt_template="{question}")
    assert (
        whole["fixes"] == [] and "No prompt template can rewrite them here: write them as “1+8?” in" in whole["message"]
    )
