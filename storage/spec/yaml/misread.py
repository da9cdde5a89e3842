"""What YAML reads without complaint, and nobody means so: {beta:0.02}, {rate: 1,5}, “-name”, a name behind a space that
is none. Each with the button that writes it as it was meant."""

import re
from collections.abc import Iterator
from dataclasses import replace

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from groupwise.storage.spec.words.odd_spaces import ODD
from groupwise.storage.spec.words.problem import Cut, Fix, Problem
from groupwise.storage.spec.yaml.wide_colons import LABEL, SIGN, WIDE

_JOINED = re.compile(r"([A-Za-z_]\w*):(\S+)")
_WIDE = re.compile(rf"([A-Za-z_]\w*)( *{SIGN})[{ODD} ]*(\S[^\r\n]*)", re.A)
_OF_PARTS = re.compile(
    r"(?:stages\.[0-9]+\.)?(?:training|lora|model|data|kl|launch|rewards\.[0-9]+)|stages\.[0-9]+|data\.examples\.[0-9]+|"
)
_LONE = re.compile(rf"([A-Za-z_]\w*)(:(?=[{ODD}]*[^\s/:])|[ ]*=[ ]*)[{ODD}]*([^\s=][^\r\n]*)")
LONGEST = 60  # characters of a button
COMMA = " begins another setting."
POINTS = "Use points in"  # how the button begins that writes points in all
_WHOLE = re.compile(r"[-+]?[0-9]+")
_DECIMALS = re.compile(r"[0-9]+(?:[eE][-+]?[0-9]+)?")
# Where an entry may begin with its name: in a list of parts, or at the left edge, below one. Elsewhere, and in a
# setting's own value, a name may begin as it likes.
_OF_ENTRIES = re.compile(r"(?:stages\.[0-9]+\.)?(?:rewards|stages|data\.examples)?(?:\.[0-9]+)?")
_ODD_START = re.compile(f"[{ODD}]+")


def misread_problems(text: str, root: Node) -> list[Problem]:
    """A problem for each such place, at the field that was meant."""
    return [*_wide_colon(text, root, ""), *_of_node(text, root, "")]


def points_for_commas_in_braces(problems: list[Problem], rows: list[str]) -> list[Problem]:
    """The problems, those of a decimal comma in braces with a button that writes a point in all of them behind the one
    for itself. `rows`: the text that they are of."""
    commas = [one for one in problems if _is_of_comma(one)]
    if len(commas) < 2:
        return problems
    cuts = sorted((one.fixes[0].cut for one in commas if one.fixes[0].cut), key=lambda cut: (cut.line, cut.column))
    first, last = cuts[0], cuts[-1]
    put = list(rows)
    for cut in cuts:  # each is as long as what takes its place
        row = put[cut.line - 1]
        put[cut.line - 1] = row[: cut.column] + cut.put + row[cut.column + len(cut.text) :]
    gone, written = (_between(lines, first, last) for lines in (rows, put))
    label = f"{POINTS} {'both' if len(cuts) == 2 else f'all {len(cuts)}'}"
    every = Fix(label, {}, cut=Cut(first.line, first.column, gone, written))
    return [replace(one, fixes=(*one.fixes, every)) if one in commas else one for one in problems]


def _is_of_comma(problem: Problem) -> bool:
    cut = problem.fixes[0].cut if len(problem.fixes) == 1 else None
    return cut is not None and "," in cut.text and cut.put == cut.text.replace(",", ".")


def _between(rows: list[str], first: Cut, last: Cut) -> str:
    """The text from the beginning of the first to the end of the last."""
    whole = [*rows[first.line - 1 : last.line - 1], rows[last.line - 1][: last.column + len(last.text)]]
    return "\n".join(whole)[first.column :]


def _of_node(text: str, node: Node, path: str) -> Iterator[Problem]:
    if isinstance(node, SequenceNode):
        for place, item in enumerate(node.value):
            inner = f"{path}.{place}".lstrip(".")
            yield from _wide_colon(text, item, inner)
            yield from _of_node(text, item, inner)
    elif isinstance(node, MappingNode):
        before: tuple[str, Node] | None = None
        for key, value in node.value:
            if isinstance(key, ScalarNode) and key.style is None:
                yield from _of_name(text, key, value, path, before if node.flow_style else None)
                before = (key.value, value)
                inner = f"{path}.{key.value}".lstrip(".")
                yield from _lone_setting(text, key, value, inner)
                if value.start_mark.line > key.start_mark.line:
                    yield from _wide_colon(text, value, inner)
                yield from _of_node(text, value, inner)


