"""What of a pasted training script its reward functions need: the rest (loading data, making a trainer) becomes
comments."""

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass

from groupwise.storage.library.rewards import defined, scopes
from groupwise.storage.library.rewards.pasted import is_python
from groupwise.storage.library.rewards.scopes import Names
from groupwise.storage.spec.syntax_tree import parse_module

_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS = (ast.If, ast.Try, ast.With)
# What loads a model or data, trains, or talks to a notebook, by the last part of the name that is called. None of it
# can run where a reward function does, each time the function is loaded.
_HEAVY = {
    "from_pretrained", "get_peft_model", "load_dataset", "load_from_disk", "snapshot_download", "hf_hub_download",
    "train", "SentenceTransformer", "CrossEncoder", "LLM", "pipeline", "login", "notebook_login", "get_ipython",
    "input", "push_to_hub", "save_pretrained", "PatchFastRL",
}  # fmt: skip
_SPECIAL = {f"{kind}_token" for kind in ("eos", "bos", "pad", "unk", "sep", "cls", "mask")}
_BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}


@dataclass(eq=False)
class _Leaf:
    """A statement that stays or goes as a whole. `parents`: the blocks (if, try, with) that it stands in, the outermost
    first, which stay where it does; `needs`: the names that those read."""

    node: ast.stmt
    names: Names
    parents: tuple[ast.stmt, ...]
    needs: frozenset[str]

    @property
    def names_read(self) -> frozenset[str]:
        return self.names.used | self.needs


def keep_only(code: str, asked: str = "") -> str:
    """The code with each statement of its module that no reward function needs turned into a comment; `asked` is the
    name of a function that counts as one, whatever it looks like.

    What binds or changes a name that is needed stays, and what that needs in turn, unless it loads a model or data, or
    is made of what does: that cannot run in a reward function. Of names imported together only those needed stay. A
    tokenizer's special tokens become texts of their own, "<eos_token>": completions are decoded without them. Lines are
    never added or taken away, so a line's number means the same before and after. Text that is not Python, or has no
    reward function, or nothing of a script, stays as it is; so do statements that share a line with one that is needed.
    """
    try:
        leaves = list(_leaves(parse_module(code).body, _bytes_of(code)))
        plain = _without_special_tokens(code, leaves)
        stripped = _strip(code, plain, asked)
        parse_module(stripped)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code
    return stripped


def stand_ins(code: str, kept: str) -> list[str]:
    """The special tokens (eos_token) for which `keep_only` wrote a text of their own."""
    return sorted(token for token in _SPECIAL if f"<{token}>" in kept and f"<{token}>" not in code)


def is_heavy(statement: ast.stmt) -> bool:
    """Whether running a statement loads a model or data, trains, or needs a notebook."""
    return any(
        isinstance(node, ast.Call) and (_called(node) in _HEAVY or _called(node).endswith("Trainer"))
        for node in _run_at_once(statement)
    )


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _bytes_of(code: str) -> list[bytes]:
    return code.encode("utf-8").split(b"\n")


def _strip(code: str, plain: str, asked: str) -> str:
    """`plain`: the code as what stays of it is to be."""
    module = parse_module(plain)
    leaves = list(_leaves(module.body, _bytes_of(plain)))
    kept = _kept_leaves(leaves, {asked, *(each.name for each in defined.reward_functions(module))})
    if not kept or not any(_is_of_a_script(leaf.node) for leaf in leaves if leaf not in kept):
        return code
    blocks = [block for leaf in kept for block in leaf.parents]
    new = plain.split("\n")
    used = _used(kept)
    for leaf in kept:
        n = leaf.node.lineno - 1
        new[n] = _import_only(leaf.node, used, new[n])
    going = _going_lines(module.body, new, kept, blocks)
    for n, old in enumerate(code.split("\n"), 1):
        if n in going and old:
            new[n - 1] = f"# {old}"
    for n in (_first_line(suite[0]) for suite in _emptied_suites(blocks, kept)):
        old = new[n - 1].removeprefix("# ")
        if n in going:
            new[n - 1] = f"{old[: len(old) - len(old.lstrip())]}pass  # {old.strip()}"
    return "\n".join(new)


# ---- the statements ----
def _leaves(
    body: list[ast.stmt], lines: list[bytes], parents: tuple[ast.stmt, ...] = (), needs: frozenset[str] = frozenset()
) -> Iterator[_Leaf]:
    for node in body:
        if isinstance(node, _BLOCKS):
            for suite in _suites(node):
                yield from _leaves(suite, lines, (*parents, node), needs | _header_names(node))
        else:
            yield _Leaf(node, scopes.names_of_statement(node, lines), parents, needs)


