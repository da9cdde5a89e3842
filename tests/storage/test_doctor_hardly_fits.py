"""A limit within which what a function rewards hardly fits is named, by what the completions show."""

from __future__ import annotations

from typing import Any

from groupwise.storage.analysis.doctor.evidence import Evidence, Function, Sample
from groupwise.storage.analysis.doctor.examine import examine
from groupwise.storage.checks.tag_room import tag_room
from tests.support.doctor import REWARDS, healthy, line

LIMIT = 40
SUM = "<think>29+41=70</think><answer>70</answer>"


def completions(earners: tuple[int, ...], cut: int = 64) -> list[Sample]:
    """So many completions that begin the form and are cut off, 128 that end after three tokens, and those of these
    lengths that “format” gave 1."""
    texts = [(SUM[:LIMIT], LIMIT, True, 0.0)] * cut + [("70", 3, False, 0.0)] * 128
    texts += [("<think>3+3=6</think><answer>6</answer>", tokens, tokens == LIMIT, 1.0) for tokens in earners]
    return [
        Sample(at // 8, at % 8, 1 + at // 32, text, given + (at % 2), "29+41?", tokens, was_cut, {"format": given})
        for at, (text, tokens, was_cut, given) in enumerate(texts)
    ]


def short_of_room(
    earners: tuple[int, ...] = (39, 39, 40, 39, 40, 39, 40), *, cut: float = 0.29, **changed: Any
) -> Evidence:
    """A run in which “format” gives next to nothing: these completions earned from it."""
    read, high = completions(earners, changed.pop("began", 64)), 1.0 if earners else 0.0
    curves = {
        "completions/clipped_ratio": line(cut, cut * 0.8), "reward": line(0.4, 0.42, 0.04),
        "rewards/format/mean": line(0.02, 0.005) if earners else line(0, 0),
        "rewards/correctness/mean": line(0.4, 0.42),
    }  # fmt: skip
    format_ = Function(1.0, {"ok": 384}, 0.0, high, 0.1, (0.0, high))
    return healthy(
        curves=curves, functions={"format": format_}, training={"max_completion_length": LIMIT}, first=read, last=read,
        tags=tag_room(REWARDS, by_letter=True), ended=True, **changed,
    )  # fmt: skip


def test_a_form_that_hardly_fits_is_named_though_a_few_completions_earned_from_it() -> None:
    """29 % cut off, format 0.005: “no problems detected”, as two of the cut-off completions had scored."""
    first = examine(short_of_room()).verdicts[0]
    assert (first.key, first.level) == ("truncated", "problem")
    assert first.title == "The limit leaves hardly any room for format"
    assert "“format” gave next to nothing, 0.006" in first.sentence
    assert "the only 7 completions of steps 1–7 that earned from it had 39 to 40 tokens." in first.sentence
    assert first.changes[0].settings == {"training.max_completion_length": 80}


def test_a_form_that_never_fits_is_named_by_the_completions_that_begin_it() -> None:
    """Its tags take 34 tokens at least, a sum in them 39: at 38 none ever scored, and nothing was said."""
    first = examine(short_of_room(())).verdicts[0]
    assert first.title == "The limit leaves hardly any room for format"
    said = "“format” has scored 0 every time: all 64 completions of steps 1–6 that begin with “<think>” were cut"
    assert said in first.sentence


def test_what_earns_well_within_the_limit_accuses_no_limit() -> None:
    for e in (
        short_of_room((12, 14, 39, 20, 40), began=0),  # it fits
        short_of_room((39, 40), began=0),  # too few to tell
        short_of_room(cut=0.1),  # hardly any is cut off
        short_of_room((), began=0),  # none begins it
    ):
        assert "truncated" not in {one.key for one in examine(e).verdicts}
