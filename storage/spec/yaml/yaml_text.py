"""YAML as specs are written in: safe, bounded, numbers and words read as people expect, and the line of each field.

A text is parsed once: what was read of it last is kept, so that an edit, the form, the check and the script, which all
ask for it, cost one pass of the parser (ruamel.yaml, some milliseconds for a spec).
"""

import functools
import io
import re
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import AliasEvent, CollectionStartEvent
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.representer import SafeRepresenter
from ruamel.yaml.resolver import VersionedResolver
from ruamel.yaml.scanner import Scanner

from groupwise.storage.spec.words.problem import Problem, SpecError
from groupwise.storage.spec.yaml.dashes import dash_problem
from groupwise.storage.spec.yaml.misread import misread_problems
from groupwise.storage.spec.yaml.open_quotes import open_quote_problems
from groupwise.storage.spec.yaml.too_large import too_large_problem
from groupwise.storage.spec.yaml.twice import twice_problem
from groupwise.storage.spec.yaml.word_dashes import word_dash_problems

MAX_BYTES = 256 * 1024  # a spec is written by hand; anything larger is a mistake or an attack
MAX_DEPTH = 32
MAX_VALUES = 10_000  # names, values and lists: reading so many takes half a second
MAX_NAME = 1000  # characters of a setting's: each value inside is known by all names above it
MAX_DIGITS = 64  # of a whole number: more mean nothing, and Python itself refuses to write out some thousands
LINE_WIDTH = 110  # characters, of what is written
KEPT = 16  # texts that are kept parsed
KEPT_BYTES = 16 * 1024  # of each of them at most: parsed, a text takes some fifty times its size

