"""What a cell of the data says in a prompt. Also part of a run's plain script (storage.checks.script). Pure."""


def cell_in_prompt(cell: object) -> str:
    """A cell as a prompt says it: nothing where it is missing (null, NaN, an empty list), never the word None."""
    return "" if cell is None or cell != cell or cell == [] else str(cell)
