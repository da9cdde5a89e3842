"""Whether another run has the name of a new one already: allowed, and mistaken for each other everywhere."""

import re
import sqlite3
from dataclasses import replace

from groupwise.app.core import format
from groupwise.app.core.until_written import until_written
from groupwise.app.pages.new.presets import next_name
from groupwise.storage.registry import registry
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import ADVICE, Fix, Problem
from groupwise.storage.spec.words.run_names import USUAL_NAME

LONGEST_OF_DATA = 60  # characters of a name that data gives: a number may follow
SUFFIXES = re.compile(r"(\.(csv|tsv|txt|jsonl?|parquet|xlsx?|ods|gz|zip))+$", re.I)


def name_of_data(source: object) -> str:
    """A name for a run on this data that no run has: that of the file, the dataset or the task, counted on where it is
    taken."""
    kind, _, rest = (source if isinstance(source, str) else "").partition(":")
    last = rest.split("/")[-1].strip()
    plain = SUFFIXES.sub("", last) if kind == "file" else last
    name = (plain or last)[:LONGEST_OF_DATA]
    try:
        taken = _taken_names()
    except (OSError, sqlite3.Error):
        return name
    return next_name(name, taken) if name in taken else name


def offer_name_of_data(problems: list[Problem], source: object) -> list[Problem]:
    """The problems, with the name that the page itself gives a run on this data in place of the usual one."""
    name = name_of_data(source)
    usual, better = {"name": USUAL_NAME}, Fix(f"Use “{name}”", {"name": name})
    return [
        replace(one, fixes=tuple(better if name and fix.settings == usual else fix for fix in one.fixes))
        for one in problems
    ]  # fmt: skip


def name_problems(spec: RunSpec) -> list[Problem]:
    """That the name is taken, with one that is not; nothing where the registry cannot be read just now."""
    try:
        taken = _taken_names()
    except (OSError, sqlite3.Error):
        return []
    if spec.name not in taken:
        return []
    free = next_name(spec.name, taken)
    message = f"another run is called “{format.shorten(spec.name, 60)}” already. Another name tells them apart."
    return [Problem("name", message, level=ADVICE, fixes=(Fix(f"Use “{free}”", {"name": free}),))]


@until_written
def _taken_names() -> set[str]:
    return registry.run_names()
