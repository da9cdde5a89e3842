"""A number and its noun agree, in every sentence: both languages have one helper for it, and nothing goes around it."""

from __future__ import annotations

import re

from groupwise.app.core import format
from groupwise.storage.spec.words.number_words import count_part, count_words
from tests.project.test_words import spoken_lines

NOUNS = "rows|steps|groups|completions|prompts|tokens|runs|answers|cells|stages|calls|notes|versions"
AROUND = re.compile(rf"\{{([^{{}}]*)\}} (?:{NOUNS})\b")
CONSTANT = re.compile(r"[^a-z]*[A-Z][A-Z_]+[^a-z]*")  # never one
DECIDED = re.compile(r"(?:===?|!==?|>=?|<) ?[12]\b|\bif n\b")  # the line itself says what stands where it is one
# What is never one where it is said, or is no whole number.
NEVER_ONE = (
    "{what} {len(found)} runs",  # a name or a beginning that fits one run is that run
    "%{x", "${number(value)} tokens", "readable(whole(", "short_number(", "write_figure(", "{percent(", "setting_text(",
    "found.steps)} steps. Most runs",  # more than a thousand
    "{every:g} steps",  # from two on
    "every {steps} steps", "longest // 2", "logged steps", "In the last {len(groups)} groups",
    "format.count(all_)", "{e.functions[name].calls}", "{told.calls}", "{int(tokens)} tokens",
    "{given:g} the completions",
    "up to {low:,} tokens", "supervised steps", "found.of:,} completions", "keeps none of the{where}",
    "reaches over {found.total_height:,} rows", "of {len(own)} rows", "{looked} rows were checked", "parts.append",
    "run_colours.PALETTE",
    "every {format.count(every)} steps", "{told.groups} groups or", "{told.never:,} of",
    "runs backwards",  # no noun
    "None of the ${order.length} runs",  # from two on
)  # fmt: skip


def test_a_number_and_its_noun_agree() -> None:
    assert (count_words(1, "row"), count_words(0, "row"), format.plural(2000, "row")) == (
        "1 row",
        "0 rows",
        "2,000 rows",
    )


def test_no_sentence_puts_a_plural_behind_any_number() -> None:
    found = [
        f"{place}: {line.strip()[:140]}"
        for place, line in spoken_lines()
        if not place.startswith(("docs", "README", "CONTRIBUTING"))
        and not line.strip().startswith(("#", "//"))
        and (match := AROUND.search(line))
        and not CONSTANT.fullmatch(match[1])
        and not DECIDED.search(line)
        and not any(words in line for words in NEVER_ONE)
    ]
    assert found == []


def test_what_is_all_of_something_is_called_so() -> None:
    """“In 64 of 64 groups”, as it was seen."""
    assert [count_part(n, 64, "group") for n in (0, 1, 64)] == ["0 of 64 groups", "1 of 64 groups", "all 64 groups"]
    assert count_part(3, 64, "group", the=True) == "3 of the 64 groups"
    assert [count_part(n, 1, "row") for n in (0, 1)] == ["0 of 1 row", "the only row"]
