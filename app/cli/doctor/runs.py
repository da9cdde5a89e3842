"""The registry, and the runs in the home: what is wrong with any of them."""

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from groupwise.app.cli.doctor.finding import NOTE, OK, PROBLEM, Finding
from groupwise.app.core import format, gone_runs, strays
from groupwise.storage.home import file_system, paths
from groupwise.storage.library import home_check
from groupwise.storage.record import states
from groupwise.storage.registry import registry, registry_check
from groupwise.storage.registry.registry import Run
from groupwise.storage.spec.words.number_words import are_words, join_words

LOOKING = 1.5  # seconds for looking at records
NAMED = 3  # of what is wrong, how many are named
REPAIR = "Run `groupwise repair`."


def look_at_runs(look: registry_check.RegistryLook) -> list[Finding]:
    """The registry and, where it can be read, all that is said of runs."""
    found = [_registry(look)]
    if look.state in registry_check.READABLE:
        runs = registry.list_runs(curves=False)
        found += [_counts(runs), *_folders(runs), *_records(runs)]
    return [*found, *_leftovers()]


def _registry(look: registry_check.RegistryLook) -> Finding:
    says, do = look.sentence, ""
    if look.state == registry_check.SOUND:
        return Finding("Registry", OK, "The registry is intact.")
    if look.state == registry_check.ABSENT:
        folders = home_check.unlisted_folders(())
        there = f" {format.plural(len(folders), 'run folder')} will be added." if folders else ""
        return Finding("Registry", OK, f"There is no registry of runs yet; the next start makes it.{there}")
    if look.state == registry_check.OLDER:
        says = "The registry is from an older version of Groupwise; the next start updates it."
        return Finding("Registry", OK, says)
    if look.state == registry_check.CUT_SHORT:
        do = "Start Groupwise, or run `groupwise list`: that undoes the unfinished write."
        return Finding("Registry", NOTE, "A process was killed as it wrote to the registry.", do)
    if look.state == registry_check.DAMAGED:
        says = says.partition("No run is lost")[0].strip()
        do = f"{REPAIR} No run is lost: a new one is made from the run folders."
    elif look.state == registry_check.NEWER:
        says, _, advice = says.rpartition(". Update Groupwise")
        says, do = f"{says}.", f"Update Groupwise{advice}"
    elif "locked" in says:
        do = "End the process that holds it, or wait until it is done, and check again."
    else:
        do = f"Check the owner and the permissions of {paths.registry_path()}, and its disk."
    return Finding("Registry", PROBLEM, says, do)


def _counts(runs: Sequence[Run]) -> Finding:
    counts = Counter(run.state for run in gone_runs.judge_runs(runs))  # as `groupwise list` has them
    parts = [f"{counts[state]:,} {state}" for state in states.LABELS if counts[state]]
    says = f"{format.plural(len(runs), 'run')}: {', '.join(parts)}." if runs else "There are no runs yet."
    return Finding("Runs", OK, says)


def _folders(runs: Sequence[Run]) -> list[Finding]:
    known = {run.id for run in runs}
    found = []
    if gone := home_check.runs_without_folder(runs):
        says = f"{format.plural(len(gone), 'run')} without a folder: {_named(gone)}."
        do = f"Copy the folder into {paths.runs_folder()} again, or `groupwise delete` the run."
        found.append(Finding("Run folders", NOTE, says, do))
    if unlisted := home_check.unlisted_folders(known):
        counted = f"{format.plural(len(unlisted), 'run folder')} {are_words(len(unlisted))}"
        says = f"{counted} not in the registry: {_named(unlisted)}."
        found.append(Finding("Run folders", NOTE, says, f"{REPAIR} It adds them; a worker does so as well."))
    if paths.runs_folder().is_dir() and (odd := strays.found_strays(known)):
        says, _, do = strays.stray_words(odd, NAMED).rpartition(". ")
        found.append(Finding("Run folders", NOTE, f"{says}.", do))
    return found


def _records(runs: Sequence[Run]) -> list[Finding]:
    if not runs:
        return []
    look = home_check.look_at_records(runs, time.monotonic() + LOOKING)
    left_out = f"; {look.left_out:,} could not be, or there was no time" if look.left_out else ""
    says = f"{format.plural(look.looked, 'record')} looked at{left_out}"
    found = []
    if look.faulty:
        named = _named([f"{run_id} ({reason})" for run_id, reason in look.faulty])
        do = "Copy the run.db of each into its folder again, if there is a copy; all other runs go on."
        found.append(Finding("Records", NOTE, f"{says}; {len(look.faulty):,} cannot be read: {named}.", do))
    if look.newer:
        counted = format.plural(len(look.newer), "record")
        newer = f"A newer version of Groupwise has written {counted}: {_named(look.newer)}."
        found.append(Finding("Records", NOTE, newer, "Update Groupwise to resume these runs."))
    return found or [Finding("Records", OK, f"{says}.")]


def _named(names: Sequence[str]) -> str:
    return join_words([format.shorten(name, 120) for name in names], NAMED)


def _leftovers() -> list[Finding]:
    drafts, aside = home_check.old_drafts(), home_check.registries_set_aside()
    words = [format.plural(len(drafts), "half-written draft")] if drafts else []
    words += [format.plural(len(aside), "damaged registry", "damaged registries")] if aside else []
    if not words:
        return []
    every = [*drafts, *aside]
    says = f"{join_words(words)}, {format.size(_bytes(every))}: {_named([str(path) for path in every])}."
    return [Finding("Leftovers", NOTE, says, "Nothing needs them any more: remove them.")]


def _bytes(places: Sequence[Path]) -> int:
    until = time.monotonic() + LOOKING / 3
    return sum(file_system.bytes_below(one, until)[0] if one.is_dir() else one.lstat().st_size for one in places)
