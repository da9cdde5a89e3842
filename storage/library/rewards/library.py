"""The library of one's own reward functions: versions by the hash of their code, and the runs that use them.

Rows of registry.db; each version is also a file of the home, from which a new registry gets them back. What was saved
once is never lost: deleting takes a function out of the library, and its versions stay under their hashes.
"""

import contextlib
import hashlib
import json
import math
import os
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from groupwise.storage.home import files, paths, redaction
from groupwise.storage.home.redaction import to_json
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.library.rewards import bodies, names, pasted, renaming, signature
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Shipped
from groupwise.storage.registry.messages.functions import MOST_CODE
from groupwise.storage.spec.spec import RunSpec

_COLUMNS = "name, hash, code, at, network"


class LibraryError(Exception):
    """A function cannot be found, saved or deleted; the message says why."""


@dataclass(frozen=True)
class Reward:
    """One version of one's own function. `at`: when it was saved last, in seconds since 1970; `network`: may use it."""

    name: str
    hash: str
    code: str
    at: float
    network: bool


def hash_of(code: str) -> str:
    """What a version is known by: the first 16 hexadecimal digits of the SHA-256 of its code in UTF-8."""
    return _digest(code.encode("utf-8"))


def _digest(code: bytes) -> str:
    return hashlib.sha256(code).hexdigest()[:16]


def with_plain_line_ends(code: str) -> str:
    """The code as it is kept: with \\n at the end of its lines, whatever they ended in, and else as it is."""
    return code.replace("\r\n", "\n").replace("\r", "\n")


class NewerVersion(LibraryError):
    """Another version than the one a text began with is the newest by now."""

    def __init__(self, newest: Reward) -> None:
        super().__init__(f"Your library now has another version of “{newest.name}”.")
        self.newest = newest


def save_reward(
    name: str, code: str, *, network: bool = False, taken: Collection[str] | None = None, onto: str | None = None
) -> Reward:
    """Keep this code as the newest version of a function; the same code is the same version.

    `name` is the Python function's, which the code defines; what stands beside it is kept. `taken`: the names of the
    built-in functions; None: those that the worker published. `onto`: the hash of the version that is to be the newest
    so far, "" for none; None: whichever is. Raises LibraryError, and NewerVersion where that is another.
    """
    code = with_plain_line_ends(code)
    if redaction.holds(code):
        raise LibraryError("The code holds a secret. Take it out, and read it there from the environment (os.environ).")
    about = _about(name, code, _built_in() if taken is None else taken)
    with registry.write_registry() as db:
        _refuse_other_case(db, name)
        newest = _newest_version(db, name)
        same = newest is not None and newest.hash == hash_of(code)
        if newest is not None and not same and onto not in (None, newest.hash):
            raise NewerVersion(newest)
        reward = Reward(name, hash_of(code), code, newest.at if newest and same else time.time(), network)
        _insert(db, reward, about)
        db.execute("INSERT OR REPLACE INTO reward (name, hash) VALUES (?, ?)", [name, reward.hash])
        _keep_file(db, reward)
    return reward


def _built_in() -> Collection[str]:
    shipped = registry.read_fact(Shipped)
    return shipped.rewards if shipped else ()


def _about(name: str, code: str, taken: Collection[str]) -> dict[str, Any]:
    """What is stored of a function beside its code. Raises LibraryError for what is none."""
    problem = names.problem_with(name, taken) or _unkeepable(code)
    if problem:
        raise LibraryError(problem)
    if fault := find_load_fault(code, name):
        raise LibraryError(f"Line {fault.line}: {fault.message}")
    found = signature.analyse(code, name).functions[0]
    return {
        "form": signature.FORM, "help": found.help, "arguments": found.arguments, "parameters": found.parameters,
    }  # fmt: skip


def find_load_fault(code: str, name: str) -> signature.CodeProblem | None:
    """Why this code cannot be loaded as the function of this name: it is no Python, does not define it, or imports
    what stands beside it elsewhere. Such code is neither saved nor tried. None where nothing of that is so."""
    analysis = signature.analyse(code, name)
    if not analysis.functions or not pasted.is_python(code):
        return analysis.problems[0]
    return next((problem for problem in analysis.problems if problem.message == bodies.RELATIVE), None)


def _unkeepable(code: str) -> str:
    try:
        size = len(code.encode("utf-8"))
    except UnicodeEncodeError:
        return "The code has a character that cannot be saved. Type it again, or remove it."
    if size > MOST_CODE:
        return f"The code has {size:,} bytes; {MOST_CODE:,} is the most. Keep only what the function needs."
    return ""


