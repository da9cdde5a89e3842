"""Python, Groupwise and the libraries: what is installed, held against what the installed Groupwise asks for. None of
them is imported: their metadata say it."""

from __future__ import annotations

import importlib.metadata
import platform
import shlex
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from groupwise.app.cli.doctor.finding import NOTE, OK, PROBLEM, Finding
from groupwise.app.core.worker_process import ROOT
from groupwise.storage.spec.syntax_tree import SOUND_SINCE

if TYPE_CHECKING:  # comes with the libraries that are looked at here: where they are missing, so may this be
    from packaging.requirements import Requirement

US = "groupwise"
SHOWN = (
    "torch",
    "trl",
    "transformers",
    "datasets",
    "peft",
    "accelerate",
    "gradio",
)  # with their versions, where all fit
OURS = ("dev",)  # extras for who works on Groupwise


def look_at_python() -> list[Finding]:
    """The interpreter."""
    from packaging.specifiers import SpecifierSet

    running = platform.python_version()
    where = f"{running} ({sys.executable})"
    anew = "Recreate the environment with a newer Python (make PYTHON=/some/python3 run)."
    asked = _asked_python()
    if asked and not SpecifierSet(asked).contains(running, prereleases=True):
        return [Finding("Python", PROBLEM, f"{where}; Groupwise needs {asked}.", anew)]
    if sys.version_info < SOUND_SINCE:
        since = ".".join(map(str, SOUND_SINCE))
        says = f"{where}. Before {since} it can fail, rarely, as several threads read code; Groupwise then tries again."
        return [Finding("Python", NOTE, says, anew)]
    return [Finding("Python", OK, f"{where}.")]


def _asked_python() -> str:
    try:
        return (importlib.metadata.metadata(US).get_all("Requires-Python") or [""])[0]
    except importlib.metadata.PackageNotFoundError:
        return ""


def look_at_libraries() -> list[Finding]:
    """Groupwise, what it cannot do without, and what it can do more with."""
    version = installed_version(US)
    if version is None:
        says = f"Groupwise in {ROOT} is not installed as a package, so its dependencies are unknown."
        return [Finding("Groupwise", PROBLEM, says, "Run `make run` in its folder, or `pip install .` there.")]
    own = Finding("Groupwise", OK, f"{version}, in {ROOT}.")
    needed = [(one, installed_version(one.name)) for one in _requirements(US)]
    bad = [found for one, there in needed if (found := judge_library(one, there))]
    names = {one.name: there for one, there in needed}
    shown = ", ".join(f"{name} {names[name]}" for name in SHOWN if names.get(name))
    more = len([name for name in names if name not in SHOWN])
    fitting = f"{shown}, and {more} more: each in the required range."
    return [own, *(bad or [Finding("Libraries", OK, fitting)]), *_extras()]


def installed_version(name: str) -> str | None:
    """The version of an installed distribution; None where there is none."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _requirements(name: str, extra: str = "") -> Iterator[Requirement]:
    """What an installed distribution needs here: without its extras, or for one of them alone."""
    from packaging.requirements import Requirement

    for one in map(Requirement, importlib.metadata.requires(name) or []):
        is_always = one.marker is None or one.marker.evaluate({"extra": ""})
        if (
            is_always
            if not extra
            else not is_always and one.marker is not None and one.marker.evaluate({"extra": extra})
        ):
            yield one


def judge_library(one: Requirement, there: str | None) -> Finding | None:
    """What is wrong with a library; None where it is one that is asked for."""
    install = f"Run {_pip(one)}"
    if there is None:
        return Finding(one.name, PROBLEM, f"{one.name} is not installed.", install)
    if one.specifier.contains(there, prereleases=True):
        return None
    at_least = [part for part in one.specifier if part.operator in (">=", ">", "==", "~=")]
    if not all(part.contains(there, prereleases=True) for part in at_least):
        return Finding(one.name, PROBLEM, f"{one.name} {there} is too old: {one.specifier} is needed.", install)
    says = f"{one.name} {there} is newer than what this Groupwise was made for ({one.specifier}): runs may fail."
    return Finding(one.name, NOTE, says, install)


def _pip(one: Requirement) -> str:
    return f"{shlex.quote(sys.executable)} -m pip install {shlex.quote(f'{one.name}{one.specifier}')}"


def _extras() -> list[Finding]:
    """Which optional packages are installed; those that fit are one finding."""
    provided = importlib.metadata.metadata(US).get_all("Provides-Extra") or []
    wanted = [one for extra in provided if extra not in OURS for one in _of_extra(extra)]
    there = {one.name: installed_version(one.name) for one in wanted}
    bad = [found for one in wanted if there[one.name] is not None and (found := judge_library(one, there[one.name]))]
    installed = ", ".join(f"{name} {version}" for name, version in there.items() if version)
    missing = ", ".join(name for name, version in there.items() if version is None)
    words = [f"installed: {installed}" if installed else ""]
    words += [f"not installed, and needed only by runs that use them: {missing}" if missing else ""]
    said = "; ".join(filter(None, words))
    notes = [Finding(one.name, NOTE, one.says, one.do) for one in bad]  # no run needs one that does not ask for it
    return [Finding("Optional packages", OK, f"{said}."), *notes]


def _of_extra(extra: str) -> list[Requirement]:
    """What an extra of ours adds; where that is an extra of another package (trl[vllm]), the package of its name."""
    found = []
    for one in _requirements(US, extra):
        inner = [part for each in one.extras if installed_version(one.name) for part in _requirements(one.name, each)]
        found += [part for part in inner if part.name in one.extras] or [one]
    return found
