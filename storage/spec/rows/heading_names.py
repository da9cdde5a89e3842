"""Columns of a table that share a name, or have none, by names of their own. Pure; a run's plain script has this very
code."""


def unnamed_columns(count: int) -> list[str]:
    """What the columns of a table without a heading are called."""
    return [f"Column {n + 1}" for n in range(count)]


def numbered_names(names: list[str]) -> list[str]:
    """The names of a heading, none empty and no two the same: question, question_2, column_3."""
    given = set(names)
    found: dict[str, None] = {}
    counts: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        base = name if name.strip() else f"column_{place}"
        new = base
        while new in found or (new != name and new in given):
            counts[base] = counts.get(base, 1) + 1
            new = f"{base}_{counts[base]}"
        found[new] = None
    return list(found)
