"""Columns of a table that share a name, or have none, by names of their own. Pure; a run's plain script has this very
code."""


def numbered_names(names: list[str]) -> list[str]:
    """The names of a heading, none empty and no two the same: question, question_2, column_3."""
    found: list[str] = []
    for place, name in enumerate(names, 1):
        base = name if name.strip() else f"column_{place}"
        new, count = base, 1
        while new in found or (new != name and new in names):
            count += 1
            new = f"{base}_{count}"
        found.append(new)
    return found
