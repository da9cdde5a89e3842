"""The Completions tab's answers: what an address asks for, what is said of it, and that text stays text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.run import completion_query, completions
from groupwise.app.pages.run.excerpt import LONGEST, excerpt, mark_spans
from groupwise.storage.home import paths
from groupwise.storage.record import find
from groupwise.storage.record.find import OPEN, Wanted
from groupwise.storage.record.step_record import Completion, Group
from groupwise.storage.registry import notes
from tests.support.finding import searched_run
from tests.support.homes import fresh_home
from tests.support.made_runs import made_run, spec_of


@pytest.fixture(scope="module")
def made() -> Iterator[tuple[Path, str]]:
    with fresh_home() as place:
        yield place, searched_run()


@pytest.fixture
def run_id(made: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("GROUPWISE_HOME", str(made[0]))
    return made[1]


def ask(run_id: str, **given: str) -> dict[str, Any]:
    return completions.find_completions({"run": run_id, "query": urlencode(given)})


# --- addresses


@pytest.mark.parametrize(
    ("words", "ends"),
    [("0.5..2", (0.5, 2)), ("0.5..", (0.5, None)), ("..2", (None, 2)), ("1", (1, 1)), ("-1..−0.5", (-1, -0.5)),
     ("", OPEN), ("..", OPEN), ("1e-3..1e3", (0.001, 1000)), ("1...2", (1, 0.2))],
)  # fmt: skip
def test_a_range_is_two_ends(words: str, ends: tuple[float | None, float | None]) -> None:
    if ends == (1, 0.2):
        with pytest.raises(Unanswerable, match="before it begins"):
            completion_query.read_range(words, "reward")
    else:
        assert completion_query.read_range(words, "reward") == ends


@pytest.mark.parametrize("words", ["a..b", "1..2..3", "nan", "inf..", "..1e999", "0x1", "1,5..2"])
def test_a_range_that_means_nothing_is_said(words: str) -> None:
    with pytest.raises(Unanswerable, match=r"^Reward, (from|to): “.*” is not a number\."):
        completion_query.read_range(words, "reward")


def test_the_end_that_is_no_number_is_named_with_the_number_that_is_meant() -> None:
    for words, says in [("0,5..", "Reward, from: “0,5” is not a number. Did you mean 0.5?"),
                        ("..zwei", "Reward, to: “zwei” is not a number.")]:  # fmt: skip
        with pytest.raises(Unanswerable) as error:
            completion_query.read_range(words, "reward")
        assert str(error.value) == says


def test_a_step_and_a_number_of_tokens_are_whole_and_none_is_below_0() -> None:
    why = "type a whole number, 0 or more."
    for words, what, says in [("-1..", "steps", f"Steps, from: “-1” is no step: {why}"),
                              ("2..2.5", "steps", f"Steps, to: “2.5” is no step: {why}"),
                              ("..−5", "tokens", f"Tokens, to: “−5” is no number of tokens: {why}")]:  # fmt: skip
        with pytest.raises(Unanswerable) as error:
            completion_query.read_range(words, what)
        assert str(error.value) == says
    assert completion_query.read_range("0..12.0", "steps") == (0, 12)
    assert completion_query.read_range("-1..-0.5", "the score of tokens") == (-1, -0.5)


def test_of_several_that_mean_nothing_each_is_said(run_id: str) -> None:
    given = {"reward": "2,5..vier", "function": "format:x..", "steps": "1..2", "length": "zehn.."}
    with pytest.raises(Unanswerable) as error:
        completion_query.read_query(run_id, given)
    assert str(error.value).splitlines() == [
        "Reward, from: “2,5” is not a number. Did you mean 2.5?",
        "Reward, to: “vier” is not a number.",
        "The score of format, from: “x” is not a number.",
        "Tokens, from: “zehn” is not a number.",
    ]


def test_an_address_says_what_is_looked_for(run_id: str) -> None:
    given = {
        "q": " carry ", "regex": "1", "reward": "0..1", "function": "a: b:error", "steps": "2..", "length": "..9",
        "truncated": "no", "mode": "both", "sort": "-reward", "page": "3",
    }  # fmt: skip
    assert completion_query.read_query(run_id, completion_query.query_parameters(urlencode(given))) == Wanted(
        "carry", True, (0, 1), "a: b", OPEN, "error", (2, None), (None, 9), False, "both", None
    )
    assert (completion_query.sort(given), completion_query.page(given)) == ("-reward", 3)


def test_a_function_of_which_any_score_will_do_keeps_nothing_out(run_id: str) -> None:
    for words in ("format", "format:", "format:..", "correct: ness:"):
        assert completion_query.read_query(run_id, {"function": words}) == Wanted(), words
    one = completion_query.read_query(run_id, {"function": "correct: ness:1"})
    assert (one.function, one.score) == ("correct: ness", (1, 1))


def test_what_an_address_cannot_mean_is_as_if_it_were_not_there(run_id: str) -> None:
    odd = {"regex": "yes", "truncated": "perhaps", "mode": "DROP", "sort": "; --", "page": "-1", "starred": "0"}
    assert completion_query.read_query(run_id, completion_query.query_parameters(urlencode(odd))) == Wanted()
    assert (completion_query.sort(odd), completion_query.page(odd), completion_query.page({"page": "9" * 30})) == (
        "newest",
        1,
        1,
    )


# --- answers


def test_a_page_says_how_many_there_are_and_draws_them(run_id: str) -> None:
    reply = ask(run_id)
    assert (reply["told"], reply["page"], reply["pages"]) == ("32 completions", 1, 1)
    assert completions.newest_completion({"run": run_id}) == {"newest": reply["newest"], "live": False}
    assert reply["rows"].count("<li") == 32 and reply["functions"] == ["format", "correct: ness"]
    assert [one["words"] for one in reply["bins"]["of"]] == [
        "reward 0.50: 8 completions", "reward 2.00: 8 completions", "reward 3.00: 8 completions"
    ]  # fmt: skip
    assert [one["range"] for one in reply["bins"]["of"]] == ["0.5..0.5", "2.0..2.0", "3.0..3.0"]


def test_a_bin_s_address_finds_what_was_counted_in_it(run_id: str) -> None:
    for one in ask(run_id)["bins"]["of"]:
        assert ask(run_id, reward=one["range"])["told"] == "8 completions match"


def test_the_bins_stay_those_of_the_other_filters_and_say_which_are_chosen(run_id: str) -> None:
    reply = ask(run_id, reward="2.0..3.0", steps="2..8")
    assert reply["told"] == "14 completions match"
    assert [(one["range"], one["chosen"]) for one in reply["bins"]["of"]] == [
        ("0.5..0.5", False), ("2.0..2.0", True), ("3.0..3.0", True)
    ]  # fmt: skip
    assert not any(one["chosen"] for one in ask(run_id)["bins"]["of"])


def test_a_row_leads_to_its_completion_and_marks_what_was_found(run_id: str) -> None:
    drawn = ask(run_id, q="<answer>4")["rows"]
    assert "<mark>&lt;answer&gt;4</mark>" in drawn and drawn.count("<li") == 1
    place = re.search(r'href="/run\?([^"]*)"', drawn)
    assert place and "&amp;tab=groups&amp;step=4&amp;group=" in place[1] and place[1].endswith("idx=0")
    assert "mode=eval" in ask(run_id, q="<answer>4", mode="eval")["rows"]


def test_pages_hold_fifty_and_a_page_too_far_is_the_last(run_id: str) -> None:
    many = made_run("many", 20, groups=1)

    def shown(drawn: str) -> int:
        return drawn.count("<li") + sum(int(times) - 1 for times in re.findall(r">(\d+) ×<", drawn))

    second = ask(many, page="2")
    assert (second["pages"], shown(second["rows"])) == (4, 50)
    assert ask(many, page="99")["page"] == 4 and shown(ask(many, page="4")["rows"]) == 10


def test_nothing_found_says_what_may_be_too_narrow(run_id: str) -> None:
    reply = ask(run_id, q="zebra", steps="3..4")
    assert reply["none"] == "No completion matches. Try another search word or a wider range of steps."
    assert reply["rows"] == "" and reply["bins"]["of"] == []
    assert ask(run_id, reward="0..0", function="format:")["none"] == (
        "No completion has a reward in this range. The rewards here lie between 0.50 and 3.00."
    )
    assert ask(run_id, reward="0..0", q="ÉCOLE")["none"] == (
        "No completion has a reward in this range. The rewards of what matches the other filters are all 0.50."
    )
    assert "Nothing is starred" in ask(run_id, starred="1")["none"]


@pytest.mark.parametrize(
    ("given", "says"),
    [({"reward": "x"}, "is not a number"), ({"q": "(", "regex": "1"}, "not a regular"),
     ({"function": "f:2..1"}, "ends")],
)  # fmt: skip
def test_what_cannot_be_asked_is_said_beside_the_form(run_id: str, given: dict[str, str], says: str) -> None:
    reply = ask(run_id, **given)
    assert says in reply["problem"] and "rows" not in reply


def test_a_search_that_took_too_long_says_how_far_it_came(run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    matching = find.search_completions(paths.run_folder(run_id).db, Wanted("(a+)+$", True, steps=(6, 8)), seconds=0.05)
    words = completions.match_summary(matching, Wanted("(a+)+$", True))
    assert f"in the newest {matching.looked} of 12 completions" in words and "narrower range of steps" in words


def test_stars_and_notes_are_shown_and_found(run_id: str) -> None:
    found = find.search_completions(paths.run_folder(run_id).db, Wanted("<answer>3"))
    row = find.rows(paths.run_folder(run_id).db, [found.hits[0][0]])[0]
    notes.star(run_id, row["grp"], row["idx"], True)
    notes.annotate(run_id, row["grp"], row["idx"], "<b>look</b>")
    drawn = ask(run_id, starred="1")["rows"]
    assert drawn.count("<li") == 1 and 'aria-pressed="true"' in drawn and "&lt;b&gt;look" in drawn


def test_completions_of_a_group_that_show_the_same_are_one_row(run_id: str) -> None:
    def wrote(text: str, reward: float) -> Completion:
        return Completion(text, 3, False, reward, 0.0, [(reward, "ok")])

    texts = [wrote("four", 1.0), wrote("five", 0.0), wrote("four", 1.0), wrote("four", 0.5), wrote("four", 1.0)]
    same = made_run(
        "same words", 2, groups=1, functions=("format",), prompts=1,
        make_group=lambda step, _: Group("train", step, "2 + 2?", {}, texts),
    )  # fmt: skip
    drawn = ask(same)["rows"]
    assert drawn.count("<li") == 6 and drawn.count('title="completions 1, 3, 5: the same text and scores">3 ×<') == 2
    assert ask(same)["told"] == "10 completions"
    first = find.rows(paths.run_folder(same).db, [1])[0]
    notes.star(same, first["grp"], 2, True)
    drawn = ask(same)["rows"]
    assert drawn.count("<li") == 7 and drawn.count(">2 ×<") == 1 and drawn.count('aria-pressed="true"') == 1


# --- hostile, missing, broken


def hostile(step: int, n: int) -> Group:
    texts = ["<script>x</script>", "\"'><svg onload=x>", "\u202eevil \x00\x07 nul", "<i" * 60_000, ""]
    scores = [(None, "<b>")]
    completions = [Completion(text, 1, True, 1.0, 0.0, scores) for text in texts]
    return Group("train", step, "<u>prompt", {"<u>": "<u>"}, completions)


def test_hostile_text_stays_text_whatever_is_searched_for(run_id: str) -> None:
    evil = made_run(
        "<u>evil", 1, groups=1, functions=("<u>f",), make_group=hostile, spec_yaml=spec_of("<u>evil", ("format",), 1)
    )
    for query in ({}, {"q": "<"}, {"q": "<script"}, {"q": ".", "regex": "1"}, {"q": "[^x]+", "regex": "1"}):
        drawn = ask(evil, **query)["rows"]
        assert drawn and not re.search(r"<(?!/?(?:li|button|div|a|p|span|bdi|b|mark)\b)", drawn)
        assert "\x00" not in drawn and "\u202e" not in drawn and len(drawn) < 10_000


@pytest.mark.parametrize("payload", [None, 7, [], {}, {"run": 5}, {"run": "../x"}, {"run": "no-such-run"}])
def test_what_names_no_run_gets_a_sentence(run_id: str, payload: Any) -> None:
    assert completions.find_completions(payload)["sentence"] and completions.newest_completion(payload)["sentence"]


def test_odd_queries_are_answered(run_id: str) -> None:
    for query in (None, 5, "%ff%00=%ff", "q=%00", "q=" + "x" * 9000, "&" * 40, "q=a&q=b", "?q=carry", "q=\ud800"):
        reply = completions.find_completions({"run": run_id, "query": query})
        assert "told" in reply, reply
    assert "too many" in completions.find_completions({"run": run_id, "query": "a=1&" * 200})["problem"]


def test_a_run_without_completions_says_so_and_a_deleted_one_too(run_id: str) -> None:
    empty = made_run("empty", 2, groups=0)
    assert "nothing to search" in ask(empty)["wait"]
    folder = paths.run_folder(empty)
    folder.path.rename(folder.path.with_name("moved"))
    for said in (ask(empty)["wait"], completions.newest_completion({"run": empty})["sentence"]):
        assert "is not where it was" in said


def test_a_record_that_was_half_copied_is_a_sentence(run_id: str) -> None:
    broken = made_run("broken", 60, groups=2)
    path = paths.run_folder(broken).db
    whole = path.read_bytes()
    for keep in (len(whole) // 2, 5000, 100):
        path.write_bytes(whole[:keep])
        reply = ask(broken, q="carry one", reward="0..1")
        assert reply.get("sentence") or reply.get("wait") or "told" in reply
        assert not reply.get("fault")


# --- excerpts


def test_an_excerpt_is_around_the_first_match_and_marks_all_within() -> None:
    text = "x" * 500 + "<here> and here" + "y" * 500
    drawn = excerpt(text, [(500, 506), (511, 515), (900, 905)])
    assert "<mark>&lt;here&gt;</mark> and <mark>here</mark>" in drawn
    assert drawn.startswith("<b>…</b>") and drawn.endswith("<b>…</b>") and len(drawn) < LONGEST + 100


def test_a_match_longer_than_the_excerpt_is_marked_as_far_as_it_is_shown() -> None:
    drawn = excerpt("z" * 5000, [(0, 5000)])
    assert drawn == f"<mark>{'z' * LONGEST}</mark> <b>…</b>"


def test_without_a_match_a_long_text_is_its_beginning_and_its_end() -> None:
    drawn = excerpt(f"begin{'m' * 5000}the end", [])
    assert drawn.startswith("begin") and drawn.endswith("the end") and len(drawn) < LONGEST + 20
    assert "(empty: the model ended at once)" in excerpt("", []) and mark_spans("a<b", []) == "a&lt;b"