def _refuse_other_case(db: Database, name: str) -> None:
    """Names that differ in capitals only would be one file on some disks."""
    found = db.execute("SELECT name FROM reward_code WHERE name = ? COLLATE NOCASE AND name <> ?", [name, name])
    row = found.fetchone()
    if row:
        raise LibraryError(f"You have had a function “{row[0]}”. Use that name, or one that differs in more than case.")


def _newest_version(db: Database, name: str) -> Reward | None:
    found = db.execute(f"SELECT {_COLUMNS} FROM reward_code JOIN reward USING (name, hash) WHERE name = ?", [name])
    row = found.fetchone()
    return _reward(row) if row else None


def _insert(db: Database, reward: Reward, about: dict[str, Any]) -> None:
    row = [reward.name, reward.hash, reward.code, reward.at, int(reward.network), to_json(about)]
    db.execute(f"INSERT OR REPLACE INTO reward_code ({_COLUMNS}, about) VALUES (?, ?, ?, ?, ?, ?)", row)


def _reward(row: Any) -> Reward:
    name, digest, code, at, network = row
    return Reward(name, digest, code, at, bool(network))


def versions(name: str) -> list[Reward]:
    """Every version of a function, the newest first; also of one that was deleted. Empty for an unknown name."""
    with registry.read_registry() as db:
        rows = db.execute(f"SELECT {_COLUMNS} FROM reward_code WHERE name = ? ORDER BY at DESC, hash", [name])
        return [_reward(row) for row in rows.fetchall()]


def get_reward(name: str, hash: str | None = None) -> Reward:
    """A function's newest version, or the one of this hash (though it was deleted). Raises LibraryError."""
    with registry.read_registry() as db:
        if hash is None:
            found = _newest_version(db, name)
        else:
            row = db.execute(f"SELECT {_COLUMNS} FROM reward_code WHERE name = ? AND hash = ?", [name, hash]).fetchone()
            found = _reward(row) if row else None
    if found is None:
        which = f"“{name[:80]}”" if hash is None else f"“{name[:80]}” of the version {hash[:64]}"
        raise LibraryError(f"Your library has no function {which}.")
    return found


def own_code(spec: RunSpec) -> dict[str, str]:
    """The code of each function of the person's own that a run scores with, by name, as it is now. One that there is
    none of is left to the start of the run, which says so."""
    found: dict[str, str] = {}
    for reward in [reward for part in [spec, *spec.by_stage()] for reward in part.rewards]:
        with contextlib.suppress(LibraryError):  # a built-in one
            found.setdefault(reward.name, get_reward(reward.name, reward.version).code)
    return found


def newest_rewards() -> list[Reward]:
    """The newest version of each function, by name."""
    with registry.read_registry() as db:
        rows = db.execute(f"SELECT {_COLUMNS} FROM reward_code JOIN reward USING (name, hash) ORDER BY name")
        return [_reward(row) for row in rows.fetchall()]


def offered_functions() -> dict[str, dict[str, Any]]:
    """The newest version of each function as an Offer has it: {help, code, needs, parameters, arguments, own, hash,
    network}. What was found in the code when it was saved stands in its row: nothing is read anew."""
    with registry.read_registry() as db:
        query = f"SELECT {_COLUMNS}, about FROM reward_code JOIN reward USING (name, hash) ORDER BY name"
        rows = db.execute(query).fetchall()
    known = json.loads(f"[{','.join(row[-1] for row in rows)}]")  # quicker than one by one
    return {row[0]: _as_offered(_reward(row[:-1]), about) for row, about in zip(rows, known, strict=True)}


def all_versions() -> dict[str, list[dict[str, Any]]]:
    """Every version of each function, also of those that were deleted, the newest first: {hash, at, network, own, help,
    parameters, arguments}; the last three are absent where another version of Groupwise saved it."""
    with registry.read_registry() as db:
        query = "SELECT name, hash, at, network, about FROM reward_code ORDER BY name, at DESC, hash"
        rows = db.execute(query).fetchall()
    found: dict[str, list[dict[str, Any]]] = {}
    for name, digest, at, network, written in rows:
        about = json.loads(written)
        known = about if about.pop("form") == signature.FORM else {}
        version = {"hash": digest, "at": at, "network": bool(network), "own": True, **known}
        found.setdefault(name, []).append(version)
    return found


def _as_offered(reward: Reward, about: dict[str, Any]) -> dict[str, Any]:
    if about["form"] != signature.FORM:  # saved by another version of Groupwise
        with contextlib.suppress(LibraryError):
            about = _about(reward.name, reward.code, ())
    return {
        "help": about["help"], "code": reward.code, "needs": [], "parameters": about["parameters"],
        "arguments": about["arguments"], "own": True, "hash": reward.hash, "network": reward.network,
    }  # fmt: skip


