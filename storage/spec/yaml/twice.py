"""A setting that a YAML text gives twice: what is said of it, and the buttons that keep the one or the other, each of
which takes the other out of the text and leaves every other sign as it is."""

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from groupwise.storage.spec.words.problem import Cut, Fix, Problem

SHOWN = 30  # characters of a value on a button


def twice_problem(text: str, path: str, mapping: MappingNode, first: int, second: int) -> Problem:
    """The problem of a field, given as the `first` and as the `second` entry of a mapping of this text."""
    entries = mapping.value
    lines = [entries[at][0].start_mark.line + 1 for at in (first, second)]
    fixes = (
        Fix(f"Keep the first ({_shown(*entries[first])})", {}, cut=_cut(text, mapping, second)),
        Fix(f"Keep the last ({_shown(*entries[second])})", {}, cut=_cut(text, mapping, first)),
    )
    return Problem(path, given_twice(lines[0]), lines[1], fixes=fixes)


def given_twice(first: int) -> str:
    """What is said of a field that is given again, first in this line."""
    return f"given twice (first in line {first}): remove one of the two."


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
