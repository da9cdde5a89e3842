"""The rooms and the rule: who may import whom, and what no file may do, read from every file's syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

HEAVY = {"torch", "trl", "transformers", "datasets", "peft", "accelerate"}
FORBIDDEN = {
    "app": {"worker", *HEAVY},
    "worker": {"app", "gradio"},
    "storage": {"app", "worker", "gradio", *HEAVY},
}
FILES = [path for room in FORBIDDEN for path in sorted((REPOSITORY / room).rglob("*.py"))]


def room_of(path: Path) -> str:
    return path.relative_to(REPOSITORY).parts[0]


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported(tree: ast.AST) -> Iterator[str]:
    """The top-level package of every import, wherever it stands, importlib's included where its name is plain."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide which room they reach"
            yield (node.module or "").split(".")[0]
        elif isinstance(node, ast.Call) and called(node) in ("import_module", "__import__"):
            assert node.args and isinstance(node.args[0], ast.Constant), "an import whose target cannot be read"
            yield str(node.args[0].value).split(".")[0]


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def name_of(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


def test_there_are_files_in_every_room():
    assert {room_of(path) for path in FILES} == set(FORBIDDEN)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_imports_only_what_its_room_may(path: Path):
    assert set(imported(tree_of(path))) & FORBIDDEN[room_of(path)] == set()


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_file_hands_text_to_a_shell_or_a_pickle(path: Path):
    tree = tree_of(path)
    assert not set(imported(tree)) & {"pickle", "dill", "cloudpickle", "shelve", "marshal", "joblib"}
    for node in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        shell = next((word.value for word in node.keywords if word.arg == "shell"), None)
        assert shell is None or (isinstance(shell, ast.Constant) and shell.value is False), node.lineno
        assert ast.unparse(node.func) not in ("os.system", "os.popen", "subprocess.getoutput"), node.lineno


@pytest.mark.parametrize("path", [path for path in FILES if room_of(path) != "worker"], ids=name_of)
def test_app_and_storage_run_no_text_as_code(path: Path):
    builtins = [n.func.id for n in ast.walk(tree_of(path)) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    assert not {"eval", "exec", "compile"} & set(builtins)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_file_swallows_an_exception_unseen(path: Path):
    for node in (node for node in ast.walk(tree_of(path)) if isinstance(node, ast.ExceptHandler)):
        assert node.type is not None, f"a bare except in line {node.lineno}"
        assert not all(isinstance(statement, ast.Pass) for statement in node.body), (
            f"except: pass in line {node.lineno}"
        )


# Who writes files by itself: what hides secrets on the way (storage), and what is no text of a run's.
WRITERS = {
    "storage/db.py", "storage/files.py", "storage/output.py", "storage/record.py",
    "app/supervision.py", "worker/launchers/local.py", "worker/trial/tries.py",  # open a log for another process
    "worker/answers/bench.py", "worker/niceness.py", "worker/sandbox/launch.py",  # speak to the kernel
    "worker/rewards/code_tests.py",  # inside of a sandbox
    "worker/workbench/calling.py",  # code that is loaded at once, and gone
    "worker/starter/make.py",
}  # fmt: skip


def writes(node: ast.Call) -> bool:
    """Whether a call opens a file or a database for writing."""
    name = called(node)
    modes = [part.value for part in [*node.args, *(word.value for word in node.keywords)] if is_text(part)]
    opens = name == "open" and any(set(mode) & set("wax+") and set(mode) <= set("rwxabt+") for mode in modes)
    return opens or name in ("write_text", "write_bytes") or ast.unparse(node.func) in ("json.dump", "sqlite3.connect")


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


@pytest.mark.parametrize("path", [path for path in FILES if name_of(path) not in WRITERS], ids=name_of)
def test_texts_are_written_where_secrets_are_hidden(path: Path):
    """Through storage.files and storage.db: a writer of its own would have to think of it."""
    assert [node.lineno for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call) and writes(node)] == []


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_says_first_what_it_is_for(path: Path):
    assert ast.get_docstring(tree_of(path))
