"""The way back of the builder: code that blocks made, or that is what blocks would make → those blocks. Pure.

Nothing is kept beside the code. What a person can type stands in it as literals, which are read; what a person can
choose is found by writing each choice and comparing. Code is of blocks where these, written anew, are that code: but
for its layout, and for values in docstrings and the test, which follow the blocks.
"""

import ast
import functools
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from groupwise.storage.library.rewards.builder.blocks import KINDS, Block, block_problems
from groupwise.storage.library.rewards.builder.first_difference import first_differing_line
from groupwise.storage.library.rewards.builder.parts import COLUMN, part_of
from groupwise.storage.library.rewards.builder.shared import BEFORE
from groupwise.storage.library.rewards.builder.typed_values import READERS, Function, Settings, literal_of
from groupwise.storage.library.rewards.builder.write import REQUIRED, SCORE, BuilderError, default_sentence, to_code
from groupwise.storage.spec.syntax_tree import parse_module

_HELPERS = {
    "matches_pattern": "matches", "contains_texts": "contains", "number_is_right": "number_equals",
    "length_fits": "length_between", "json_is_valid": "valid_json", "judge_says": "judge_says",
}  # fmt: skip
_HELPER = re.compile(rf"({'|'.join(_HELPERS)})((?:_\d+)?)")


@dataclass(frozen=True)
class Reading:
    """Blocks that a code is made of, and its sentence (empty: the one that the builder gives); blocks None where it is
    no longer theirs, and `line`, from 1, is the first that was edited by hand."""

    blocks: list[Block] | None
    sentence: str = ""
    line: int = 0


def read_blocks(code: str, name: str) -> Reading | None:
    """The blocks of a function. None where the code never was of blocks, or is no Python."""
    try:
        module = parse_module(code)
        functions = {node.name: node for node in module.body if isinstance(node, Function)}
        main = functions.get(name)
        parts = [node for node in functions.values() if _HELPER.fullmatch(node.name)]
        if main is None or not parts or len(parts) > 64:
            return None
        return _compare(code, module, name, _read(module, functions, main, parts), _sentence(main))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@functools.lru_cache(maxsize=64)
def most_of_code(code: str, name: str) -> float | None:
    """The most that a function gives which is made of blocks: 1, or 0 where all of them are penalties; None of any
    other."""
    reading = read_blocks(code, name)
    if reading is None or not reading.blocks:
        return None
    return 1.0 if any(block.weight > 0 for block in reading.blocks) else 0.0


def _compare(code: str, module: ast.Module, name: str, blocks: list[Block], sentence: str) -> Reading:
    """The blocks, where they make this code; else the line that they would not make."""
    if block_problems(blocks):
        return Reading(None, line=first_differing_line(code, module, _closest(blocks, name, sentence)))
    sentence = "" if " ".join(sentence.split()) == default_sentence(blocks) else sentence
    try:
        made = to_code(name, blocks, sentence)
    except BuilderError:
        return Reading(None, line=1)
    line = first_differing_line(code, module, made)
    if line and (before := _as_before(made)) != made and not first_differing_line(code, module, before):
        line = 0
    return Reading(None, line=line) if line else Reading(blocks, sentence)


def _as_before(made: str) -> str:
    """The code that the builder wrote before its small functions were as they are now."""
    for now, before in BEFORE.items():
        made = made.replace(now, before)
    return made


def _closest(blocks: list[Block], name: str, sentence: str) -> str:
    """The code of those of the blocks that can be built."""
    sound = [block for block in blocks if not block_problems([block])]
    try:
        return to_code(name, sound, sentence)
    except BuilderError:
        return ""


