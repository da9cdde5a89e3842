"""The rooms, their layers and the rules: who may import whom, and what no file may do, read from every file's syntax
tree. One test a rule; what breaks it is listed with its file and line."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import REPOSITORY
from tests.support.lengths import FIRST, LONG, SLOW

HEAVY = {"torch", "trl", "transformers", "datasets", "peft", "accelerate"}
FORBIDDEN = {
    "app": {"groupwise.worker", *HEAVY},
    "worker": {"groupwise.app", "gradio"},
    "storage": {"groupwise.app", "groupwise.worker", "gradio", *HEAVY},
}
# The folders of each room, lowest first: a file imports from its own and from those before it. What lies in a room
# itself, beside the folders, may import all of them, and nothing in a folder imports it.
LAYERS = {
    "app": ["core", "ui", "pages", "server", "cli"],
    "worker": ["sandbox", "builtin", "capabilities", "data", "training", "launchers", "questions", "dry_run"],
    "storage": ["home", "spec", "record", "registry", "library", "checks", "analysis", "backup"],
}
FILES = [path for room in FORBIDDEN for path in sorted((REPOSITORY / room).rglob("*.py"))]


def room_of(path: Path) -> str:
    return path.relative_to(REPOSITORY).parts[0]


def name_of(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported(path: Path) -> Iterator[str]:
    """The full name of all that is imported, wherever the import stands: modules, and names of modules."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}: relative imports hide which room they reach"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and called(node) in ("import_module", "__import__"):
            assert node.args and isinstance(node.args[0], ast.Constant), f"{name_of(path)}: imports what cannot be read"
            yield str(node.args[0].value)


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def package(name: str) -> str:
    """What of a full name decides: a library, or a room of ours."""
    parts = name.split(".")
    return ".".join(parts[: 2 if parts[0] == "groupwise" else 1])


def folder_of(name: str) -> str:
    """The folder, from the repository, that holds the module with (or of) this full name: storage/home."""
    place = Path(*name.split(".")[1:])
    while not (REPOSITORY / place).is_dir():
        place = place.parent
    return str(place)


def own_imports(path: Path) -> Iterator[str]:
    """The folders of its own room, but its own, that a file imports from."""
    room, here = room_of(path), str(path.parent.relative_to(REPOSITORY))
    for name in imported(path):
        if package(name) == f"groupwise.{room}" and folder_of(name) != here:
            yield folder_of(name)


def layer(folder: str) -> int:
    """How high a folder is in its room; the room itself is on top of all."""
    room, *rest = folder.split("/")
    return LAYERS[room].index(rest[0]) if rest else len(LAYERS[room])


def broken(found: Iterator[tuple[Path, object]]) -> list[str]:
    return [f"{name_of(path)}: {what}" for path, what in found]


def test_there_are_files_in_every_room():
    assert {room_of(path) for path in FILES} == set(FORBIDDEN)


def test_a_file_imports_only_what_its_room_may():
    assert not broken(
        (path, name) for path in FILES for name in imported(path) if package(name) in FORBIDDEN[room_of(path)]
    )


def test_a_room_is_imported_by_its_installed_name():
    everything = [*FILES, *(path for room in ("tests", "bench", "docs") for path in (REPOSITORY / room).rglob("*.py"))]
    assert not broken((path, name) for path in everything for name in imported(path) if package(name) in FORBIDDEN)


def test_every_folder_of_a_room_has_its_layer():
    for room, layers in LAYERS.items():
        there = {path.name for path in (REPOSITORY / room).iterdir() if path.is_dir() and path.name != "__pycache__"}
        assert there == set(layers), room


def test_the_sandbox_stands_alone_but_for_home():
    """A plain script carries its source, and an ordinary user's Python runs it, without the rest of Groupwise."""
    sandbox = [path for path in FILES if path.is_relative_to(REPOSITORY / "worker" / "sandbox")]
    assert not broken(
        (path, folder_of(name))
        for path in sandbox
        for name in imported(path)
        if package(name).startswith("groupwise.") and not folder_of(name).startswith(("worker/sandbox", "storage/home"))
    )


def test_no_file_imports_upwards():
    assert not broken(
        (path, folder)
        for path in FILES
        for folder in own_imports(path)
        if layer(folder) > layer(str(path.parent.relative_to(REPOSITORY)))
    )


def test_no_folder_is_in_a_circle():
    """Folders within folders too: each stands for itself."""
    reaches: dict[str, set[str]] = {}
    for path in FILES:
        reaches.setdefault(str(path.parent.relative_to(REPOSITORY)), set()).update(own_imports(path))

    def way(start: str, end: str, been: tuple[str, ...] = ()) -> tuple[str, ...]:
        for folder in sorted(reaches.get(start, ())):
            if folder == end:
                return (*been, start, end)
            if folder not in been and folder != start and (found := way(folder, end, (*been, start))):
                return found
        return ()

    assert [found for folder in sorted(reaches) if (found := way(folder, folder))] == []


def calls(path: Path) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call))


