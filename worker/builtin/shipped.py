"""Code that ships with Groupwise and is copied into run folders: built-in rewards and tasks."""

import ast
import functools
import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from groupwise.storage.checks import script
from groupwise.storage.home import files
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.library.rewards import library, signature
from groupwise.storage.registry.messages.facts import BuiltIn, Shipped
from groupwise.storage.spec.spec import RewardSpec, RunSpec
from groupwise.storage.spec.syntax_tree import parse_module
from groupwise.worker.builtin import sandbox_source

REWARDS = Path(__file__).parent / "rewards"
TASKS = Path(__file__).parent / "tasks"


class ShippedError(Exception):
    """A run folder's copy cannot be used; the message says why."""


def shipped_names(folder: Path) -> list[str]:
    """What ships in a folder, by the file's (and so the function's) name."""
    return sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))


def describe_shipped(extras: dict[str, str]) -> Shipped:
    """What the worker publishes: each built-in reward and task with its first docstring line, its code, what it
    needs, and what a reward asks for (arguments) and can be told (parameters). `extras`: the optional packages that
    are installed, with their versions."""
    rewards = {name: describe_reward(name) for name in shipped_names(REWARDS)}
    tasks = {name: _about(TASKS / f"{name}.py", None) for name in shipped_names(TASKS)}
    return Shipped(rewards=rewards, tasks=tasks, extras=extras)


def describe_reward(name: str) -> BuiltIn:
    """What is published of a reward function that ships."""
    return _about(REWARDS / f"{name}.py", name)


@functools.cache
def _about(path: Path, function: str | None) -> BuiltIn:
    """Read once: a worker says every minute what there is, and its own files are those it was started with."""
    code = path.read_text(encoding="utf-8")
    whole = parse_module(code)
    said = _constants(whole)
    about = {
        "code": code,
        "needs": said.get("NEEDS", []),
        "sandbox": bool(said.get("NEEDS_SANDBOX")),
        "network": bool(said.get("NEEDS_NETWORK")),
        "given": said.get("NEEDS_PARAMETERS", []),
        "columns": said.get("NEEDS_COLUMNS", []),
    }
    if function is None:
        return BuiltIn.from_plain({"help": (ast.get_docstring(whole) or "").split("\n")[0], **about})
    found = signature.analyse(code, function).functions[0]
    return BuiltIn.from_plain(
        {"help": found.help, **about, "arguments": found.arguments, "parameters": found.parameters}
    )


def _constants(tree: ast.Module) -> dict[str, Any]:
    """What a file says of itself in capitals: NEEDS (optional packages), NEEDS_SANDBOX (it runs what a model wrote),
    NEEDS_NETWORK, NEEDS_PARAMETERS, of each list of which one must be given, and NEEDS_COLUMNS: the parameters that
    name a column without which there is no score."""
    return {
        ast.unparse(node.targets[0]): ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).startswith("NEEDS")
    }


def freeze(folder: RunFolder, spec: RunSpec) -> None:
    """Put into a run's folder the code it will run and the same run as a plain script; kept as it is on a resume.
    Raises library.LibraryError for a function that there is none of."""
    folder.rewards.mkdir(exist_ok=True)
    for reward in [reward for part in [spec, *spec.by_stage()] for reward in part.rewards]:
        _freeze_reward(reward, folder)
    task = task_of(spec)
    if task:
        _copy_once(TASKS / f"{task}.py", folder.task)
    if not folder.script.exists():
        files.write_whole(folder.script, script.to_script(spec))


def _freeze_reward(reward: RewardSpec, folder: RunFolder) -> None:
    copy = folder.rewards / f"{reward.name}.py"
    if reward.name in shipped_names(REWARDS):
        _copy_once(REWARDS / copy.name, copy)
        if needs_sandbox(reward.name):
            sandbox_source.copy(folder)
    elif not copy.exists():
        files.write_whole(copy, library.get_reward(reward.name, reward.version).code)


def task_of(spec: RunSpec) -> str | None:
    """The name of the built-in task that is the spec's data; None for other data."""
    kind, _, name = spec.data.source.partition(":")
    return name if kind == "task" else None


def _copy_once(shipped: Path, copy: Path) -> None:
    if not copy.exists():
        shutil.copyfile(shipped, copy)


def is_shipped(copy: Path) -> bool:
    """Whether a run's copy of a reward function is, byte for byte, what ships: only such code may run in the
    trainer's process."""
    return _are_equal(REWARDS / copy.name, copy)


def _are_equal(shipped: Path, copy: Path) -> bool:
    return shipped.is_file() and copy.is_file() and copy.read_bytes() == shipped.read_bytes()


def needs_sandbox(name: str) -> bool:
    """Whether a built-in reward runs what a model wrote in sandboxes, which it cannot make in a sandbox itself."""
    return bool(_constants(parse_module((REWARDS / f"{name}.py").read_text(encoding="utf-8"))).get("NEEDS_SANDBOX"))


def refuse_changed(copy: Path) -> None:
    """Refuse a run's copy of a built-in reward that is not what ships and cannot run as one's own."""
    if copy.stem in shipped_names(REWARDS) and needs_sandbox(copy.stem) and not is_shipped(copy):
        raise _not_shipped(copy)


def _not_shipped(copy: Path) -> ShippedError:
    return ShippedError(
        f"{copy.parent.name}/{copy.name} is not the code that ships with this version of Groupwise. "
        "Start a new run with the same settings instead."
    )


def load_file(path: Path, function: str) -> Callable[..., Any]:
    """A function of a file, in this process: the file is one that ships, or its code is trusted."""
    found = importlib.util.spec_from_file_location(f"groupwise_run.{path.stem}", path)
    assert found is not None and found.loader is not None  # a .py file always has both
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    loaded: Callable[..., Any] = getattr(module, function)
    return loaded


def load_task(folder: RunFolder, name: str) -> Callable[..., list[dict[str, Any]]]:
    """A run's task, checked likewise: rows(count) → rows."""
    if not _are_equal(TASKS / f"{name}.py", folder.task):
        raise _not_shipped(folder.task)
    return load_file(folder.task, "rows")


def task_rows(name: str) -> Callable[[int], list[dict[str, Any]]]:
    """The rows of a task as it ships, for looking at. Raises ShippedError where there is none of this name."""
    if name not in shipped_names(TASKS):
        raise ShippedError(f"there is no built-in task “{name}”. There are {', '.join(shipped_names(TASKS))}.")
    return load_file(TASKS / f"{name}.py", "rows")
