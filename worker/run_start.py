"""What is done before a run's process starts: its spec, which someone may have edited by hand, is read and checked
again, and its folder gets all that the process works from."""

from dataclasses import replace

from groupwise.storage.checks.check import check_spec
from groupwise.storage.home import disk, paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards import library
from groupwise.storage.library.rewards.library import LibraryError
from groupwise.storage.record import run_files
from groupwise.storage.registry.registry import Run
from groupwise.storage.spec import spec
from groupwise.storage.spec.words.problem import SpecError
from groupwise.worker.builtin import models, shipped
from groupwise.worker.data.files.file_reading import with_found

TOLD = (SpecError, paths.HomeError, shipped.ShippedError, LibraryError, run_files.OddFolder)  # in words for a person


def prepare_folder(run: Run) -> spec.RunSpec:
    """Make the folder of a run ready to be trained in; its spec. Raises what `TOLD` names, in words for a person, and
    OSError."""
    run_files.refuse_odd(run.folder)
    if fault := run_files.spec_fault(run.folder):
        raise paths.HomeError(f"{fault}. {run_files.how_to_restore(run.folder)}")
    text = run_files.spec_text(run.folder)
    run_spec = spec.parse_spec(text)
    offer = Offer.read_published()
    frozen = library.frozen_functions(run.folder, shipped.shipped_names(shipped.REWARDS))
    offer = replace(offer, rewards={**offer.rewards, **frozen})
    found = check_spec(run_spec, offer, spec.line_numbers(text))
    # what a run is called is asked as it is launched: one of before, called otherwise, can still be resumed
    if problems := [problem for problem in found if problem.field != "name"]:
        raise SpecError(problems)
    if disk.lacks(run.folder.path, disk.TO_BEGIN):
        place = f"{disk.megabytes(disk.TO_BEGIN)} of disk is free in {run.folder.path}"
        raise paths.HomeError(f"less than {place}. Free some space, then resume.")
    shipped.freeze(run.folder, run_spec.model_copy(update={"data": with_found(run_spec.data)}))  # for train.py
    models.install_starter()
    run.folder.exit.unlink(missing_ok=True)
    return run_spec


def why_not_started(error: Exception) -> str:
    """Why a run's folder could not be made ready, in a sentence, with Python's own words behind it where they are all
    that is known."""
    if isinstance(error, TOLD):
        return str(error).splitlines()[0]
    if isinstance(error, OSError):
        at = f" at {error.filename}" if error.filename else ""
        return f"its folder could not be used{at} ({error.strerror or error}). Resume tries again."
    said = f"{type(error).__name__}: {error}".splitlines()[0]
    return f"its folder could not be made ready. {said.rstrip('.')}. The traceback is in {paths.worker_log()}."