def test_no_file_hands_text_to_a_shell_or_a_pickle():
    pickles = {"pickle", "dill", "cloudpickle", "shelve", "marshal", "joblib"}
    assert not broken((path, name) for path in FILES for name in imported(path) if package(name) in pickles)
    shells = ("os.system", "os.popen", "subprocess.getoutput")
    assert not broken(
        (path, node.lineno)
        for path in FILES
        for node in calls(path)
        if ast.unparse(node.func) in shells or not _says_false(node, "shell")
    )


def _says_false(node: ast.Call, keyword: str) -> bool:
    """Whether a keyword is not given, or is False."""
    given = next((word.value for word in node.keywords if word.arg == keyword), None)
    return given is None or (isinstance(given, ast.Constant) and given.value is False)


def test_app_and_storage_run_no_text_as_code():
    assert not broken(
        (path, node.lineno)
        for path in FILES
        if room_of(path) != "worker"
        for node in calls(path)
        if isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec", "compile")
    )


def test_no_file_swallows_an_exception_unseen():
    handlers = [
        (path, node) for path in FILES for node in ast.walk(tree_of(path)) if isinstance(node, ast.ExceptHandler)
    ]
    assert not broken((path, node.lineno) for path, node in handlers if node.type is None)
    assert not broken((path, node.lineno) for path, node in handlers if all(isinstance(s, ast.Pass) for s in node.body))


# Who writes files by itself: what hides secrets on the way (storage), and what is no text of a run's.
WRITERS = {
    "storage/home/db.py", "storage/home/files.py", "storage/home/process_log.py", "storage/record/record.py",
    "app/core/worker_process.py", "worker/launchers/local.py",  # open a log for another
    "worker/questions/server.py", "worker/niceness.py", "worker/sandbox/launch.py",  # speak to the kernel
    "worker/training/wait_for_run.py",  # so does this
    "worker/data/files/convert.py", "worker/data/files/workbook.py",  # a person's data, which has to stay as it is
    "worker/questions/workbench/calling.py",  # code that is loaded at once, and gone
    "worker/builtin/starter/make.py",
}  # fmt: skip


def writes(node: ast.Call) -> bool:
    """Whether a call opens a file or a database for writing."""
    name = called(node)
    modes = [part.value for part in [*node.args, *(word.value for word in node.keywords)] if is_text(part)]
    opens = name == "open" and any(set(mode) & set("wax+") and set(mode) <= set("rwxabt+") for mode in modes)
    return opens or name in ("write_text", "write_bytes") or ast.unparse(node.func) in ("json.dump", "sqlite3.connect")


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_texts_are_written_where_secrets_are_hidden():
    """Through storage.home.files and storage.home.db: a writer of its own would have to think of it."""
    assert {name for name in WRITERS if not (REPOSITORY / name).is_file()} == set()
    assert not broken(
        (path, node.lineno) for path in FILES if name_of(path) not in WRITERS for node in calls(path) if writes(node)
    )


def test_a_file_says_first_what_it_is_for():
    assert not broken((path, "") for path in FILES if not ast.get_docstring(tree_of(path)))


# Names that several files of a room share, since each is one end of an interface: whoever calls it holds any of them.
SHARED_NAMES = {
    "app": {
        "ask_worker": "what ui/worker_questions.js asks of the page that it is on",
    },
    "worker": {"main": "what `python -m` runs"},
    "storage": {},
}
# Files that lie alone in a run's folder, or that a person's own function begins with: each is whole in itself.
WHOLE_FILES = ("worker/builtin/rewards/", "worker/builtin/tasks/", "storage/library/rewards/templates/")
PARTICIPLE = re.compile(
    "[a-z]+ed|begun|bought|bound|brought|built|caught|chosen|done|drawn|found|given|gone|grown|held|kept|known|laid|led|"
    "left|lent|lost|made|meant|met|ran|said|seen|sent|shown|spent|stood|taken|taught|thought|told|worn|written"
)
EXPORTED = {"fitted"}  # stands under its name in plain scripts, which are read back


def public_functions(path: Path, *, methods: bool = False) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in tree_of(path).body:
        parts = [node, *node.body] if isinstance(node, ast.ClassDef) and methods else [node]
        for part in parts:
            if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and not part.name.startswith("_"):
                yield part


def test_no_two_functions_of_a_room_share_a_name():
    places: dict[tuple[str, str], list[str]] = {}
    for path in FILES:
        if not name_of(path).startswith(WHOLE_FILES):
            for function in public_functions(path):
                places.setdefault((room_of(path), function.name), []).append(name_of(path))
    shared = {(room, name): where for (room, name), where in places.items() if len(where) > 1}
    assert {key: where for key, where in shared.items() if key[1] not in SHARED_NAMES[key[0]]} == {}
    assert {(room, name) for room, names in SHARED_NAMES.items() for name in names} == set(shared), "no longer shared"


def test_no_function_is_named_by_a_bare_participle():
    """`kept`, `asked`: what was kept, and where would one look for it?"""
    assert not broken(
        (path, function.name)
        for path in FILES
        if not name_of(path).startswith(WHOLE_FILES)
        for function in public_functions(path, methods=True)
        if function.name not in EXPORTED
        if PARTICIPLE.fullmatch(function.name)
    )


def test_the_test_files_that_are_told_apart_by_their_time_are_there():
    assert [name for name in (*FIRST, *LONG, *SLOW) if not (REPOSITORY / "tests" / f"{name}.py").is_file()] == []
