"""A setting that a YAML text gives twice: what is said of it, and the buttons that keep the one or the other, each of
which takes the other out of the text and leaves every other sign as it is. Of two parts of one name one can be made."""

import re

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from groupwise.storage.spec.words.number_words import count_words, join_words
from groupwise.storage.spec.words.problem import Cut, Fix, Problem

SHOWN = 30  # characters of a value on a button
TWICE = "given twice"
JOIN = "join the two, or remove one"


def twice_problem(text: str, path: str, mapping: MappingNode, first: int, second: int) -> Problem:
    """The problem of a field, given as the `first` and as the `second` entry of a mapping of this text."""
    entries = mapping.value
    lines = [entries[at][0].start_mark.line + 1 for at in (first, second)]
    goes = [_removal_words(entries[at][1]) for at in (first, second)]
    joined = () if mapping.flow_style else _join_fixes(text, entries[first], entries[second])
    fixes = (
        *joined,
        Fix(f"Keep the first ({_shown(*entries[first])}){goes[1]}", {}, cut=_cut(text, mapping, second)),
        Fix(f"Keep the last ({_shown(*entries[second])}){goes[0]}", {}, cut=_cut(text, mapping, first)),
    )
    message = given_twice(lines[0], JOIN if joined else "remove one of the two")
    message += _said_of_both(entries[first][1], entries[second][1]) if joined else ""
    return Problem(path, message, lines[1], fixes=fixes)


def _removal_words(value: Node) -> str:
    """What goes with the one that is not kept, where it is a part."""
    if not isinstance(value, (MappingNode, SequenceNode)) or not value.value:
        return ""
    noun = ("setting", "settings") if isinstance(value, MappingNode) else ("entry", "entries")
    return f", remove {count_words(len(value.value), *noun)}"


def _join_fixes(text: str, first: tuple[Node, Node], second: tuple[Node, Node]) -> tuple[Fix, ...]:
    """The buttons that make one of two parts, with the first or the last of what both give another value; none of what
    are no parts, each on lines of its own."""
    values = [first[1], second[1]]
    kind = type(values[0])
    if kind not in (MappingNode, SequenceNode) or any(
        not isinstance(one, kind) or one.flow_style or not one.value for one in values
    ):
        return ()
    in_both = _differing(*values)
    if not in_both:
        return (Fix("Join them", {}, cut=_join_cut(text, first, second, set())),)
    return tuple(
        Fix(f"Join them, keep the {which} {_listed(in_both)}", {}, cut=_join_cut(text, first, second, gone))
        for which, place in (("first", 1), ("last", 0))
        if (gone := {n for pair in in_both for n in _rows_of(*pair[place])})
    )


def _join_cut(text: str, first: tuple[Node, Node], second: tuple[Node, Node], gone: set[int]) -> Cut:
    """The lines of the second of two parts moved below those of the first, without what the first says too, and without
    the rows that are `gone`. A part that is in both is given twice then, and asked about by itself."""
    rows = text.splitlines(keepends=True)
    opens, ends, behind = second[0].start_mark.line, _last_line(*second) + 1, _last_line(*first) + 1
    begins = min([behind, *(n for n in gone if n < opens)])
    said = _same_rows(first[1], second[1]) | gone
    columns = [one[1].start_mark.column for one in (first, second)]
    body = [_move_row(rows[n], columns[0] - columns[1]) for n in range(opens + 1, ends) if n not in said]
    if remark := re.search(r"(?:^|\s)(#.*)", rows[opens][second[0].end_mark.column :]):
        body.insert(0, f"{' ' * columns[0]}{remark[1].rstrip()}\n")
    kept = [rows[n] for n in range(begins, behind) if n not in gone]
    put = "".join([*kept, *map(_end_row, body), *rows[behind:opens]])
    put = put if rows[ends - 1].endswith("\n") else put.removesuffix("\n")
    return Cut(begins + 1, 0, "".join(rows[begins:ends]), put)


Pair = tuple[Node, Node]  # a setting's name and its value


def _differing(first: Node, second: Node) -> list[tuple[Pair, Pair]]:
    """The settings that both of two parts give, each another value that is no part itself."""
    if not isinstance(first, MappingNode) or not isinstance(second, MappingNode):
        return []
    there = {_said_by(pair[0]): pair for pair in first.value}
    both = [(there[_said_by(pair[0])], pair) for pair in second.value if _said_by(pair[0]) in there]
    return [
        (one, other) for one, other in both
        if _said_by(one[1]) != _said_by(other[1]) and not isinstance(one[1], MappingNode)
    ]  # fmt: skip


def _listed(pairs: list[tuple[Pair, Pair]]) -> str:
    return join_words(list(dict.fromkeys(f"“{one[0].value}”" for one, _ in pairs)))


