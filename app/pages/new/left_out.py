"""What is left out of a spec so that the rest of it can be read, or is read by the name that was meant, and where what
is said of the rest stands in the text: an entry that is left out of a list moves all those behind it. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from groupwise.app.pages.new import edits
from groupwise.app.pages.new.edits import Edit
from groupwise.app.pages.new.yaml_edit import ABSENT
from groupwise.storage.spec.words.problem import Fix, Problem

# For the name that an entry of the rewards lacks: no function has it, and so nothing is said of its settings.
NAMELESS = "nameless_reward_"
REWARD_NAME = re.compile(r"(stages\.\d+\.)?rewards\.\d+\.name")


@dataclass(frozen=True)
class LeftOut:
    """`paths`: what is left out, as dotted paths in the text; `written`: those of them at which something stands.
    `entries`: of each list that entries are left out of, by its path, their places in order. `renamed`: what is read by
    another name, by its path in the text."""

    paths: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    entries: dict[str, list[int]] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)

    def is_all_as_written(self) -> bool:
        """Whether nothing is left out, and nothing read by another name."""
        return not (self.paths or self.renamed)

    def take_from(self, raw: dict[str, Any]) -> dict[str, Any]:
        """The settings without what is left out."""
        settings = edits.after_edits(raw, [])
        for path in sorted(self.renamed, key=lambda one: -one.count(".")):  # a part after what is in it
            owner, _, name = path.rpartition(".")
            part = edits.value_at(settings, owner) if owner else settings
            part[self.renamed[path]] = part.pop(name)
        gone = sorted(map(self._by_names_meant, self.paths), key=edits.sort_key, reverse=True)
        return edits.after_edits(settings, [Edit(path, stand_in_name(path) or ABSENT) for path in gone])

    def path_as_written(self, path: str) -> str:
        """Where that which is at a path without what is left out is in the text."""
        parts: list[str] = []
        typed = {(one.rpartition(".")[0], name): one.rpartition(".")[2] for one, name in self.renamed.items()}
        for part in path.split("."):
            part = typed.get((".".join(parts), part), part)
            gone = self.entries.get(".".join(parts))
            if gone and edits.is_place(part):
                place = int(part)
                for before in gone:
                    place += before <= place
                part = str(place)
            parts.append(part)
        return ".".join(parts)

    def lines_of_rest(self, lines: dict[str, int]) -> dict[str, int]:
        """The line of each field by its path without what is left out. `lines`: by its path in the text."""
        placed = {self._path_in_rest(path): line for path, line in lines.items() if not self._is_out(path)}
        entries = {f"{owner}.{place}" for owner, places in self.entries.items() for place in places}
        # a part of which no entry is gone has its line still, though the rest has it not: it is given
        return placed | {path: lines[path] for path in self.paths if path in lines and path not in entries}

    def problems_as_written(self, problems: Iterable[Problem]) -> list[Problem]:
        """What is said of the rest, at the places where it is written; without what is said of a stand-in or only as
        something was left out, and the fixes that would write over that."""
        if self.is_all_as_written():
            return list(problems)
        moved = [one.move(self.path_as_written) for one in problems]
        said = [one for one in moved if not (self._is_out(one.field) or self._lacks_left_out(one))]
        said = [one for one in said if NAMELESS not in one.message]
        return [replace(one, fixes=tuple(fix for fix in one.fixes if not self._loses(fix))) for one in said]

    def _path_in_rest(self, path: str) -> str:
        written: list[str] = []
        parts = []
        for part in path.split("."):
            gone = self.entries.get(".".join(written))
            written.append(part)
            moved = gone and edits.is_place(part)
            part = self.renamed.get(".".join(written), part)
            parts.append(str(int(part) - sum(place < int(part) for place in gone or ())) if moved else part)
        return ".".join(parts)

    def _by_names_meant(self, path: str) -> str:
        parts = path.split(".")
        return ".".join(self.renamed.get(".".join(parts[: n + 1]), part) for n, part in enumerate(parts))

    def _is_out(self, path: str) -> bool:
        return any(is_at_or_inside(path, one) for one in self.paths)

    def _lacks_left_out(self, problem: Problem) -> bool:
        """Whether it asks for a value that the text has, and that was only left out."""
        return any(path in self.written for fix in problem.fixes for path in fix.settings)

    def _loses(self, fix: Fix) -> bool:
        """Whether a fix sets anew what was left out, or is of its stand-in."""
        is_over = any(is_at_or_inside(one, path) for path in fix.settings for one in self.written)
        return is_over or any(path.startswith(f"{one}.") for path in fix.settings for one in self.paths)


def read_by_meant_names(raw: dict[str, Any], problems: Iterable[Problem], before: LeftOut) -> LeftOut:
    """What was left out `before`, with what one of these problems (as written) offers to rename, as it is and where it
    is, read by its new name: what is wrong inside does not have to wait for that click."""
    renamed = dict(before.renamed)
    taken = {(path.rpartition(".")[0], name) for path, name in renamed.items()}
    for one in problems:
        name = _meant_instead(raw, one)
        owner = one.field.rpartition(".")[0]
        if name is not None and (owner, name) not in taken and one.field not in renamed:
            renamed[one.field] = name
            taken.add((owner, name))
    return replace(before, renamed=renamed)


def _meant_instead(raw: dict[str, Any], problem: Problem) -> str | None:
    owner, _, typed = problem.field.rpartition(".")
    part = edits.value_at(raw, owner) if owner else raw
    if not isinstance(part, dict) or typed not in part:
        return None
    for fix in problem.fixes:
        if not fix.settings:
            continue
        [(path, value), *others] = fix.settings.items()
        there, _, name = path.rpartition(".")
        is_renaming = fix.removed == (problem.field,) and there == owner and not others and name not in part
        if is_renaming and value == part[typed]:
            return name
    return None


def leave_out(raw: dict[str, Any], paths: Iterable[str], before: LeftOut) -> LeftOut:
    """What is left out of settings: what was `before`, and these paths in the text. What is not there, or was left out
    to no avail, as an entry needs it, is left out with what it is needed in."""
    out = set(before.paths)
    for path in paths:
        while "." in path and not REWARD_NAME.fullmatch(path) and (path in before.paths or not _is_there(raw, path)):
            path = path.rpartition(".")[0]
        out.add(path)
    entries: dict[str, list[int]] = {}
    for path in sorted(out, key=edits.sort_key):
        owner, _, last = path.rpartition(".")
        if owner and isinstance(edits.value_at(raw, owner), list):
            entries.setdefault(owner, []).append(int(last))
    written = tuple(path for path in sorted(out) if _is_there(raw, path))
    return LeftOut(tuple(sorted(out)), written, entries, before.renamed)


def _is_there(raw: dict[str, Any], path: str) -> bool:
    return edits.changes_something(raw, Fix("", {}, (path,)))


def is_at_or_inside(path: str, of: str) -> bool:
    """Whether a path is this one, or of a part of it."""
    return path == of or path.startswith(f"{of}.")


def stand_in_name(path: str) -> str | None:
    """The name, of its own, that stands in where a reward's is left out, without which nothing could be read."""
    return NAMELESS + re.sub(r"\D+", "_", path).strip("_") if REWARD_NAME.fullmatch(path) else None


def read_left_out(sent: Any) -> LeftOut:
    """What was left out, as a page sends it back (`LeftOut` as plain values); nothing where it is of another form."""
    given = sent if isinstance(sent, dict) else {}
    paths, written, entries, renamed = (given.get(name) for name in ("paths", "written", "entries", "renamed"))
    if not (isinstance(paths, list) and isinstance(written, list) and isinstance(entries, dict)):
        return LeftOut()
    names = renamed.items() if isinstance(renamed, dict) else ()
    places = {
        owner: sorted(place for place in listed if type(place) is int)
        for owner, listed in entries.items() if isinstance(listed, list)
    }  # fmt: skip
    out, there = (tuple(path for path in each if isinstance(path, str)) for each in (paths, written))
    return LeftOut(out, there, places, {path: name for path, name in names if isinstance(name, str)})
