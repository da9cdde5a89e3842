"""Where in a YAML text which lines change, so that it means other values: found by the places of its nodes.

Each setting that differs is changed by itself. What a removed one leaves behind are its comments, as lines of their
own. ruamel.yaml finds the places and writes what is new; the text between is not written again, since any writer sets
spaces, quotes and line ends its own way.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from groupwise.app.pages.new.yaml_writing import (
    ONE_LINE,
    differences,
    flow_text,
    indent_block,
    indent_lines,
    literal_text,
    quote_text,
    quoted_as,
    renamed_setting,
    runs_of,
    scalar_text,
)
from groupwise.storage.spec.yaml.yaml_text import Document, dump, scalar_value

COMMENT = re.compile(r"#[^\r\n]*")
BLANK = re.compile(r"(?:[ \t\r\n\ufeff]+|#[^\r\n]*)*")  # and comments
QUOTES = ("'", '"')
BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)*")


class NotInPlace(Exception):
    """The change cannot be made where it belongs."""


@dataclass(frozen=True)
class Item:
    """A setting of a mapping, or an entry of a list: where it begins (its name, or its dash), where its value may begin
    (behind the colon or the dash), and the value's node."""

    start: int
    value_at: int
    node: Any
    key: Any = None


class Splices:
    """Changes of one text: each replaces the characters from `start` to `end`."""

    def __init__(self, document: Document, written: dict[str, str]) -> None:
        self.text = document.text if document.text.endswith("\n") else document.text + "\n"
        self.newline = "\r\n" if "\r\n" in self.text else "\n"
        self.document = document
        self.written = written
        self.places: list[tuple[int, int, str]] = []

    def make(self, wanted: dict[str, Any]) -> str:
        """The text that means the wanted values. Raises NotInPlace."""
        root, given = self.document.root, self.document.values
        if not isinstance(root, MappingNode) or not given.keys() & wanted.keys():
            raise NotInPlace
        self._mapping(root, given, wanted, "")
        made, at = [], 0
        for start, end, new in sorted(self.places, key=lambda place: place[:2]):
            if start < at:
                raise NotInPlace
            made += [self.text[at:start], new.replace("\n", self.newline)]
            at = end
        return "".join([*made, self.text[at:]]) if made else self.document.text

    def comments(self, start: int = 0, end: int | None = None) -> list[str]:
        """The comments between two places of the text: what begins with # outside every scalar."""
        found: list[re.Match[str]] = []
        at = 0
        for first, last in [*sorted(self._scalars(self.document.root)), (len(self.text), len(self.text))]:
            found += COMMENT.finditer(self.text, at, max(at, first))
            at = max(at, last)
        return [hit[0].rstrip() for hit in found if start <= hit.start() and (end is None or hit.start() < end)]

    def _scalars(self, node: Node | None) -> Iterator[tuple[int, int]]:
        if isinstance(node, MappingNode):
            for pair in node.value:
                for part in pair:
                    yield from self._scalars(part)
        elif isinstance(node, SequenceNode):
            for entry in node.value:
                yield from self._scalars(entry)
        elif isinstance(node, ScalarNode) and not _is_empty(node):
            start = node.start_mark.index
            yield (self._line_end(start) if node.style in ("|", ">") else start), node.end_mark.index

    # --- where things are

    def _items(self, node: CollectionNode) -> list[Item]:
        if isinstance(node, MappingNode):
            return [self._setting(key, value, bool(node.flow_style)) for key, value in node.value]
        if node.flow_style:
            return [Item(entry.start_mark.index, entry.start_mark.index, entry) for entry in node.value]
        items: list[Item] = []
        for entry in node.value:
            dash = self._after_blank(self._end(items[-1]) if items else node.start_mark.index)
            if self.text[dash] != "-":
                raise NotInPlace
            items.append(Item(dash, dash + 1, entry))
        return items

    def _setting(self, key: Node, value: Node, flow: bool) -> Item:
        start, end = key.start_mark.index, key.end_mark.index
        colon = self._after_blank(end)
        if self.text[colon : colon + 1] == ":":
            return Item(start, colon + 1, value, scalar_value(key))
        if not flow:
            raise NotInPlace
        return Item(start, end, value, scalar_value(key))

    def _after_blank(self, index: int) -> int:
        """The next character that is neither blank nor in a comment."""
        found = BLANK.match(self.text, index)
        return found.end() if found else index

    def _span(self, item: Item) -> tuple[int, int]:
        """Where a value's own text begins and ends; its nodes' end marks stand behind comments and blank lines."""
        node = item.node
        if _is_empty(node):
            return item.value_at, item.value_at
        start, end = node.start_mark.index, node.end_mark.index
        if isinstance(node, ScalarNode) and node.style in ("|", ">"):
            header = self.text[start : self._line_end(start)].split("#")[0]
            kept = end - 1 if self.text[end - 1] == "\n" else end  # with “+” the blank lines at its end are its own
            return start, kept if "+" in header else start + len(self.text[start:end].rstrip())
        if isinstance(node, ScalarNode) or node.flow_style:
            return start, end
        return start, self._end(self._items(node)[-1])

    def _end(self, item: Item) -> int:
        return self._span(item)[1]

    def _line_start(self, index: int) -> int:
        return self.text.rfind("\n", 0, index) + 1

    def _line_end(self, index: int) -> int:
        """Behind the line break."""
        found = self.text.find("\n", index)
        return len(self.text) if found < 0 else found + 1

    def _has_spaces_at(self, index: int) -> bool:
        """Whether blank lines that hold spaces begin here: below “|” they would be the text's."""
        return " " in BLANK_LINES.match(self.text, index)[0]  # type: ignore[index] # it matches no line, too

    def _column(self, index: int) -> int:
        return len(self.text[self._line_start(index) : index].lstrip("\ufeff"))

    def _begins_line(self, index: int) -> bool:
        return not self.text[self._line_start(index) : index].strip(" \ufeff")

    # --- what changes

    def _splice(self, start: int, end: int, new: str) -> None:
        self.places.append((start, end, new))

    def _change(self, item: Item, old: Any, new: Any, path: str, flow: bool) -> None:
        node = item.node
        if repr(old) == repr(new) and not any(p == path or p.startswith(f"{path}.") for p in self.written):
            return
        if isinstance(old, dict) and isinstance(new, dict) and old.keys() & new.keys() and self._is_whole(node):
            self._mapping(node, old, new, path)
        elif isinstance(old, list) and isinstance(new, list) and old and new:
            self._sequence(node, old, new, path)
        elif flow:
            start, end = self._span(item)
            self._splice(start, end, self._gap(item, start) + self._in_flow(new, path) + self._comments_in_flow(item))
        else:
            self._replace(item, new, path)

    def _is_whole(self, node: CollectionNode) -> bool:
        """Whether a mapping has its braces: [a: 1] is a list of one that has none."""
        return not node.flow_style or self.text[node.start_mark.index] == "{"

    def _mapping(self, node: CollectionNode, old: dict[Any, Any], new: dict[Any, Any], path: str) -> None:
        items, flow = self._items(node), bool(node.flow_style)
        for item in items:
            if item.key in new:
                self._change(item, old[item.key], new[item.key], f"{path}.{item.key}".lstrip("."), flow)
        renamed = renamed_setting(old, new)
        self.places += [(one.start, one.value_at, f"{renamed[one.key]}:") for one in items if one.key in renamed]
        gone = {number for number, item in enumerate(items) if item.key not in new and item.key not in renamed}
        added = {key: value for key, value in new.items() if key not in old and key not in renamed.values()}
        if flow:
            pairs = [self._pair(key, value, f"{path}.{key}".lstrip(".")) for key, value in added.items()]
            self._in_brackets(items, gone, {len(items): pairs})
            return
        for number in sorted(gone):
            self._remove(items[number])
        column, end = self._column(items[0].start), self._line_end(self._end(items[-1]))
        place, literal = end, not self._has_spaces_at(end)
        first = items[min(gone)] if gone else None
        if first is not None and self._begins_line(first.start):  # what comes instead stands where that stood
            place, literal = (
                self._line_start(first.start),
                literal and not self._has_spaces_at(self._line_end(self._end(first))),
            )
        lines = [
            self._setting_lines(key, value, column, f"{path}.{key}".lstrip("."), literal=literal)
            for key, value in added.items()
        ]
        if lines:
            self._splice(place, place, "".join(lines))

    def _sequence(self, node: CollectionNode, old: list[Any], new: list[Any], path: str) -> None:
        items, flow = self._items(node), bool(node.flow_style)
        gone: set[int] = set()
        added: dict[int, list[int]] = {}  # before which old entry → which new ones
        for first, last, begin, until in differences(old, new):
            both = min(last - first, until - begin)
            for step in range(both):
                at, to = first + step, begin + step
                self._change(items[at], old[at], new[to], f"{path}.{to}", flow)
            gone |= set(range(first + both, last))
            if begin + both < until:
                added[last] = list(range(begin + both, until))
        if flow:
            texts = {at: [self._in_flow(new[to], f"{path}.{to}") for to in places] for at, places in added.items()}
            self._in_brackets(items, gone, texts)
            return
        for number in sorted(gone):
            self._remove(items[number])
        for at, places in added.items():
            self._insert_entries(items, at, [new[to] for to in places])

    def _insert_entries(self, items: list[Item], at: int, values: list[Any]) -> None:
        if at == 0 and not self._begins_line(items[0].start):
            raise NotInPlace
        place = self._line_end(self._end(items[at - 1])) if at else self._line_start(items[0].start)
        self._splice(place, place, indent_block(dump(values), self._column(items[0].start)))

    def _remove(self, item: Item) -> None:
        """Take out a setting or entry of a block, but for its comments."""
        start, end = item.start, self._end(item)
        column = self._column(start)
        if self._begins_line(start):
            last = self._line_end(end)
            self._splice(self._line_start(start), last, indent_lines(self.comments(start, last), column))
            return
        kept = "".join(f"\n{' ' * column}{comment}" for comment in self.comments(start, end))
        ends_line = not self.text[end : self._line_end(end)].strip()
        before = self.text[:start].rstrip(" ")
        self._splice(len(before) if ends_line else start, end, kept)

    def _replace(self, item: Item, new: Any, path: str) -> None:
        """Another value for a setting or entry of a block, in the form that the new value has."""
        start, end = self._span(item)
        column = self._column(item.start)
        block = isinstance(item.node, (MappingNode, SequenceNode)) and not item.node.flow_style
        below = "\n" in self.text[item.value_at : start]
        if block and not below:  # behind a dash, its first line stays where it is
            column = self._column(start) - 2
        literal = not (below or block or self._has_spaces_at(self._line_end(end)))
        head, lines = self._write_value(item, new, column, path, literal=literal)
        if block and below and item.key is not None and isinstance(new, list):
            lines = indent_block(lines, max(0, self._column(start) - column))  # as far in as what stood there
        kept = self.comments(start, self._line_end(end) if below else end)
        if below:
            self._splice(item.value_at, item.value_at, f" {head}" if head else "")
            self._splice(self._line_start(start), self._line_end(end), indent_lines(kept, column + 2) + lines)
        elif block:
            own = "".join(f"{comment}\n{' ' * (column + 2)}" for comment in kept)
            self._splice(start, end, head + "".join(f"  {one}" for one in kept) if head else own + lines.strip())
        else:
            self._splice(start if head else item.value_at, end, (self._gap(item, start) if head else "") + head
                         + "".join(f"  {comment}" for comment in kept))  # fmt: skip
            after = self._line_end(end)
            self._splice(after, after, lines)

    def _gap(self, item: Item, start: int) -> str:
        """What must stand before a value: a colon where the name had none ({a, b}), and a space."""
        if item.key is not None and self.text[item.value_at - 1 : item.value_at] != ":":
            return ": "
        return " " if item.value_at == start and item.start != start else ""

    # --- in [ ] and { }

    def _in_brackets(self, items: list[Item], gone: set[int], added: dict[int, list[str]]) -> None:
        """`added`: the texts that come before which old entry."""
        left = [number for number in range(len(items)) if number not in gone]
        for run in runs_of(gone):
            if run[-1] + 1 < len(items):
                start, end = items[run[0]].start, items[run[-1] + 1].start
            else:
                start, end = (self._end(items[run[0] - 1]) if run[0] else items[0].start), self._end(items[-1])
            if not left:
                raise NotInPlace
            column = " " * self._column(start)
            self._splice(start, end, "".join(f" {one}\n{column}" for one in self.comments(start, end)))
        for at, texts in added.items():
            after = max((number for number in left if number < at), default=None)
            place = items[left[0]].start if after is None else self._end(items[after])
            new = "".join(f"{text}, " for text in texts) if after is None else "".join(f", {text}" for text in texts)
            self._splice(place, place, new)

    def _comments_in_flow(self, item: Item) -> str:
        start, end = self._span(item)
        return "".join(f" {one}\n{' ' * self._column(item.start)}" for one in self.comments(start, end))

    def _in_flow(self, value: Any, path: str) -> str:
        if isinstance(value, dict):  # within [ ], one that has a single setting would be written without its braces
            return self.written.get(path) or flow_text(value)
        return self.written.get(path) or flow_text([value])[1:-1]

    def _pair(self, key: Any, value: Any, path: str) -> str:
        pair = flow_text({key: value})[1:-1]
        typed = self.written.get(path)
        return pair if typed is None else f"{flow_text([key])[1:-1]}: {typed}"

    # --- what is written anew

    def _setting_lines(self, key: Any, value: Any, column: int, path: str, *, literal: bool) -> str:
        name = dump({key: 0}, width=ONE_LINE).removesuffix(": 0\n")
        typed = self.written.get(path)
        if typed is not None and "\n" not in name:
            return indent_block(f"{name}: {typed}\n", column)
        if isinstance(value, str) and "\n" not in name:
            head, lines = literal_text(value, column) if literal else (quote_text(value), "")
            return indent_block(f"{name}: {head}\n", column) + lines
        if isinstance(value, dict) and any(place.startswith(f"{path}.") for place in self.written):
            below = (self._setting_lines(k, v, column + 2, f"{path}.{k}", literal=literal) for k, v in value.items())
            return indent_block(f"{name}:\n", column) + "".join(below)
        return indent_block(dump({key: value}), column)

    def _write_value(self, item: Item, new: Any, column: int, path: str, *, literal: bool) -> tuple[str, str]:
        """(what stands behind the colon or dash, the lines below it) of a value."""
        if path in self.written:
            return self.written[path], ""
        if isinstance(new, str) and new.isprintable() and getattr(item.node, "style", None) in QUOTES:
            return quoted_as(item.node.style, new), ""
        if isinstance(new, str):
            return literal_text(new, column) if literal else (quote_text(new), "")
        if not isinstance(new, (dict, list)) or not new:
            return scalar_text(new), ""
        if item.key is None:  # below a dash, or behind it
            return "", indent_block(dump(new), column + 2)
        return "", indent_block(dump({"x": new}).removeprefix("x:\n"), column)


def _is_empty(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.value == "" and node.style is None