def _said_of_both(first: Node, second: Node) -> str:
    """“ “limit” is in both: line 6: 5, and line 9: 7.”; of what is in one alone nothing."""
    found = [f" “{one[0].value}” is in both ({_shown(*one)}; {_shown(*other)})." for one, other in
             _differing(first, second)]  # fmt: skip
    return "".join(found)


def _same_rows(first: Node, second: Node) -> set[int]:
    """The rows of what the second of two parts says as the first does."""
    if isinstance(second, SequenceNode):
        there = [_said_by(one) for one in first.value]
        return {n for one in second.value if _said_by(one) in there for n in _rows_of(one, one)}
    known = {_said_by(key): _said_by(value) for key, value in first.value}
    same = [pair for pair in second.value if known.get(_said_by(pair[0])) == _said_by(pair[1])]
    return {n for key, value in same for n in _rows_of(key, value)}


def _rows_of(key: Node, value: Node) -> range:
    return range(key.start_mark.line, _last_line(key, value) + 1)


def _said_by(node: Node) -> object:
    """What a node says, to be compared."""
    if isinstance(node, MappingNode):
        return tuple(sorted((str(_said_by(key)), str(_said_by(value))) for key, value in node.value))
    return tuple(_said_by(one) for one in node.value) if isinstance(node, SequenceNode) else (node.tag, node.value)


def _move_row(row: str, columns: int) -> str:
    """A row so many columns further to the right, or to the left."""
    if not row.strip():
        return row
    return " " * columns + row if columns >= 0 else re.sub(rf"^ {{1,{-columns}}}", "", row)


def _end_row(row: str) -> str:
    """A row with its line's end, which the last one of a text may lack."""
    return row if row.endswith("\n") else f"{row}\n"


def given_twice(first: int, advice: str = "remove one of the two") -> str:
    """What is said of a field that is given again, first in this line."""
    return f"{TWICE} (first in line {first}): {advice}."


def is_given_twice(problem: Problem) -> bool:
    """Whether it says so of its field, and nothing yet of either value."""
    return problem.message.startswith(TWICE)


def can_be_joined(problem: Problem) -> bool:
    """Whether it says so of two parts, of which one can be made, with all that is in either."""
    return is_given_twice(problem) and JOIN in problem.message


def _shown(key: Node, value: Node) -> str:
    """“line 4: 0.02”; of what is no single value the line alone."""
    line = f"line {key.start_mark.line + 1}"
    if not isinstance(value, ScalarNode) or not value.value.strip():
        return line
    words = " ".join(str(value.value).split())
    return f"{line}: {words if len(words) <= SHOWN else words[: SHOWN - 1] + '…'}"


def _cut(text: str, mapping: MappingNode, at: int) -> Cut:
    """What to take out of the text so that an entry of a mapping is gone."""
    entries, rows = mapping.value, text.splitlines(keepends=True)
    begin, end = _place(entries[at][0].start_mark), _place(entries[at][1].end_mark)
    if mapping.flow_style:
        if at + 1 < len(entries):
            end = _place(entries[at + 1][0].start_mark)
        elif at:
            begin = _place(entries[at - 1][1].end_mark)
    elif rows[begin[0]][: begin[1]].strip():  # behind the dash of a list's entry: the next name takes its place
        end = _place(entries[at + 1][0].start_mark)
    else:
        begin, end = (begin[0], 0), (_last_line(entries[at][0], entries[at][1]) + 1, 0)
    return Cut(begin[0] + 1, begin[1], _between(rows, begin, end))


def _place(mark: object) -> tuple[int, int]:
    return mark.line, mark.column  # type: ignore[attr-defined]


def _last_line(key: Node, value: Node) -> int:
    """The last line, from 0, in which an entry in block style stands."""
    if isinstance(value, ScalarNode):
        ends = value.end_mark.line - (value.style in ("|", ">") and value.end_mark.column == 0)
    elif not isinstance(value, (MappingNode, SequenceNode)) or value.flow_style or not value.value:
        ends = value.end_mark.line
    elif isinstance(value, SequenceNode):
        ends = _last_line(value.value[-1], value.value[-1])
    else:
        ends = _last_line(*value.value[-1])
    return max(int(ends), key.start_mark.line)


def _between(rows: list[str], begin: tuple[int, int], end: tuple[int, int]) -> str:
    """The text from one place to another, both as (line, column) from 0."""
    if begin[0] == end[0]:
        return rows[begin[0]][begin[1] : end[1]]
    last = rows[end[0]][: end[1]] if end[0] < len(rows) else ""
    return rows[begin[0]][begin[1] :] + "".join(rows[begin[0] + 1 : end[0]]) + last
