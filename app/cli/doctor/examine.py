"""All that `groupwise doctor` looks at, in the order in which it is told; and how it is told."""

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace

from groupwise.app.cli.doctor.finding import MARKS, NOTE, PROBLEM, Finding
from groupwise.app.core.command_errors import DONE, FAILED
from groupwise.storage.home import paths, redaction
from groupwise.storage.spec.words.number_words import count_words

MISSING = "Install what is missing (above, or `make run` in the folder of Groupwise), and check again."

GRAVE = ("Python", "Libraries", "Groupwise", "Data home", "Registry")  # without these nobody can say that runs train


def print_findings(options: argparse.Namespace) -> int:
    """Print what was found; 0 where nothing keeps runs from training, else 1."""
    found = [_without_secrets(one) for one in all_findings()]
    if options.json:
        print(json.dumps([asdict(one) for one in found], indent=1, ensure_ascii=False))
    else:
        print(in_lines(found))
    return FAILED if any(one.state == PROBLEM for one in found) else DONE


def all_findings() -> list[Finding]:
    """Everything, with torch imported by a process of its own meanwhile."""
    found = [*_safely("Python", _python), *_safely("Libraries", _libraries)]
    return [*found, *_safely("Groupwise", _with_torch)]


def _python() -> list[Finding]:
    from groupwise.app.cli.doctor import packages

    return packages.look_at_python()


def _libraries() -> list[Finding]:
    from groupwise.app.cli.doctor import packages

    return packages.look_at_libraries()


def _with_torch() -> list[Finding]:
    """All that stands on the libraries: imported here, where what is missing of them has been told already."""
    from groupwise.app.cli.doctor import home, hub, machine, processes, runs
    from groupwise.storage.registry import registry_check

    with machine.asking() as asked:
        told = _safely("Data home", home.look_at_home)
        look, is_there = registry_check.look_at_registry(), os.path.isdir(paths.home())
        readable = is_there and look.state in registry_check.READABLE
        if is_there:
            told += _safely("Registry", lambda: runs.look_at_runs(look))
            told += _safely("Worker", lambda: processes.look_at_processes(readable))
        told += _safely("Sandbox", lambda: machine.look_at_sandbox(readable))
        told += _safely("Hardware", lambda: machine.look_at_hardware(asked, readable))
    return [*told, *_safely("Hub", hub.look_at_hub)]


def _safely(name: str, look: Callable[[], list[Finding]]) -> list[Finding]:
    """What was found; where the looking itself fails, that is the finding: a person whose installation is broken has
    no use for a traceback, and for all the rest."""
    try:
        return look()
    except ImportError as error:
        return [Finding(name, PROBLEM, f"Could not be checked: {error}.", MISSING)]
    except Exception as error:
        state = PROBLEM if name in GRAVE else NOTE
        says = f"Could not be checked ({type(error).__name__}: {error})."
        return [Finding(name, state, says, "Check what it names. If nothing is wrong there, it is a bug in Groupwise.")]


def _without_secrets(one: Finding) -> Finding:
    return replace(one, says=redaction.redact(_one_line(one.says)), do=redaction.redact(_one_line(one.do)))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def in_lines(found: Sequence[Finding]) -> str:
    """One line a finding; what to do is below it; and what all of it comes to."""
    width = max(len(one.name) for one in found)
    return "\n".join([*(line for one in found for line in _lines_of(one, width)), "", _sum(found)])


def _lines_of(one: Finding, width: int) -> Iterator[str]:
    yield f"{MARKS[one.state]} {one.state:<7}  {one.name:<{width}}  {one.says}"
    if one.do:
        yield f"{'':<{width + 11}}  → {one.do}"


def _sum(found: Sequence[Finding]) -> str:
    problems, notes = (sum(one.state == state for one in found) for state in (PROBLEM, NOTE))
    noted = f" {count_words(notes, 'note')} to read." if notes else ""
    if not problems:
        return f"Runs can be trained here.{noted}"
    return f"Runs cannot be trained here: {count_words(problems, 'problem')}.{noted}"
