"""The commands `backup`, and `restore` of a backup's file: what they are told and what they say."""

import argparse
import importlib.metadata
import os
import sqlite3
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from groupwise.app.cli.runs import find_run, printable_line
from groupwise.app.core import format
from groupwise.app.core.command_errors import DONE, FAILED, WRONG_INPUT, CommandError, open_home
from groupwise.app.core.terminal import print_outcome
from groupwise.storage.backup.backup import make_backup, refuse_place
from groupwise.storage.backup.names import BackupError, WrongGiven
from groupwise.storage.backup.restore import restore_backup
from groupwise.storage.backup.told import Restored, Told
from groupwise.storage.backup.unpack import MAKE_ONE, may_be_backup
from groupwise.storage.home import paths
from groupwise.storage.spec.words.number_words import are_words, count_words, join_words

MOST = 5  # things that are named in a line
NICE = 10  # compressing takes a processor, which runs that train need more


def backup(options: argparse.Namespace) -> int:
    """Write a backup and say what is in it; the exit code, which is not 0 where something could not be read."""
    path = paths.expand_home(options.file).absolute()
    if not paths.runs_folder().is_dir():
        raise CommandError(f"There is no data home {paths.home()}: nothing to back up. GROUPWISE_HOME names another.")
    open_home()
    only = {find_run(beginning).id for beginning in options.runs} or None
    made_by = importlib.metadata.version("groupwise")
    try:
        refuse_place(path, replace=options.force)
        print(f"Backing up {paths.home()}…", file=sys.stderr, flush=True)
        os.nice(NICE)
        told = make_backup(
            path, made_by, time.time(), checkpoints=options.checkpoints, only=only, replace=options.force
        )
    except BackupError as error:
        raise CommandError(printable_line(str(error)), _code(error)) from error
    print_outcome("\n".join(map(printable_line, _backup_words(told, path))), f"The backup was written: {path}.")
    for one in told.unread:
        print(f"groupwise: could not be read, and is not in it: {printable_line(one)}", file=sys.stderr)
    return FAILED if told.unread else DONE


def _code(error: BackupError) -> int:
    return WRONG_INPUT if isinstance(error, WrongGiven) else FAILED


def _backup_words(told: Told, path: Path) -> list[str]:
    packed = path.stat().st_size
    runs, files = count_words(told.runs, "run"), count_words(told.files, "file")
    lines = [f"Backed up {runs} to {path}: {files}, {format.size(told.size)} ({format.size(packed)} in the archive)."]
    if told.training:
        lines.append(f"{_some_runs(told.training)} training: interrupted in the backup, and can be resumed there.")
    return [*lines, *(f"Left out: {one}." for one in told.left_out)]


def _some_runs(ids: Sequence[str]) -> str:
    """A few of some runs, with the verb."""
    return f"{join_words(ids, MOST)} {'was' if len(ids) == 1 else 'were'}"


def restore_file(options: argparse.Namespace) -> int:
    """Make a data home of a backup; the exit code."""
    if len(options.runs) > 1:
        raise CommandError("Give one backup at a time: a home is restored from one file.", WRONG_INPUT)
    archive = paths.expand_home(options.runs[0]).absolute()
    into = paths.expand_home(options.into).absolute() if options.into is not None else paths.home()
    if not archive.is_file():
        raise CommandError(f"There is no file {archive}.", WRONG_INPUT)
    if not may_be_backup(archive):
        raise CommandError(f"{archive} is no backup of Groupwise. {MAKE_ONE}", WRONG_INPUT)
    try:
        restored = restore_backup(archive, into)
    except BackupError as error:
        raise CommandError(f"{archive.name}: {printable_line(str(error))}", _code(error)) from error
    except sqlite3.Error as error:
        raise CommandError(f"{archive.name}: a database could not be made ({error}). Nothing was restored.") from error
    print_outcome("\n".join(map(printable_line, _restored_words(restored, into))), f"The backup was restored: {into}.")
    return DONE


def _restored_words(restored: Restored, into: Path) -> list[str]:
    lines = [f"Restored {count_words(restored.runs, 'run')} into {into}, as of {restored.made}."]
    if restored.interrupted:
        ids = restored.interrupted
        lines.append(f"{join_words(ids, MOST)} {are_words(len(ids))} interrupted: `groupwise resume RUN` goes on.")
    if restored.damaged:
        lines.append(f"Damaged records, kept as they were: {join_words(restored.damaged, MOST)}.")
    if into != paths.home():
        lines.append(f"GROUPWISE_HOME={into} groupwise opens it.")
    return lines