def frozen_functions(folder: paths.RunFolder, built_in: Collection[str]) -> dict[str, dict[str, Any]]:
    """The person's own functions of which a run keeps a copy since it was launched, as an Offer has them: with these it
    scores, whatever has become of them in the library. What is no function any more, and what is `built_in`, is left
    out."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.rewards.glob("*.py")) if files.is_folder(folder.rewards) else []:
        with contextlib.suppress(LibraryError, OSError, UnicodeDecodeError):
            code = files.read_text(path, MOST_CODE)
            copy = Reward(path.stem, hash_of(code), code, path.lstat().st_mtime, may_use_network(path.stem, code))
            found[copy.name] = _as_offered(copy, _about(copy.name, code, built_in))
    return found


def may_use_network(name: str, code: str) -> bool:
    """Whether exactly this code was saved with leave to use the network; False for code that was never saved."""
    with registry.read_registry() as db:
        query = "SELECT network FROM reward_code WHERE name = ? AND hash = ?"
        row = db.execute(query, [name, hash_of(code)]).fetchone()
    return bool(row and row[0])


def delete_reward(name: str) -> None:
    """Take a function out of the library; its versions stay findable by their hashes. Raises LibraryError."""
    with registry.write_registry() as db:
        if not db.execute("DELETE FROM reward WHERE name = ?", [name]).rowcount:
            raise LibraryError(f"Your library has no function “{name[:80]}”.")
        _keep_card(db, name)


def restore_reward(name: str, hash: str) -> None:
    """Put a function back that was deleted, as it was: with the version of this hash as its newest. Raises LibraryError
    where another was saved under its name meanwhile."""
    with registry.write_registry() as db:
        if _newest_version(db, name) is not None:
            raise LibraryError(
                f"Not restored: another “{name[:80]}” has been saved since. What you deleted is among its versions."
            )
        if not db.execute("SELECT 1 FROM reward_code WHERE name = ? AND hash = ?", [name, hash]).fetchone():
            raise LibraryError(f"There is no deleted function “{name[:80]}”.")
        db.execute("INSERT INTO reward (name, hash) VALUES (?, ?)", [name, hash])
        _keep_card(db, name)


def rename_reward(old: str, new: str, *, taken: Collection[str] | None = None) -> Reward:
    """Give a function another name, with all its versions, of which each says the new name in its code; its newest.

    Under the old name they stay findable by their hashes, as those of a deleted one: runs and settings that name one
    go on. `taken`: as of `save_reward`. Raises LibraryError, and then nothing is changed.
    """
    shipped = _built_in() if taken is None else taken
    with registry.write_registry() as db:
        newest = _newest_version(db, old)
        if newest is None:
            raise LibraryError(f"Your library has no function “{old[:80]}”.")
        if problem := names.problem_with(new, shipped):
            raise LibraryError(problem)
        if new != old and _newest_version(db, new) is not None:
            raise LibraryError(f"Your library has another function “{new}”. Choose another name.")
        _refuse_other_case(db, new)
        rows = db.execute(f"SELECT {_COLUMNS} FROM reward_code WHERE name = ? ORDER BY at, hash", [old]).fetchall()
        moved = {row[1]: _under_name(_reward(row), new) for row in rows}
        about = {one.hash: _about(new, one.code, shipped) for one in moved.values()}
        found = _after_deleted(db, moved[newest.hash])
        for one in [*moved.values(), found]:
            _insert(db, one, about[one.hash])
        db.execute("DELETE FROM reward WHERE name = ?", [old])
        db.execute("INSERT INTO reward (name, hash) VALUES (?, ?)", [new, found.hash])
        for one in moved.values():
            _keep_file(db, one)
        _keep_card(db, old)
    return found


def _under_name(reward: Reward, new: str) -> Reward:
    """A version with its code under another name. Raises LibraryError where that cannot be."""
    if fault := renaming.rename_fault(reward.code, reward.name, new) if new != reward.name else "":
        raise LibraryError(fault)
    code = renaming.rename_function(reward.code, reward.name, new)
    return Reward(new, hash_of(code), code, reward.at, reward.network)


def _after_deleted(db: Database, newest: Reward) -> Reward:
    """The version that is to be the newest, saved after all that its name has of a function deleted before."""
    (last,) = db.execute("SELECT MAX(at) FROM reward_code WHERE name = ?", [newest.name]).fetchone()
    return replace(newest, at=time.time()) if last is not None and last > newest.at else newest


def users(name: str) -> list[tuple[str, str]]:
    """The runs that keep a copy of this function, each with the copy's hash, by run id."""
    if not names.NAME.fullmatch(name):
        return []
    with os.scandir(paths.runs_folder()) as entries:
        runs = sorted(entry.name for entry in entries if paths.RUN_ID.fullmatch(entry.name))
    return [(run_id, digest) for run_id in runs if (digest := hash_in_run(run_id, name))]


