"""Code that ships with Groupwise and is copied into run folders: built-in rewards and tasks."""

from __future__ import annotations

import ast
import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from storage import script
from storage.home import RunFolder
from storage.spec import RunSpec

REWARDS = Path(__file__).parent / "rewards"
TASKS = Path(__file__).parent / "tasks"


class ShippedError(Exception):
    """A run folder's copy cannot be used; the message says why."""


def names(folder: Path) -> list[str]:
    """What ships in a folder, by the file's (and so the function's) name."""
    return sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))


def describe() -> dict[str, Any]:
    """What the worker publishes: each built-in reward and task with its first docstring line, its code, and the
    optional packages it needs (the file's NEEDS)."""
    rewards = {name: _about(REWARDS / f"{name}.py", name) for name in names(REWARDS)}
    tasks = {name: _about(TASKS / f"{name}.py", None) for name in names(TASKS)}
    return {"rewards": rewards, "tasks": tasks}


def _about(path: Path, function: str | None) -> dict[str, Any]:
    code = path.read_text(encoding="utf-8")
    whole: Any = ast.parse(code)
    tree = whole
    if function:
        tree = next(node for node in whole.body if isinstance(node, ast.FunctionDef) and node.name == function)
    return {"help": (ast.get_docstring(tree) or "").split("\n")[0], "code": code, "needs": _needs(whole)}


def _needs(tree: ast.Module) -> list[str]:
    """The optional packages that a file names in NEEDS."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "NEEDS":
            return list(ast.literal_eval(node.value))
    return []


def freeze(folder: RunFolder, spec: RunSpec) -> None:
    """Put into a run's folder the code it will run and the same run as a plain script; kept as it is on a resume."""
    folder.rewards.mkdir(exist_ok=True)
    for name in dict.fromkeys(reward.name for part in [spec, *spec.by_stage()] for reward in part.rewards):
        _copy_once(REWARDS / f"{name}.py", folder.rewards / f"{name}.py")
    task = task_of(spec)
    if task:
        _copy_once(TASKS / f"{task}.py", folder.task)
    if not folder.script.exists():
        folder.script.write_text(script.to_script(spec), encoding="utf-8")


def task_of(spec: RunSpec) -> str | None:
    kind, _, name = spec.data.source.partition(":")
    return name if kind == "task" else None


def _copy_once(shipped: Path, copy: Path) -> None:
    if not copy.exists():
        shutil.copyfile(shipped, copy)


def load_reward(folder: RunFolder, name: str) -> Callable[..., Any]:
    """A run's reward function. Raises ShippedError when its code is not what ships: such code may only run in a
    sandbox, never in the trainer's process."""
    return _load(REWARDS / f"{name}.py", folder.rewards / f"{name}.py", name)


def load_task(folder: RunFolder, name: str) -> Callable[..., list[dict[str, Any]]]:
    """A run's task, checked likewise: rows(count) → rows."""
    return _load(TASKS / f"{name}.py", folder.task, "rows")


def task_rows(name: str) -> Callable[[int], list[dict[str, Any]]]:
    """The rows of a task as it ships, for looking at. Raises ShippedError where there is none of this name."""
    if name not in names(TASKS):
        raise ShippedError(f"there is no built-in task “{name}”. There are {', '.join(names(TASKS))}.")
    return _load(TASKS / f"{name}.py", TASKS / f"{name}.py", "rows")


def _load(shipped: Path, copy: Path, function: str) -> Callable[..., Any]:
    if not shipped.is_file() or not copy.is_file() or copy.read_bytes() != shipped.read_bytes():
        raise ShippedError(
            f"{copy.parent.name}/{copy.name} is not the code that ships with this version of Groupwise. "
            "Start a new run with the same settings instead."
        )
    found = importlib.util.spec_from_file_location(f"groupwise_run.{copy.stem}", copy)
    assert found is not None and found.loader is not None  # a .py file always has both
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    loaded: Callable[..., Any] = getattr(module, function)
    return loaded
