"""Making a backup of this home, whatever goes on in it."""

from collections.abc import Collection, Sequence
from pathlib import Path

from groupwise.storage.backup import run_part
from groupwise.storage.backup.adding import Adding, size_of_file, walk_files
from groupwise.storage.backup.archive import refuse_taken, writing_archive
from groupwise.storage.backup.names import DATA, ENDINGS, FORM, HEAD, MODELS, PRESETS, REWARDS, BackupError, WrongGiven
from groupwise.storage.backup.told import Told
from groupwise.storage.home import disk, files, paths
from groupwise.storage.library import presets
from groupwise.storage.registry import registry, trash
from groupwise.storage.registry.registry import Run
from groupwise.storage.spec.words.number_words import count_words, join_words

PACKED = 4  # records, logs and texts take at most one part in so many of their size
VERSIONS = "versions.json"  # beside a reward function's versions


def make_backup(
    path: Path, made_by: str, now: float, *, checkpoints: bool = True, only: Collection[str] | None = None,
    replace: bool = False,
) -> Told:  # fmt: skip
    """Write this home, whose registry is open, into an archive. `made_by`: the version of Groupwise; `only`: these runs
    and the data that they train on. Raises BackupError, OSError and sqlite3.DatabaseError, with nothing left behind."""
    refuse_place(path, replace=replace)
    # Read at once and first: what happens to a run from now on is seen in its folder.
    told = Told()
    wanted = [run for run in reversed(registry.list_runs()) if only is None or run.id in only]
    runs = [run for run in wanted if _has_place(run, told)]
    _refuse_full(path, runs, checkpoints=checkpoints, whole=only is None)
    with writing_archive(path, replace=replace) as archive:
        archive.add_json(HEAD, {"form": FORM, "groupwise": made_by, "made": now, "runs": len(runs)})
        adding = Adding(archive, told)
        _add_runs(adding, runs, checkpoints=checkpoints)
        _add_own(adding, runs, checkpoints=checkpoints, whole=only is None)
        _tell_left_out(adding, checkpoints=checkpoints, whole=only is None)
        told.files, told.size = len(archive.contents), sum(size for size, _ in archive.contents.values())
    return told


def refuse_place(path: Path, *, replace: bool) -> None:
    """Raises WrongGiven where no backup can be written to such a path, whatever is in it."""
    if not path.name.endswith(ENDINGS):
        raise WrongGiven(
            f"{path.name} is not the name of a backup, which ends with .tar.gz, or with .tar if it is not compressed."
        )
    if not path.parent.is_dir():
        raise WrongGiven(f"There is no folder {path.parent}.")
    if path.parent.resolve().is_relative_to(paths.home().resolve()):
        raise WrongGiven(f"{path} is in the data home itself. Give a place outside of it, best on another disk.")
    refuse_taken(path, replace)


def _refuse_full(path: Path, runs: Sequence[Run], *, checkpoints: bool, whole: bool) -> None:
    """Raises BackupError where there is surely not enough room for the archive, or for the copy of a record."""
    sizes = [run_part.size_of_run(run, checkpoints=checkpoints) for run in runs]
    heavy, light = sum(size for size, _ in sizes), sum(size for _, size in sizes)
    heavy += _size_below(paths.models_folder()) if whole and checkpoints else 0
    light += _size_below(paths.data_folder()) if whole else 0
    needed = heavy + light if path.name.endswith(ENDINGS[-1]) else heavy * 9 // 10 + light // PACKED
    if disk.lacks(path.parent, needed):
        advice = (
            "Choose another disk, or leave out the weights (--no-checkpoints)." if heavy else "Choose another disk."
        )
        raise BackupError(f"The backup takes about {disk.megabytes(needed)}, and {path.parent} has less room. {advice}")
    largest = max((run.folder.db.stat().st_size for run in runs if files.is_file(run.folder.db)), default=0)
    if disk.lacks(paths.home(), largest + disk.FLOOR):
        room = disk.megabytes(largest + disk.FLOOR)
        raise BackupError(
            f"A run's record is copied in {paths.home()} first, which needs {room} there. Free some space."
        )


def _size_below(folder: Path) -> int:
    return sum(map(size_of_file, walk_files(folder)))


def _add_runs(adding: Adding, runs: Sequence[Run], *, checkpoints: bool) -> None:
    deleted = 0
    for run in runs:
        if not files.is_folder(run.folder.path):
            was_deleted, is_added = registry.get_run(run.id) is None, False
        else:
            is_added = run_part.RunPart(adding, run, checkpoints=checkpoints).add()
            was_deleted = not is_added
        adding.told.runs += is_added
        deleted += was_deleted
        if not (is_added or was_deleted):
            adding.told.unread.append(f"{run.id} (its folder is not there)")
    if deleted:
        adding.told.left_out.append(f"{count_words(deleted, 'run')} that {_was(deleted)} deleted meanwhile")


def _has_place(run: Run, told: Told) -> bool:
    """Whether a run's folder is one of this home, and no link out of it."""
    try:
        return bool(run.folder)
    except ValueError:
        told.unread.append(f"{run.id[:64]} (its folder is a link)")
        return False


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _add_own(adding: Adding, runs: Sequence[Run], *, checkpoints: bool, whole: bool) -> None:
    """Add what a person brought beside their runs."""
    wanted = set().union(*map(run_part.data_names, runs))
    for path in walk_files(paths.data_folder()):
        if (whole or path.name in wanted) and not path.name.startswith("."):  # a draft
            adding.add_file(f"{DATA}/{path.relative_to(paths.data_folder())}", path)
    if not whole:
        return
    for path in sorted(walk_files(paths.rewards_folder()), key=lambda path: path.name == VERSIONS):
        if not path.name.startswith("."):
            adding.add_file(f"{REWARDS}/{path.relative_to(paths.rewards_folder())}", path)
    adding.archive.add_json(PRESETS, presets.rows_to_keep())
    if checkpoints:
        for folder in sorted(paths.models_folder().iterdir()):
            if folder.name != "starter":
                adding.add_folder(f"{MODELS}/{folder.name}", folder)


def _tell_left_out(adding: Adding, *, checkpoints: bool, whole: bool) -> None:
    left_out = adding.told.left_out
    if not checkpoints:
        left_out.append("checkpoints and models (--no-checkpoints), so no run can be resumed from where it was")
    if not whole:
        left_out.append("other runs, and data, reward functions and presets that these do not need (--run)")
    elif deleted := trash.count_deleted():
        left_out.append(count_words(deleted, "deleted run"))
    if adding.strange:
        left_out.append(f"files that Groupwise did not make ({join_words(adding.strange, 3)})")
    left_out.append("the worker's log, logins, and what is rebuilt")
