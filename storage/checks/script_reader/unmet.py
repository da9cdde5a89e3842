"""What a script does only where its command line or its environment says so: the import takes the defaults, so what
they switch off is said by its condition."""

import ast
from collections.abc import Iterator

from groupwise.storage.checks.script_reader.members import is_builtin
from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.unsaid import list_names

# What neither trains nor changes what is trained.
_IDLE_ROOTS = {
    "print",
    "logging",
    "logger",
    "log",
    "warnings",
    "os",
    "sys",
    "parser",
    "pdb",
    "debugpy",
    "pprint",
    "time",
}


def note_unmet(reading: Reading) -> None:
    """Note what would be done under each condition that does not hold by the defaults."""
    for test, body in reading.script.unmet:
        done = list(dict.fromkeys(found for part in body for found in _done_in(part)))
        if done:
            after = f"does not hold by default, so its block was not taken: {list_names(done)}."
            reading.note(f"“{ast.unparse(test)[:80]}”", test, after)


def _done_in(node: ast.AST) -> Iterator[str]:
    """What is called and set, as the script writes it."""
    if isinstance(node, (ast.Raise, ast.Assert, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return
    if isinstance(node, ast.Call):
        said = ast.unparse(node.func)
        root = said.partition(".")[0].partition("(")[0]
        if root not in _IDLE_ROOTS and not is_builtin(said):
            yield f"{said[:60]}(…)"
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    if targets and not any(isinstance(inner, ast.Call) for inner in ast.walk(node)):
        yield from (f"{ast.unparse(target)[:60]} = …" for target in targets)
    for child in ast.iter_child_nodes(node):
        yield from _done_in(child)