def _suites(node: ast.stmt) -> list[list[ast.stmt]]:
    """The bodies of a block, in their order; empty ones left out."""
    handlers = [handler.body for handler in getattr(node, "handlers", [])]
    found = [getattr(node, "body", []), *handlers, getattr(node, "orelse", []), getattr(node, "finalbody", [])]
    return [suite for suite in found if suite]


def _header_names(node: ast.stmt) -> frozenset[str]:
    if isinstance(node, ast.If):
        return scopes.names_of_expressions(node.test)
    if isinstance(node, ast.With):
        return scopes.names_of_expressions(*(item.context_expr for item in node.items))
    return scopes.names_of_expressions(*(handler.type for handler in getattr(node, "handlers", [])))


def _run_at_once(statement: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement that run when it does: not what stands inside of its functions."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            waiting += [node.args, *node.decorator_list]
        else:
            waiting += [] if isinstance(node, ast.Lambda) else ast.iter_child_nodes(node)


def _is_of_a_script(statement: ast.stmt) -> bool:
    """Whether it does something of its own where the module is loaded; a helper only stands there."""
    runs = any(isinstance(node, ast.Call) for node in _run_at_once(statement))
    return is_heavy(statement) if isinstance(statement, _DEFINED) else runs


def _is_main(block: ast.stmt) -> bool:
    return isinstance(block, ast.If) and "__main__" in ast.unparse(block.test)


# ---- which of them stay ----
def _kept_leaves(leaves: list[_Leaf], rewards: set[str]) -> list[_Leaf]:
    """What the reward functions need; none where there is no reward function."""
    spoilt = _spoilt_leaves(leaves)
    usable = [leaf for leaf in leaves if leaf not in spoilt and not any(map(_is_main, leaf.parents))]
    kept = [leaf for leaf in usable if isinstance(leaf.node, _DEFINED) and leaf.node.name in rewards]
    if not kept:
        return []
    kept += [leaf for leaf in usable if _must_stay(leaf.node)]
    while wanted := [leaf for leaf in usable if leaf not in kept and leaf.names.bound & _used(kept)]:
        kept += wanted
    if _used(kept) - _bound(kept) - _bound(spoilt) - _BUILTINS:  # a star may bring what nothing else does
        kept += [leaf for leaf in usable if leaf not in kept and _is_star(leaf.node)]
    return _with_enclosed_rewards(usable, kept)


def _used(leaves: list[_Leaf]) -> frozenset[str]:
    return frozenset[str]().union(*(leaf.names_read for leaf in leaves))


def _bound(leaves: list[_Leaf]) -> frozenset[str]:
    return frozenset[str]().union(*(leaf.names.bound for leaf in leaves))


def _spoilt_leaves(leaves: list[_Leaf]) -> list[_Leaf]:
    """The heavy statements, and those that read at once what only such make."""
    spoilt = [leaf for leaf in leaves if is_heavy(leaf.node)]
    while True:
        spoilt += [leaf for leaf in leaves if leaf not in spoilt and _is_placeholder(leaf, spoilt)]
        sound = [leaf for leaf in leaves if leaf not in spoilt]
        made = frozenset[str]().union(*(leaf.names.bound - leaf.names.at_once for leaf in sound))
        lost = _bound(spoilt) - made
        more = [
            leaf for leaf in sound
            if not isinstance(leaf.node, _DEFINED) and (leaf.names.at_once | leaf.needs) & lost
        ]  # fmt: skip
        if not more:
            return spoilt
        spoilt += more


def _is_placeholder(leaf: _Leaf, spoilt: list[_Leaf]) -> bool:
    """Whether it says None of a name to which what goes gives its value later: name = None; for … in tokenizer …"""
    value = getattr(leaf.node, "value", None)
    if not isinstance(leaf.node, (ast.Assign, ast.AnnAssign)) or not isinstance(value, ast.Constant):
        return False
    later = [each for each in spoilt if each.node.lineno > leaf.node.lineno]
    return value.value is None and bool(leaf.names.bound & _bound(later))


def _with_enclosed_rewards(usable: list[_Leaf], kept: list[_Leaf]) -> list[_Leaf]:
    """With what else looks like a reward function, or makes one (a factory, a class), and what that needs, where it is
    whole with the definitions there are: it can be made one. Other helpers that nothing kept calls go."""
    whole = _whole_definitions(usable, kept)
    kept = [*kept, *(leaf for leaf in whole if defined.holds_reward_function(leaf.node))]
    while more := [leaf for leaf in whole if leaf not in kept and leaf.names.bound & _used(kept)]:
        kept = [*kept, *more]
    return kept


def _whole_definitions(usable: list[_Leaf], kept: list[_Leaf]) -> list[_Leaf]:
    """The functions and classes beside what is kept that read nothing but that and each other."""
    whole = [leaf for leaf in usable if leaf not in kept and isinstance(leaf.node, _DEFINED)]
    while True:
        there = _bound(kept) | _bound(whole) | _BUILTINS
        sound = [leaf for leaf in whole if not leaf.names_read - there]
        if len(sound) == len(whole):
            return whole
        whole = sound


def _must_stay(statement: ast.stmt) -> bool:
    """A docstring, and what is imported from __future__: they stand where they stand for a reason."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_star(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and any(alias.name == "*" for alias in statement.names)


# ---- the lines ----
def _import_only(node: ast.stmt, used: frozenset[str], line: str) -> str:
    """`import re  # torch` for `import re, torch` where torch is not used; any other line as it is."""
    if not isinstance(node, (ast.Import, ast.ImportFrom)) or line.strip() != ast.unparse(node) or _must_stay(node):
        return line
    gone = [alias for alias in node.names if (alias.asname or alias.name.split(".")[0]) not in used]
    if not gone or len(gone) == len(node.names):
        return line
    begin = line.partition("import ")[0] + "import "
    kept = [alias for alias in node.names if alias not in gone]
    return f"{begin}{', '.join(map(ast.unparse, kept))}  # {', '.join(map(ast.unparse, gone))}"


def _going_lines(body: list[ast.stmt], lines: list[str], kept: list[_Leaf], blocks: list[ast.stmt]) -> set[int]:
    """The lines of what does not stay, without those that it shares with what does."""
    stays = {id(leaf.node) for leaf in kept} | {id(block) for block in blocks}
    going, staying = set[int](), set[int]()
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        begins = not lines[_first_line(node) - 1].encode("utf-8")[: node.col_offset].strip()
        if id(node) not in stays and (begins or node in body):
            going |= set(_lines_of(node))
        elif isinstance(node, _BLOCKS):
            inner = [each for suite in _suites(node) for each in suite]
            staying |= set(_lines_of(node)) - {line for each in inner for line in _lines_of(each)}
            waiting += inner
        else:
            staying |= set(_lines_of(node))
    return going - staying


def _emptied_suites(blocks: list[ast.stmt], kept: list[_Leaf]) -> Iterator[list[ast.stmt]]:
    """The bodies of blocks that stay of which nothing stays; an `elif` goes with its line."""
    stays = {id(leaf.node) for leaf in kept} | {id(block) for block in blocks}
    for block in blocks:
        for suite in _suites(block):
            is_elif = isinstance(suite[0], ast.If) and suite[0].col_offset == block.col_offset
            if not is_elif and not any(id(each) in stays for each in suite):
                yield suite


def _first_line(statement: ast.stmt) -> int:
    return scopes.first_line(statement)


def _lines_of(statement: ast.stmt) -> range:
    return range(_first_line(statement), (statement.end_lineno or statement.lineno) + 1)


# ---- special tokens ----
def _without_special_tokens(code: str, leaves: list[_Leaf]) -> str:
    """The code with "<eos_token>" for `tokenizer.eos_token` and the like, where the script loads the tokenizer."""
    loaded = _bound([leaf for leaf in leaves if is_heavy(leaf.node)])
    lines = code.split("\n")
    for leaf in leaves:
        found = {pair for node in ast.walk(leaf.node) if (pair := _special_token(node))}
        for name, token in sorted(found):
            for n in _lines_of(leaf.node) if name in loaded else ():
                quote = "'" if '"' in lines[n - 1] else '"'  # it may stand in an f-string
                lines[n - 1] = re.sub(rf"\b{name}\.{token}\b", f"{quote}<{token}>{quote}", lines[n - 1])
    plain = "\n".join(lines)
    return plain if is_python(plain) else code


def _special_token(node: ast.AST) -> tuple[str, str] | None:
    """(tokenizer, eos_token) for `tokenizer.eos_token`."""
    if isinstance(node, ast.Attribute) and node.attr in _SPECIAL and isinstance(node.value, ast.Name):
        return (node.value.id, node.attr) if isinstance(node.ctx, ast.Load) else None
    return None
