"""The code of a script's reward functions, each with what it needs of the script: imports, constants, helpers."""

import ast
import re
import symtable
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from groupwise.storage.checks.script_reader.as_written import only_constants
from groupwise.storage.checks.script_reader.closures import Closed, Unclosed, at_left_edge, close_function
from groupwise.storage.checks.script_reader.values import Function
from groupwise.storage.library.rewards import signature
from groupwise.storage.library.rewards.renaming import rename_function
from groupwise.storage.library.rewards.signature import CodeProblem
from groupwise.storage.library.rewards.strip_script import is_heavy, keep_only, stand_ins
from groupwise.storage.spec.syntax_tree import parse_module

_WORD, _ASSIGNED = re.compile(r"\w+"), re.compile(r"^# (\w+) *(?::[^=]+)?=(?!=)")
_Coded = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class ScriptFunction:
    """A reward function that comes along: its code, as it can stand alone; what that imports; and what is wrong with
    it, by the lines of the code, and `where` in the script each of that is. `places`: which of the imported rewards it
    is. `stand_ins`: the special tokens of a tokenizer (eos_token) that are written out as texts, as the code loads
    none."""

    name: str
    code: str
    imports: list[str]
    places: list[int]
    problems: list[CodeProblem]
    stand_ins: list[str] = field(default_factory=list)
    where: list[str] = field(default_factory=list)


def extract_function(
    lines: list[str], tree: ast.Module, function: Function, name: str, place: Callable[[int], str] = "line {}".format
) -> ScriptFunction:
    """A function of a script under a name, with the statements that it needs, in their order; under its own where one
    at the top level uses that name for something else. `place`: how a line of the script is called. Raises Unclosed
    where it uses what only running the script would tell."""
    if function.top and isinstance(function.node, ast.stmt):
        kept = _needed_statements(tree, function.node, _globals_of(function.node, lines), lines)
        code = "".join(_pieces(kept, lines))
        name = function.name if re.search(rf"\b{name}\b", code) else name
        code = rename_function(code, function.name, name)
    else:
        closed = close_function(function, name, lines, tree)
        for used, names in closed.computed.items():
            if not only_constants(_needed_statements(tree, None, set(names), lines), _binds, tree):
                raise Unclosed(f"“{used}”")
        kept = _needed_statements(tree, None, set(closed.needed), lines)
        code = _put_together(kept, closed, lines)
    written, code = code, _without_unused_imports(_without_loading(code, name))
    imported = [ast.unparse(each) for each in parse_module(code).body if isinstance(each, (ast.Import, ast.ImportFrom))]
    problems = signature.analyse(code, name).problems
    where = [place(_line_in_script(problem.line, code, name, function.node, lines)) for problem in problems]
    return ScriptFunction(name, code, imported, [], problems, stand_ins(written, code), where)


def _line_in_script(line: int, code: str, name: str, node: _Coded, lines: list[str]) -> int:
    """The line of the script that a line of the code is from: as far below the head of the function `node` as it is
    below that of its own, or else the first with the same text; the function's own where there is none."""
    first, end = _span(node)
    text = code.split("\n")[line - 1].strip()
    texts = {text, text.removeprefix("# ")} - {""}  # what loaded a model is a comment in the code
    own = next((one for one in parse_module(code).body if isinstance(one, _DEFINED) and one.name == name), None)
    begins = _span(own)[0] if own is not None else 0
    likely = [first + line - 1 - begins, *range(first, end), *range(len(lines))]
    same = (at for at in likely if 0 <= at < len(lines) and lines[at].strip() in texts)
    return next(same, node.lineno - 1) + 1


def _without_loading(code: str, name: str) -> str:
    """The code without what would load a model or data each time the function is loaded, and what is made of that; a
    value that it uses all the same stays as a comment, of which signature.analyse says that it is missing."""
    if not any(is_heavy(each) for each in parse_module(code).body):
        return code
    pairs = list(zip(code.split("\n"), keep_only(code, name).split("\n"), strict=True))
    stays = {word for old, new in pairs if new != f"# {old}" for word in _WORD.findall(new)}
    left = (new for old, new in pairs if new != f"# {old}" or set(_ASSIGNED.findall(new)) & stays)
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(left)).lstrip("\n")


def _without_unused_imports(code: str) -> str:
    """The code without names that an import of its top level brings beside those that are used, as in
    `import re, torch`."""
    lines, body = code.split("\n"), parse_module(code).body
    used = set().union(*(_globals_of(each, lines) for each in body if not _imports(each)))
    spans = [range(*_span(each)) for each in body]
    for each, span in reversed(list(zip(body, spans, strict=True))):
        alone = not any(set(span) & set(other) for other in spans if other is not span)
        if alone and isinstance(each, (ast.Import, ast.ImportFrom)) and getattr(each, "module", "") != "__future__":
            names = [one for one in each.names if one.name == "*" or _bound_by(one) in used]
            if len(names) < len(each.names):
                each.names = names
                lines[span.start : span.stop] = [ast.unparse(each)] if names else []
    return "\n".join(lines)


