"""A prompt template: text in which {column} stands for each row's value. Column names may hold anything. Pure."""

import re
from collections.abc import Collection

from groupwise.storage.spec.rows.prompt_cells import cell_in_prompt

COLUMN = re.compile(r"\{([^{}]+)\}")
PLAIN = re.compile(
    r"\w[\w\u0300-\u036f .:()/%€$&+#?!-]*"
)  # what is meant as a column; other braces, as in JSON, are text


def fill_template(template: str, row: dict[str, object]) -> str:
    """The template with the row's cells in place of {column}; braces around anything else stay."""
    odd = sorted((name for name in row if re.search(r"[{}]", name)), key=len, reverse=True)
    names = "|".join([*(re.escape("{" + name + "}") for name in odd), r"\{[^{}]+\}"])

    def filled(found: re.Match[str]) -> str:
        name = found[0][1:-1]
        return cell_in_prompt(row[name]) if name in row else found[0]

    return re.sub(names, filled, template)


def named_columns(template: str, columns: Collection[str] = ()) -> list[str]:
    """What a template names in braces, each as often as it does; `columns`: those that there are, for names that hold
    braces themselves."""
    odd = sorted((name for name in columns if re.search(r"[{}]", name)), key=len, reverse=True)
    names = "|".join([*(re.escape("{" + name + "}") for name in odd), COLUMN.pattern])
    return [found[0][1:-1] for found in re.finditer(names, template)]


def close_brace(template: str, columns: Collection[str] = ()) -> tuple[str, str] | None:
    """Of a template that ends before its last brace is closed: the name behind that, and the template with it closed;
    the column is the longest of those that there are, else a word."""
    found = re.search(r"\{\s*(\w[^{}]*)\Z", template)
    if found is None:
        return None
    there = [name for name in columns if re.match(rf"{re.escape(name)}(?!\w)", found[1])]
    name = max(there, key=len) if there else re.split(r"\W", found[1])[0]
    return name, f"{template[: found.start()]}{{{name}}}{found[1][len(name) :]}"


def has_odd_braces(template: str) -> bool:
    """Whether braces stand in a template beside those around plain names: in a column's name, or in text."""
    return re.search(r"[{}]", COLUMN.sub("", template)) is not None