def earlier_names(name: str) -> dict[tuple[str, str], str]:
    """The versions that this function had under names which the library no longer has, as it was renamed: (name, hash)
    → the hash that such a version has now. A renamed version keeps the time at which it was saved."""
    query = (
        f"SELECT {_COLUMNS} FROM reward_code WHERE name != ? AND name NOT IN (SELECT name FROM reward) "
        "AND at IN (SELECT at FROM reward_code WHERE name = ?)"
    )
    with registry.read_registry() as db:
        rows = db.execute(query, [name, name]).fetchall()
        now = {row[0] for row in db.execute("SELECT hash FROM reward_code WHERE name = ?", [name])}
    found: dict[tuple[str, str], str] = {}
    for earlier in map(_reward, rows):
        with contextlib.suppress(LibraryError, SyntaxError, ValueError, RecursionError):
            if (renamed := _under_name(earlier, name).hash) in now:
                found[earlier.name, earlier.hash] = renamed
    return found


def hash_in_run(run_id: str, name: str) -> str:
    """The hash of the copy of a function that a run keeps; "" where it has none."""
    if not names.NAME.fullmatch(name):
        return ""
    try:
        return _digest(files.read_bytes(paths.runs_folder() / run_id / "rewards" / f"{name}.py", MOST_CODE))
    except OSError:  # the run does not use it
        return ""


def _keep_file(db: Database, reward: Reward) -> None:
    """Write a version into the home, where it outlives the registry."""
    folder = paths.rewards_folder() / reward.name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    files.write_whole(folder / f"{reward.hash}.py", reward.code)
    _keep_card(db, reward.name)


def _keep_card(db: Database, name: str) -> None:
    """Write beside a function's files what their text does not tell: when, with which leave, and whether it was
    deleted."""
    rows = db.execute("SELECT hash, at, network FROM reward_code WHERE name = ? ORDER BY at", [name]).fetchall()
    listed = {digest: {"at": at, "network": bool(network)} for digest, at, network in rows}
    newest = db.execute("SELECT hash FROM reward WHERE name = ?", [name]).fetchone()
    card = {"newest": newest[0] if newest else None, "versions": listed}
    files.write_json(paths.rewards_folder() / name / "versions.json", card)


def adopt_files() -> int:
    """Take up the saved versions that the registry does not have: it is new, or they were copied here; how many."""
    if not paths.rewards_folder().is_dir():
        return 0
    return sum(_adopt(folder) for folder in sorted(paths.rewards_folder().iterdir()) if folder.is_dir())


def _adopt(folder: Path) -> int:
    """Take up one function's versions. A file that is not its hash's code any more is taken up as what it is now."""
    card = files.read_json(folder / "versions.json")
    listed, newest = (card.get("versions") or {}, card.get("newest", "")) if isinstance(card, dict) else ({}, "")
    known = {reward.hash for reward in versions(folder.name)}
    found = [reward for path in sorted(folder.glob("*.py")) if (reward := _from_file(path, listed)) is not None]
    new = {reward.hash: reward for reward in found if reward.hash not in known}
    with registry.write_registry() as db:
        for reward in new.values():
            _insert(db, reward, _about(reward.name, reward.code, ()))
        if new and newest is not None:
            last = (
                newest
                if isinstance(newest, str) and newest in new
                else max(new.values(), key=lambda reward: reward.at).hash
            )
            db.execute("INSERT INTO reward (name, hash) VALUES (?, ?) ON CONFLICT DO NOTHING", [folder.name, last])
    return len(new)


def _from_file(path: Path, listed: dict[str, Any]) -> Reward | None:
    """The version that a file holds; None where it holds no function of the folder's name."""
    try:
        code = with_plain_line_ends(files.read_text(path, MOST_CODE))
        _about(path.parent.name, code, ())
        known = listed.get(hash_of(code)) or {"at": path.stat().st_mtime, "network": False}
        at = float(known["at"])
        return Reward(
            path.parent.name, hash_of(code), code, at if math.isfinite(at) else 0.0, known["network"] is True
        )  # fmt: skip
    except (OSError, LibraryError, UnicodeDecodeError, AttributeError, KeyError, TypeError, ValueError):
        return None  # edited by hand, or not ours