# ---- reading ----
def _read(module: ast.Module, functions: dict[str, Function], main: Function, parts: list[Function]) -> list[Block]:
    constants = {
        node.targets[0].id: node.value
        for node in module.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    test = functions.get(f"test_{main.name}")
    together = functions.get(SCORE)
    weights = _weights(together) if together else []
    required = _required(together) if together else set()
    columns = _columns(main, together)
    found = []
    for number, part in enumerate(parts):
        matched = _HELPER.fullmatch(part.name)
        assert matched  # they were chosen by it
        kind = _HELPERS[matched[1]]
        typed = READERS[kind](part, constants, matched[2], test)
        if kind == "number_equals" and part.name in columns:
            typed["column"] = columns[part.name]
        weight = weights[number] if number < len(weights) else 1.0
        block = _choose(kind, typed, weight, part, matched[2])
        found.append(replace(block, required=number in required))
    return found


def _choose(kind: str, typed: Settings, weight: float, part: Function, suffix: str) -> Block:
    """The block of this kind, with what was typed, whose choices make this very function; else the first."""
    known = {each["name"] for each in KINDS[kind]["settings"]}
    choices = [
        (each["name"], each["choices"] or [True, False])
        for each in KINDS[kind]["settings"]
        if each["name"] not in typed and (each["choices"] or "bool" in each["types"])
    ]
    settings = {key: value for key, value in typed.items() if key in known}
    tried = [
        Block(kind, settings | dict(zip([key for key, _ in choices], values, strict=True)), weight, partial)
        for *values, partial in itertools.product(*(values for _, values in choices), [False, True])
    ]
    made = _plain_dump(part)
    usable = [block for block in tried if not block_problems([block])]
    return next((block for block in usable if _makes(block, suffix, made)), (usable or tried)[0])


def _makes(block: Block, suffix: str, made: str) -> bool:
    return _plain_dump(parse_module(part_of(block, suffix).code).body[0]) == made


def _plain_dump(node: ast.stmt) -> str:
    """A function without its docstring, as text."""
    assert isinstance(node, Function)
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return ast.dump(node.args) + "".join(map(ast.dump, body))


def _weights(together: Function) -> list[float]:
    """The weights in `parts = [(2.0, …), …]`."""
    for node in ast.walk(together):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List):
            pairs = [each for each in node.value.elts if isinstance(each, ast.Tuple) and each.elts]
            return [float(value) for each in pairs if isinstance(value := literal_of(each.elts[0]), (int, float))]
    return []


def _required(together: Function) -> set[int]:
    """The numbers in `required = [parts[0][1], …]`."""
    for node in ast.walk(together):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == REQUIRED:
            return {
                each.value.slice.value
                for each in ast.walk(node.value)
                if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Subscript)
                and isinstance(each.value.slice, ast.Constant) and isinstance(each.value.slice.value, int)
            }  # fmt: skip
    return set()


def _columns(main: Function, together: Function | None) -> dict[str, str]:
    """{helper: the column that it is given}: what the loop in the main function takes for the helper's last value."""
    given = {
        each.func.id: each.args[-1].id
        for function in (main, together)
        for each in ast.walk(function or ast.Module([], []))
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.args
        and isinstance(each.args[-1], ast.Name)
    }  # fmt: skip
    sources = dict(_looped(main, together))
    return {helper: sources[name] for helper, name in given.items() if name in sources}


def _looped(main: Function, together: Function | None) -> Iterator[tuple[str, str]]:
    """(variable, column) of each value of a row, as the main function takes them side by side."""
    for node in ast.walk(main):
        if isinstance(node, ast.comprehension):
            names = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
            sources = node.iter.args if isinstance(node.iter, ast.Call) else [node.iter]
            yield from _paired([each.id for each in names if isinstance(each, ast.Name)], sources)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "map" and together:
            yield from _paired([each.arg for each in together.args.args], node.args[1:])


def _paired(names: list[str], sources: list[ast.expr]) -> Iterator[tuple[str, str]]:
    for name, source in zip(names, sources, strict=False):
        if isinstance(source, ast.Subscript) and isinstance(column := literal_of(source.slice), str):
            yield name, column
        elif isinstance(source, ast.Name) and name.startswith(COLUMN):
            yield name, source.id


def _sentence(main: Function) -> str:
    return (ast.get_docstring(main) or "").split("\n\n")[0].strip()
