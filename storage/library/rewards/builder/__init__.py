"""The builder for people who do not write code: blocks → readable Python (`write.py`), and back (`read.py`). Pure."""

from groupwise.storage.library.rewards.builder.blocks import KINDS, Block, BlockProblem, block_problems
from groupwise.storage.library.rewards.builder.parts import compared_column
from groupwise.storage.library.rewards.builder.read import Reading, most_of_code, read_blocks
from groupwise.storage.library.rewards.builder.write import (
    TRACED,
    BuilderError,
    describe_blocks,
    needs_network,
    to_code,
    to_traced_code,
)

__all__ = [
    "KINDS", "TRACED", "Block", "BlockProblem", "BuilderError", "Reading", "block_problems", "compared_column",
    "describe_blocks", "most_of_code", "needs_network", "read_blocks", "to_code", "to_traced_code",
]  # fmt: skip