def _of_name(text: str, key: ScalarNode, value: Node, path: str, before: tuple[str, Node] | None) -> Iterator[Problem]:
    """`before`: the setting before it in the same braces."""
    name, empty = str(key.value), isinstance(value, ScalarNode) and value.style is None and not value.value
    joined, odd, wide = _JOINED.fullmatch(name), _ODD_START.match(name), _WIDE.fullmatch(name)
    if joined and empty:
        message, written = "there is no space after the colon.", f"{joined[1]}: {joined[2]}"
        yield _problem(path, joined[1], key, message, [(f"Write it as “{written}”", name, written)])
    elif wide and empty:
        yield _problem(path, wide[1], key, WIDE, [(LABEL, name, f"{wide[1]}: {wide[3]}")])
    elif odd:
        message = "a special space stands before this name, such as a non-breaking one: it is not indentation in YAML."
        yield _problem(path, name[odd.end() :], key, message, [("Write ordinary spaces", odd[0], " " * len(odd[0]))])
    elif re.match(r"-\w", name) and _OF_ENTRIES.fullmatch(path):
        message, written = "there is no space after the dash.", f"- {name[1:]}"
        yield _problem(path, name[1:], key, message, [(f"Write it as “{written}: …”", name, written)])
    elif empty and before is not None:
        yield from _decimal_comma(text, key, path, before)


def _lone_setting(text: str, key: ScalarNode, value: Node, path: str) -> Iterator[Problem]:
    """A part whose first line is no setting for want of a space: to YAML it is the part's text."""
    below = isinstance(value, ScalarNode) and value.style is None and value.start_mark.line > key.start_mark.line
    found = _LONE.match(text, value.start_mark.index) if below else None
    if found:
        written = f"{found[1]}: {found[3]}"
        words = (
            "there is no space after the colon."
            if found[2] == ":"
            else "there is an equals sign where a colon belongs."
        )
        yield _problem(path, found[1], value, words, [(f"Write it as “{written}”"[:LONGEST], found[0], written)])


def _wide_colon(text: str, value: Node, path: str) -> Iterator[Problem]:
    """A part, an entry or a whole text whose first line is no setting, for its full-width colon: it is text to YAML."""
    is_text = isinstance(value, ScalarNode) and value.style is None and _OF_PARTS.fullmatch(path)
    found = _WIDE.match(text, value.start_mark.index) if is_text else None
    if found:
        yield _problem(path, found[1], value, WIDE, [(LABEL, found[0], f"{found[1]}: {found[3]}")])


def _decimal_comma(text: str, key: ScalarNode, path: str, before: tuple[str, Node]) -> Iterator[Problem]:
    name, number = before
    if not isinstance(number, ScalarNode) or number.style is not None or not _DECIMALS.fullmatch(key.value):
        return
    start, end = number.start_mark.index, key.end_mark.index
    written = text[start:end]
    if not _WHOLE.fullmatch(number.value) or written != f"{number.value},{key.value}":
        return
    thousands = re.fullmatch(r"[-+]?[1-9][0-9]{0,2},[0-9]{3}", written)
    meant = [written.replace(",", "."), *([written.replace(",", "")] if thousands else [])]
    message = f"the comma in {written}{COMMA} Did you mean {' or '.join(meant)}?"
    yield _problem(path, name, number, message, [(f"Use {one}", written, one) for one in meant])


def _problem(path: str, name: str, at: Node, message: str, buttons: list[tuple[str, str, str]]) -> Problem:
    line, column = at.start_mark.line + 1, at.start_mark.column
    fixes = tuple(Fix(label, {}, cut=Cut(line, column, gone, put)) for label, gone, put in buttons)
    return Problem(f"{path}.{name}".lstrip("."), message, line, fixes=fixes)
