"""Searching a run's completions: what the words mean, what each filter keeps, and that a search always ends."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupwise.storage.home import db, paths
from groupwise.storage.record import find, find_text, kept_hits
from groupwise.storage.record.find import Found, Wanted
from groupwise.storage.record.hits import BINS, Hits
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Event
from tests.support.finding import NAMES, STEPS, group, older, places, searched_run
from tests.support.homes import fresh_home


@pytest.fixture(scope="module")
def record() -> Iterator[Path]:
    with fresh_home():
        yield paths.run_folder(searched_run()).db


@pytest.fixture(scope="module")
def old_record(record: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return older(record.parent.name, tmp_path_factory.mktemp("older"))


def each(*indexes: int) -> list[tuple[int, int]]:
    """These of each step."""
    return [(step, index) for step in STEPS for index in indexes]


WORDS = {
    "carry": each(0), "CARRY one": each(0), "car": each(0), "one carry": each(0), "carry zebra": [],
    "<answer>4": [(4, 0)], "<ANSWER": each(0), "><": each(0), '"carry one"': each(0), '"one carry"': [],
    "école": each(1), "含む": each(1), "after": each(2), "after,": each(2), "342": [(3, 2)], "=nul": each(2),
    "-3?": [(3, index) for index in range(4)], '"-3?" carry': [],
    "": each(0, 1, 2, 3), "  ": each(0, 1, 2, 3),
    '"': [], "''": [], "carry*": [], "AND": [], "carry AND": [], "*": [],
    "text:carry": [], "carry OR zebra": [], "NEAR(carry one)": [], "'); DROP TABLE completion; --": [],
    "\0": each(0, 1, 2, 3),
}  # fmt: skip


@pytest.mark.parametrize("words", WORDS, ids=repr)
def test_words_find_what_begins_with_them_and_what_has_punctuation_exactly_that(record: Path, words: str) -> None:
    assert places(record, Wanted(words)) == WORDS[words]


def test_what_was_asked_is_found_within_the_other_filters_and_no_word_of_its_form(record: Path) -> None:
    assert places(record, Wanted("-3?", reward=(3.0, None))) == [(3, 3)]
    assert places(record, Wanted("-[34]\\?$", regex=True)) == [(step, index) for step in (3, 4) for index in range(4)]
    for form in ("role", "user", "content", "{", '"content"', "%", "_"):
        assert places(record, Wanted(form)) == []


def test_a_bare_word_is_not_found_inside_another_nor_a_single_character_before_one(record: Path) -> None:
    assert places(record, Wanted("arry")) == places(record, Wanted("c")) == []


@pytest.mark.parametrize("words", [words for words in WORDS if words != "carry AND"], ids=repr)
def test_a_record_without_an_index_of_words_is_read_instead(old_record: Path, words: str) -> None:
    assert places(old_record, Wanted(words)) == WORDS[words]


FILTERS = [
    (Wanted(reward=(1, 2)), each(0)),
    (Wanted(reward=(None, 0.5)), each(1)),
    (Wanted(reward=(2, 2)), each(0)),
    (Wanted(reward=(4, None)), []),
    (Wanted(function="format", score=(0.5, None)), each(0, 1, 3)),
    (Wanted(function="correct: ness", score=(1, 1)), each(3)),
    (Wanted(function="correct: ness", status="error"), each(1)),
    (Wanted(function="correct: ness", status="timeout"), each(2)),
    (Wanted(function="format", status="none"), each(2)),
    (Wanted(function="no such function", score=(0, 1)), []),
    (Wanted(steps=(3, 3), length=(25, None)), [(3, 2), (3, 3)]),
    (Wanted(steps=(None, 2), truncated=True), [(1, 3), (2, 3)]),
    (Wanted(truncated=False, length=(None, 10)), each(0)),
    (Wanted("carry", reward=(3, 3)), []),
    (Wanted("carry", mode="eval"), [(4, 0), (8, 0)]),
    (Wanted(starred=[]), []),
]


@pytest.mark.parametrize(("wanted", "expected"), FILTERS)
def test_a_filter_keeps_what_it_says(record: Path, old_record: Path, wanted: Wanted, expected: list) -> None:
    assert places(record, wanted) == places(old_record, wanted) == expected


def test_held_out_ones_are_apart_unless_both_are_wanted_and_what_was_trained_over_does_not_count(record: Path) -> None:
    modes = {mode: len(places(record, Wanted(mode=mode))) for mode in find.MODES}
    assert modes == {"train": 32, "eval": 8, "both": 40}
    ids = [hit[0] for hit in find.search_completions(record, Wanted(steps=(5, 8))).hits]
    assert {row["attempt"] for row in find.rows(record, ids)} == {2}


def test_the_starred_are_those_that_were_named(record: Path) -> None:
    some = find.rows(record, [hit[0] for hit in find.search_completions(record, Wanted(steps=(2, 3))).hits])
    chosen = [(row["grp"], row["idx"]) for row in some if row["idx"] == row["step"]]
    assert places(record, Wanted(starred=chosen)) == [(2, 2), (3, 3)]


def test_a_row_is_the_whole_completion(record: Path) -> None:
    newest = find.rows(record, [hit[0] for hit in find.search_completions(record, Wanted(steps=(8, 8))).hits])
    row = newest[2]
    assert (row["step"], row["idx"], row["mode"], row["attempt"], row["reward"]) == (8, 1, "train", 2, 0.5)
    assert row["scores"] == {"format": (0.5, "ok"), "correct: ness": (None, "error")}
    assert row["prompt"] == [{"role": "user", "content": "-8?"}] and row["columns"] == {"answer": "@8"}
    assert row["extra"] == {"seen": {"a": 1}}


def test_an_order_puts_what_has_no_reward_last_either_way(record: Path) -> None:
    found = find.search_completions(record, Wanted(steps=(7, 8)))
    newest = [hit[0] for hit in found.hits]
    assert newest == sorted(newest, reverse=True) and found.ids("oldest", 1, 50) == newest[::-1]
    rewards = {sort: [hit[1] for hit in find.sort_hits(found.hits, sort)] for sort in ("reward", "-reward")}
    assert rewards["reward"] == [0.5, 0.5, 2, 2, 3, 3, None, None]
    assert rewards["-reward"] == [3, 3, 2, 2, 0.5, 0.5, None, None]
    assert [hit[2] for hit in find.sort_hits(found.hits, "-length")] == [40, 40, 30, 30, 20, 20, 10, 10]
    assert found.ids("newest", 2, 3) == newest[3:6] and found.ids("newest", 9, 3) == []


# --- regular expressions


def test_every_page_is_a_part_of_the_whole_order() -> None:
    """Also where few hits are picked out of many, with equal rewards, and with some that have none."""
    rng = random.Random(0)
    hits = [(id, rng.choice([None, -1.5, 0.0, 0.25, 3.0]), rng.randrange(9)) for id in range(2 * find.FEW, 0, -1)]
    found = Found(hits, len(hits), len(hits))
    for sort in find.SORTS:
        whole = [hit[0] for hit in find.sort_hits(hits, sort)]
        for page in (1, 2, 13, 14, 25, 26):  # 80 of a page: FEW lies within one
            assert found.ids(sort, page, 80) == whole[(page - 1) * 80 : page * 80], (sort, page)
    best = sorted((hit for hit in hits if hit[1] is not None), key=lambda hit: (-(hit[1] or 0), -hit[0]))
    assert found.ids("-reward", 1, 50) == [hit[0] for hit in best[:50]]


def test_a_regular_expression_is_looked_for_in_the_texts(record: Path) -> None:
    assert places(record, Wanted(r"ANSWER>[45]<", regex=True)) == [(4, 0), (5, 0)]
    assert places(record, Wanted(r"^=nul\x00", regex=True, steps=(2, 2))) == [(2, 2)]
    assert places(record, Wanted("", regex=True)) == each(0, 1, 2, 3)


@pytest.mark.parametrize("pattern", ["(", "[z-a]", "(?P<a>x)(?P<a", r"\p{Nonsense}", "(" * 400 + ")" * 100, "*"])
def test_what_is_no_regular_expression_is_said(record: Path, pattern: str) -> None:
    with pytest.raises(find_text.BadPattern, match="regular expression"):
        find.search_completions(record, Wanted(pattern, regex=True))


@pytest.mark.parametrize(("pattern", "at"), [("([a-z", 2), ("ab[", 3), ("é😀[", 3), ("a(b", 2)])
def test_where_what_is_never_closed_begins_is_said(pattern: str, at: int) -> None:
    with pytest.raises(find_text.BadPattern, match=rf"the [\[(] at character {at} is never closed"):
        find_text.compile_pattern(pattern)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(?:a(?R)?)+x"])
def test_a_pattern_that_would_never_end_is_ended(record: Path, pattern: str) -> None:
    found = find.search_completions(record, Wanted(pattern, regex=True, steps=(6, 8)), seconds=0.05)
    assert found.late and not found.is_whole and found.of == 12 and found.looked < 12
    assert find_text.spans(find_text.finder(pattern, True), "a" * 4000 + "b", seconds=0.05) == []


def test_where_texts_are_read_enough_is_enough(record: Path) -> None:
    found = find.search_completions(record, Wanted('"carry one"'), most=3, seconds=60.0)
    assert len(found.hits) == 3 and not found.is_whole and not found.late
    assert [row["step"] for row in find.rows(record, [hit[0] for hit in found.hits])] == [8, 7, 6]


# --- how rewards are spread

REWARDS = st.lists(st.none() | st.floats(allow_nan=False), max_size=60)


@given(REWARDS)
def test_every_reward_that_is_a_number_is_in_one_bin_and_the_bins_are_in_order(rewards: list[float | None]) -> None:
    bins = Hits((1, reward, 1) for reward in rewards).bins
    finite = [reward for reward in rewards if reward is not None and math.isfinite(reward)]
    assert sum(one.count for one in bins) == len(finite)
    for one in bins:
        assert sum(one.low <= reward <= one.high for reward in finite) == one.count
    assert [one.at for one in bins] == sorted({one.at for one in bins})
    assert all(0 <= one.at < BINS for one in bins)


# --- what was found before is not read again


def test_words_after_a_look_at_all_find_the_same_as_words_alone(record: Path) -> None:
    for chosen in ({}, {"steps": (3, 6)}, {"mode": "both"}, {"reward": (2.5, None)}):
        kept_hits._kept.clear()
        alone = {words: places(record, Wanted(words, **chosen)) for words in WORDS}
        everything = places(record, Wanted(**chosen))
        assert {words: places(record, Wanted(words, **chosen)) for words in WORDS} == alone
        assert alone[""] == everything == places(record, Wanted(**chosen))


def test_a_newer_completion_and_a_resume_are_seen_at_once(registry_home: Path) -> None:
    path = paths.run_folder(searched_run()).db

    def counted() -> tuple[int, int]:
        return len(places(path, Wanted())), len(places(path, Wanted("carry")))

    assert counted() == (32, 8)
    writer = RunWriter(path, 2, dict.fromkeys(NAMES, 1.0))
    writer.commit(9, groups=[group(9, 0)])
    assert counted() == (36, 9)
    writer.close()
    writer = RunWriter(path, 3, dict.fromkeys(NAMES, 1.0))
    writer.commit(2, events=[Event("begin", "Training resumes at step 2 of 8.")])
    assert counted() == (8, 2)
    writer.close()


def test_another_record_in_its_place_is_not_taken_for_it(registry_home: Path) -> None:
    path, other = (paths.run_folder(searched_run()).db for _ in range(2))
    record = db.open_writer(other, journal="wal")
    record.execute("UPDATE completion SET reward = 7.5")
    record.close()
    assert {hit[1] for hit in find.search_completions(path, Wanted()).hits} == {2.0, 0.5, None, 3.0}
    other.rename(path)
    assert {hit[1] for hit in find.search_completions(path, Wanted()).hits} == {7.5}


def test_a_search_keeps_no_more_than_it_may(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept_hits._kept.clear()
    for step in range(1, 9):
        places(record, Wanted(steps=(step, step)))
    assert len(kept_hits._kept) == kept_hits.SEARCHES
    kept_hits._kept.clear()
    monkeypatch.setattr(kept_hits, "LONGEST", 31)
    assert len(places(record, Wanted())) == 32 and not kept_hits._kept


def test_nothing_found_is_a_whole_answer() -> None:
    assert Found().is_whole and Found().ids("reward", 1, 50) == []
