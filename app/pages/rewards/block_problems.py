"""What is wrong with a function that is made of blocks, said of its blocks: whoever builds sees no lines of code."""

from collections.abc import Iterator

from groupwise.storage.home import redaction
from groupwise.storage.library.rewards.builder import Block, compared_column
from groupwise.storage.library.rewards.names import quote_name
from groupwise.storage.library.rewards.signature import CodeProblem
from groupwise.storage.spec.python_source import quote_in_words

ANSWER = "answer"  # as functions get the column that the data maps as its answer


def say_missing_column(problem: CodeProblem, name: str, blocks: list[Block]) -> tuple[str, int | None]:
    """That the data has no column which a block compares with, and which block that is, from 0."""
    column = problem.asked
    which = next((n for n, one in enumerate(blocks) if compared_column(one) == column), None)
    what, lacks = ("the answer", "no answer") if column == ANSWER else (quote_in_words(column, 60), "no such column")
    block = "" if which is None or len(blocks) == 1 else f" in block {which + 1}"
    said = f"{quote_name(name)} compares with {what}{block}, and this data has {lacks}"
    choose = "which column is the answer" if column == ANSWER else "another column"
    return f"{said}. Did you mean “{problem.meant}”?" if problem.meant else f"{said}: choose {choose}.", which


def say_secret(blocks: list[Block]) -> tuple[str, int | None]:
    """Where what was typed holds a secret, and which block that is, from 0."""
    which = next((n for n, one in enumerate(blocks) if any(map(redaction.holds, _texts_of(one)))), None)
    where = "The name or the sentence" if which is None else f"Block {which + 1}"
    return f"{where} holds a secret. Take it out: what is typed here is kept with every run.", which


def _texts_of(block: Block) -> Iterator[str]:
    for value in block.settings.values():
        yield from map(str, value if isinstance(value, list) else [value])