def _bound_by(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _put_together(kept: list[ast.stmt], closed: Closed, lines: list[str]) -> str:
    """What the script's top level gives, then what the functions around give, then the function itself."""
    inner = set().union(*(_binds(each) for one in closed.before for each in parse_module(one).body))
    if both := inner & set().union(*(_binds(each) for each in kept)):
        raise Unclosed(f"“{min(both)}”, which means two things")
    simple = [one for one in closed.before if one and "\n" not in one]
    imports = [one for one in simple if one.startswith(("import ", "from "))]
    rest = [one for one in simple if one not in imports]
    blocks = [one.rstrip("\n") for one in closed.before if "\n" in one]
    top = "".join(_pieces(kept, lines)).rstrip("\n")
    parts = ["\n".join(imports), top, "\n".join(rest), *blocks, closed.code.rstrip("\n")]
    return "\n\n\n".join(part for part in parts if part) + "\n"


def _needed_statements(tree: ast.Module, node: ast.stmt | None, needed: set[str], lines: list[str]) -> list[ast.stmt]:
    """A function itself, if it is a statement of the script, and all statements that bind or change what it needs, and
    what those use in turn."""
    statements = list(_top_statements(tree.body))
    last = {each.name: each for each in statements if isinstance(each, _DEFINED)}
    rest = [each for each in statements if each is not node and last.get(getattr(each, "name", ""), each) is each]
    kept = [node] if node is not None else []
    while more := [each for each in rest if _binds(each) & needed]:
        rest = [each for each in rest if each not in more]
        kept += more
        for each in more:
            needed |= _globals_of(each, lines)
    kept += [each for each in rest if isinstance(each, ast.ImportFrom) and each.module == "__future__"]
    return _each_import_once(sorted(kept, key=lambda each: each.lineno))


def _each_import_once(statements: list[ast.stmt]) -> list[ast.stmt]:
    """A notebook imports the same in many cells."""
    seen: set[str] = set()
    kept = []
    for each in statements:
        said = ast.unparse(each) if _imports(each) else ""
        if not said or said not in seen:
            kept.append(each)
        seen.add(said)
    return kept


def _top_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of the top level, with those of a block there that runs as a script, or that defines functions."""
    for each in body:
        block = isinstance(each, (ast.If, ast.With)) and any(isinstance(inner, _DEFINED) for inner in ast.walk(each))
        if isinstance(each, (ast.If, ast.With)) and (block or _is_main(each)):
            yield from _top_statements([*each.body, *getattr(each, "orelse", [])])
        else:
            yield each


def _is_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)


def _binds(node: ast.stmt) -> set[str]:
    """The names that a statement gives a meaning, or changes."""
    if isinstance(node, _DEFINED):
        return {node.name}
    names: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, (ast.Import, ast.ImportFrom)):
            names |= {_bound_by(alias) for alias in inner.names}
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            names.add(inner.id)
        elif isinstance(inner, (ast.Attribute, ast.Subscript)) and isinstance(inner.ctx, ast.Store):
            names |= {each.id for each in ast.walk(inner) if isinstance(each, ast.Name)}
        elif isinstance(inner, _DEFINED):
            names.add(inner.name)
    return names


def _globals_of(node: ast.stmt, lines: list[str]) -> set[str]:
    """The names of the module that a statement uses; a function's own names are none of them."""
    try:
        table = symtable.symtable(at_left_edge(node, lines), "train.py", "exec")
    except (SyntaxError, RecursionError, ValueError):
        return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    found = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()}
    waiting = list(table.get_children())
    while waiting:
        inner = waiting.pop()
        found |= {symbol.get_name() for symbol in inner.get_symbols() if symbol.is_global() and symbol.is_referenced()}
        waiting += inner.get_children()
    return found


def _span(node: ast.stmt | ast.Lambda) -> tuple[int, int]:
    """The lines of a statement, with its decorators, as a slice."""
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
    return first - 1, node.end_lineno or node.lineno


def _pieces(kept: list[ast.stmt], lines: list[str]) -> Iterator[str]:
    """The lines of each statement; two empty lines around functions and classes."""
    before: ast.stmt | None = None
    done = 0
    for node in kept:
        first, end = _span(node)
        if end <= done:
            continue
        if before is not None and (isinstance(node, _DEFINED) or isinstance(before, _DEFINED)):
            yield "\n\n"
        elif before is not None and not (_imports(node) and _imports(before)) and _imports(before):
            yield "\n"
        whole = first >= done
        yield (at_left_edge(node, lines) if whole else "\n".join(line.rstrip() for line in lines[done:end])) + "\n"
        before, done = node, end


def _imports(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom))