WORD = re.compile(r"[-+]?[\w.]+(?:[-+][\w.]+)*", re.A)  # what is one plain word wherever it stands
_TAG = "tag:yaml.org,2002:"
_FLOAT = re.compile(r"[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|\.inf|\.nan)$", re.I)
# As YAML 1.1 has them, but for base 60: 59:59 is a time, and 59:59:… with a thousand parts a number without end; and
# for base 8: who writes 042 means 42, and not 34.
_INT = re.compile(r"[-+]?(?:0b_*[01][01_]*|0x_*[0-9a-f][0-9a-f_]*|0|[1-9][0-9_]*)$", re.I)
_OCTAL = re.compile(r"[-+]?0[0-7_]+")
# What is text here, and something else to readers of YAML 1.1: true, false, a number to base 60, a date, a sign.
_NO_TEXT_IN_1_1 = re.compile(
    r"y|n|yes|no|on|off|=|<<|\d{4}-\d\d?-\d\d?(?:[t ].*)?|[-+]?(?:0b[01_]+|0x[\da-f_]+|"
    r"\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?|(?:\d[\d_]*)?\.[\d_]*(?:e[-+]\d+)?)",
    re.I,
)
_PATTERNS = {
    "null": (re.compile(r"(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    "int": (_INT, list("-+0123456789")),
    "bool": (re.compile(r"(?:true|false)$", re.I), list("tTfF")),
    "float": (_FLOAT, list("-+0123456789.")),
}


class _Resolver(VersionedResolver):
    """Which plain words are numbers: `1e-4` is one and `on` is a word, as everyone expects who writes one today."""

    _by_first: dict[str, list[tuple[str, re.Pattern[str]]]] = {}

    @property
    def versioned_resolver(self) -> dict[str, list[tuple[str, re.Pattern[str]]]]:
        """The same for every version of YAML that a text may say it is in."""
        return self._by_first


for _kind, (_pattern, _firsts) in _PATTERNS.items():
    for _first in _firsts:
        _Resolver._by_first.setdefault(_first, []).append((_TAG + _kind, _pattern))


class _Scanner(Scanner):
    """Refuses brackets in brackets as soon as they are met: of each it would look far ahead, for a colon after it."""

    def fetch_flow_collection_start(self, TokenClass: Any, to_push: str) -> None:
        if len(self.flow_context) >= MAX_DEPTH:
            raise SpecError([_too_deep(self.reader.line + 1)])
        super().fetch_flow_collection_start(TokenClass, to_push)


def _too_deep(line: int) -> Problem:
    return Problem("", f"Nested more than {MAX_DEPTH} levels deep.", line)


class _Composer(Composer):
    """Refuses what makes a small text large (aliases) or slow (deep nesting, many values) as soon as it is met."""

    def __init__(self, loader: Any = None) -> None:
        super().__init__(loader)
        self.warn_double_anchors = False
        self._nested = self._values = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.parser.peek_event()
        collection = isinstance(event, CollectionStartEvent)
        self._values += 1
        self._nested += collection
        self._refuse_tricks(event)
        node = super().compose_node(parent, index)
        self._nested -= collection
        return node

    def _refuse_tricks(self, event: Any) -> None:
        line = event.start_mark.line + 1
        if isinstance(event, AliasEvent):
            raise SpecError([Problem("", ALIASES, line)])
        if getattr(event, "ctag", None) and event.implicit in (False, (False, False)):
            raise SpecError([Problem("", "This is not YAML that a spec may hold: tags (!name) are not allowed.", line)])
        if self._nested > MAX_DEPTH:
            raise SpecError([_too_deep(line)])
        if self._values > MAX_VALUES:
            raise SpecError([Problem("", f"More than {MAX_VALUES:,} values: too many for a spec.", line)])


class _Representer(SafeRepresenter):
    """Writes so that what is written reads back equal, here and by readers of YAML 1.1."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_str(self, data: str) -> ScalarNode:
        """Line breaks that only Unicode knows are escaped: bare, they would be read back as spaces; 042 is in quotes:
        bare, it would be read as 34 elsewhere; so is yes, as true."""
        is_misread = _OCTAL.fullmatch(data) or _NO_TEXT_IN_1_1.fullmatch(data)
        style = '"' if set(data) & set("\x85\u2028\u2029\ufeff") or is_misread else None
        return self.represent_scalar(f"{_TAG}str", data, style=style)

    def represent_float(self, data: float) -> ScalarNode:
        """1.0e-05 rather than 1e-05, which YAML 1.1 reads as a word."""
        node = super().represent_float(data)
        if "." not in node.value:
            node.value = node.value.replace("e", ".0e", 1)
        return node


_Representer.add_representer(str, _Representer.represent_str)
_Representer.add_representer(float, _Representer.represent_float)


@dataclass(frozen=True)
class Document:
    """A text and what it means: `root`, the tree of its nodes (None: there are none), with each one's place in the
    text; `values`, plain ones, which nobody may change; and the line of each field, by dotted path, from 1."""

    text: str
    root: Node | None
    values: Any
    lines: dict[str, int]


def parse_document(text: str) -> Document:
    """A text and what it means. Raises SpecError for what is not plain YAML."""
    if is_too_large(text):
        raise SpecError([too_large_problem(text, MAX_BYTES)])
    return _parsed_before(text) if _size(text) <= KEPT_BYTES else _parse_cached(text)


def is_too_large(text: str) -> bool:
    """Whether a text is larger than a spec may be."""
    return len(text) > MAX_BYTES or _size(text) > MAX_BYTES


def _size(text: str) -> int:
    """Its bytes in a file."""
    return len(text.encode("utf-8", "replace"))


def read_yaml(text: str) -> tuple[Any, dict[str, int]]:
    """Plain values, for the caller to change at will, and the line of each field. Raises SpecError for what is not
    plain YAML."""
    document = parse_document(text)
    return copy_plain(document.values), document.lines


def dump(value: Any, *, flow: bool = False, width: int = LINE_WIDTH) -> str:
    """YAML that reads back equal, a setting a line, or with `flow` as [a, b] and {a: b}."""
    yaml = _yaml()
    yaml.default_flow_style = flow
    yaml.width = width
    written = io.StringIO()
    yaml.dump(value, written)
    return written.getvalue().removesuffix("...\n")


def copy_plain(value: Any) -> Any:
    """Plain values of which nothing is shared with these."""
    if isinstance(value, dict):
        return {key: copy_plain(inner) for key, inner in value.items()}
    return [copy_plain(inner) for inner in value] if isinstance(value, list) else value


def _yaml() -> Any:
    yaml: Any = YAML(typ="safe", pure=True)
    yaml.Scanner, yaml.Resolver, yaml.Composer, yaml.Representer = _Scanner, _Resolver, _Composer, _Representer
    yaml.sort_base_mapping_type_on_output = False
    return yaml


def _parse_cached(text: str) -> Document:
    try:
        root = _yaml().compose(text)
        lines: dict[str, int] = {}
        twice: list[Problem] = []
        if root is not None:
            _note_lines(text, root, "", lines, twice)
        if root is not None and (wrong := _wrong_in(text, root, twice)):
            raise SpecError(wrong)
        return Document(text, root, _value(root) if root is not None else None, lines)
    except ReaderError as error:
        before = f"{text[: error.position]}.".splitlines()
        raise SpecError([Problem("", f"This is not YAML: {CONTROL}", len(before))]) from error
    except (YAMLError, ValueError, RecursionError) as error:
        unclosed = str(getattr(error, "problem", "")).startswith(UNCLOSED)
        mark = getattr(error, "context_mark" if unclosed else "problem_mark", None)
        last = text.rstrip().count("\n") + 1  # the end of a text is in the last line of which there is something
        line = min(mark.line + 1, last) if mark else None
        around = text.splitlines() or [""]
        message = _in_words(error, around[line - 1] if line else "")
        if line and line > 1 and message == INDENTATION and _NO_SPACE.match(around[line - 2]):
            line, message = line - 1, NO_SPACE
        raise SpecError([Problem("", f"This is not YAML: {message}", line)]) from error


def _wrong_in(text: str, root: Node, twice: list[Problem]) -> list[Problem]:
    """What YAML reads and nobody means so: the first kind of it that there is."""
    return open_quote_problems(text, root) or word_dash_problems(text, root) or twice or misread_problems(text, root)


_parsed_before = functools.lru_cache(maxsize=KEPT)(_parse_cached)


ALIASES = "Aliases (*name) are not allowed in a spec: write what it stands for."
COLON = "there is a second colon in this line. Put text that holds a colon in quotes."
INDENTATION = "this line's indentation does not fit the lines above. The names of one part begin at the same column."
TAB = "there is a tab. Indent with spaces instead."
TAB_INSIDE = "there is a tab in this line. Write a space instead."
QUOTE = "a quotation mark is not closed: close it, or write the text without quotes."
UNCLOSED = "found unexpected end of stream"  # the parser's words for it
CONTROL = "there is a control character in this line, which cannot be seen. Remove it."
LONG_NAME = f"the name of a setting has more than {MAX_NAME:,} characters."
ABOVE = "a name above this line has no colon in its own line."
NO_COLON = "there is no colon after the name in this line, as in “max_steps: 5”."
OPEN = "a bracket that is opened above is not closed, or a comma is missing."
NO_SPACE = "there is no space after this line's colon."
_NO_SPACE = re.compile(r"\s*(- )?[A-Za-z_]\w*:[^\s/:]\S*\s*$")
DOCUMENTS = "there is a second document after “---”. A spec is one."
_AT_THE_MARGIN = re.compile(r"expected <block end>, but found '(<block (mapping|sequence) start>|\?|-)'")


def _slip(said: str, line: str) -> str:
    """What a person can do about the commonest slips, by what the parser says of a line; "" of others."""
    if said.startswith("mapping values are not allowed"):
        return COLON if len(re.findall(r":(?=\s|$)", line)) > 1 else INDENTATION
    if said.startswith("found character '\\t'"):
        return TAB if re.match(r"\s*\t", line) else TAB_INSIDE
    if said.startswith(UNCLOSED):
        return QUOTE
    if said.startswith("expected ','"):
        return OPEN
    if said.startswith("but found another document"):
        return DOCUMENTS
    if said.startswith("could not find expected ':'"):
        name, colon, _ = line.partition(":")
        return NO_COLON if not colon else LONG_NAME if len(name) > MAX_NAME else ABOVE
    return INDENTATION if _AT_THE_MARGIN.match(said) else ""


def _in_words(error: Exception, line: str) -> str:
    """What is wrong with a line, without the names of the parser's tokens."""
    said = str(getattr(error, "problem", None) or str(error).splitlines()[0])
    slip = _slip(said, line)
    if slip:
        return slip
    listed = "block collection" in str(getattr(error, "context", ""))
    said = said.replace("<block end>", "'-' indicator" if listed else "key")
    said = said.replace("not allowed here", "not allowed in this context")
    return re.sub(r"^expected (?:the |an? )?(.+?), but (?:found|got) .*", r"did not find expected \1", said, flags=re.S)


def _note_lines(
    text: str, node: Node, path: str, lines: dict[str, int], twice: list[Problem], dash: int | None = None
) -> None:
    """Walk the nodes. `twice` gets each field that is given again, which YAML would silently let win. `dash`: the
    column of that of a list's entry."""
    if isinstance(node, MappingNode):
        first: dict[str, int] = {}
        for number, (key, value) in enumerate(node.value):
            inner = f"{path}.{_name(key)}".lstrip(".")
            if inner in first:
                if no_dash := dash_problem(text, inner, node, number, dash):
                    twice.append(no_dash)
                    break  # what follows is another entry's
                twice.append(twice_problem(text, inner, node, first[inner], number))
                continue
            first[inner] = number
            lines[inner] = key.start_mark.line + 1
            _note_lines(text, value, inner, lines, twice)
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            inner = f"{path}.{index}".lstrip(".")
            lines[inner] = item.start_mark.line + 1
            _note_lines(text, item, inner, lines, twice, None if node.flow_style else node.start_mark.column)


def _value(node: Node) -> Any:
    """The plain value of a node whose names were noted."""
    if isinstance(node, MappingNode):
        return {scalar_value(key): _value(value) for key, value in node.value}
    if isinstance(node, SequenceNode):
        return [_value(item) for item in node.value]
    return scalar_value(node)


def _name(key: Node) -> str:
    """A name as it is written. Raises SpecError for one that is itself a list or a mapping, or has no end."""
    line = key.start_mark.line + 1
    if not isinstance(key, ScalarNode):
        raise SpecError([Problem("", "This is not YAML: found unhashable key", line)])
    if len(key.value) > MAX_NAME:
        raise SpecError([Problem("", f"The name of a setting has more than {MAX_NAME:,} characters.", line)])
    return str(key.value)


def scalar_value(node: Node) -> Any:
    """The number, word or text that a scalar means."""
    return _scalar_of(str(node.tag).removeprefix(_TAG), node.value)


def word_value(word: str) -> Any:
    """What a plain word means (see WORD), without the parser."""
    listed = _Resolver._by_first.get(word[:1], [])
    return _scalar_of(next((tag for tag, pattern in listed if pattern.match(word)), "").removeprefix(_TAG), word)


def _scalar_of(kind: str, given: str) -> Any:
    written = given.replace("_", "").lower()
    if kind == "int":
        return _whole_number(given, written)
    if kind == "float":
        return float(written.replace(".inf", "inf").replace(".nan", "nan"))
    return {"null": None, "bool": written == "true"}.get(kind, given)


def _whole_number(given: str, written: str) -> int:
    """A whole number; an endless one is read as one that is just too long (see storage.spec.spec), so that the rest of
    the text can be read and the problem has its field."""
    if len(given) > MAX_DIGITS:
        return 10**MAX_DIGITS
    digits = written.lstrip("+-")
    base = {"0b": 2, "0x": 16}.get(digits[:2]) or (8 if digits.startswith("0") else 10)
    return int(digits.removeprefix("0b").removeprefix("0x"), base) * (-1 if written.startswith("-") else 1)


def yaml_number(text: str) -> int | float | None:
    """The number that a text writes, read as in a spec."""
    try:
        value = read_yaml(text)[0]
    except SpecError:
        return None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
