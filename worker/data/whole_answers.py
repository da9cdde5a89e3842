"""Answers that are lists or mappings: how many of a column's are, and what rewards make of them. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from groupwise.storage.spec.words.number_words import are_words, count_part
from groupwise.storage.spec.words.problem import WARNING, Problem
from groupwise.worker.data.mapping import shorten_cell

EXAMPLE = 60  # characters


@dataclass
class WholeAnswers:
    """Counts over the answers of the rows that are used."""

    count: int = 0
    kinds: dict[str, None] = field(default_factory=dict)  # lists, mappings: those there are, in their order
    row: int = 0  # where the first of them is
    example: str = ""

    def note(self, row: int, answer: list[Any] | dict[str, Any]) -> None:
        """Count the answer of a row."""
        if not self.count:
            self.row, self.example = row, shorten_cell(answer, EXAMPLE)
        self.count += 1
        self.kinds["lists" if isinstance(answer, list) else "mappings"] = None

    def problems(self, column: str | None, answered: int, row_words: Callable[[int], str]) -> list[Problem]:
        """What to say of them, of so many answers. `row_words`: where a row stands."""
        if not self.count:
            return []
        kinds, them, none = " or ".join(self.kinds), "them", "none of them right"
        such = f"such as {self.example} in"
        if self.count == 1:
            kinds, them, none = f"a {kinds.removesuffix('s')}", "it", "it wrong"
            such = f"{self.example} in"
        message = (
            f"{count_part(self.count, answered, 'answer')} in “{column}” {are_words(self.count)} {kinds}, {such} "
            f"{row_words(self.row)}. Rewards get {them} whole: one of your own can search {them}, but “correctness” "
            f"compares with one answer, and scores {none}. For it, put one answer in each row."
        )
        return [Problem("data.answer_column", message, level=WARNING)]
