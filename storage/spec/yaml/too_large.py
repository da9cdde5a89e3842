"""A text that is too large for a spec: which of its settings that is of. Pure, and without the parser, which would take
minutes for such a text."""

import re

from groupwise.storage.spec.words.problem import Problem

MOST_READ = 16 * 1024 * 1024  # characters that are looked through
_SETTING = re.compile(r" *(?:- +)?([A-Za-z_]\w*):(?=\s|$)")
_BLOCK = re.compile(r":\s+[|>][-+0-9]*\s*$")  # text below, whatever it holds


def too_large_problem(text: str, most: int) -> Problem:
    """What to say of a text of more than `most` bytes: the setting that has more than half of them and where it begins,
    else the whole."""
    sizes = _sizes(text) if len(text) <= MOST_READ else {}
    path = max(sizes, key=lambda one: sizes[one][0], default="")
    size, line = sizes.get(path, (0, 0))
    if size <= most // 2:
        return Problem("", f"The spec is larger than {most // 1024} KB.")
    return Problem("", f"“{path}” has {size / 1024:,.0f} KB: a spec has at most {most // 1024} KB in all.", line)


def _sizes(text: str) -> dict[str, tuple[int, int]]:
    """The bytes of the lines of each setting by its dotted path, without those of the settings in it, and its line."""
    sizes: dict[str, tuple[int, int]] = {}
    around: list[tuple[int, str, bool]] = []  # (column, path, whether all below is its text) of those that are open
    for number, line in enumerate(text.split("\n"), 1):
        column = len(line) - len(line.lstrip(" "))
        inner = column + line.startswith("- ", column)  # a list may stand in the column of its own name
        while around and line.strip() and inner <= around[-1][0]:
            around.pop()
        found = _SETTING.match(line) if not (around and around[-1][2]) else None
        if found:
            path = f"{around[-1][1]}.{found[1]}" if around else found[1]
            around.append((found.start(1), path, bool(_BLOCK.search(line[-200:]))))
        if around:
            size, first = sizes.get(around[-1][1], (0, number))
            sizes[around[-1][1]] = size + len(line.encode("utf-8", "replace")) + 1, first
    return sizes
