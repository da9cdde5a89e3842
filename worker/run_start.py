"""What is done before a run's process starts: its spec, which someone may have edited by hand, is read and checked
again, and its folder gets all that the process works from."""

from groupwise.storage.checks.check import check_spec
from groupwise.storage.home import disk, paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.record import run_files
from groupwise.storage.registry.registry import Run
from groupwise.storage.spec import spec
from groupwise.storage.spec.problem import SpecError
from groupwise.worker.builtin import models, shipped
from groupwise.worker.data.file_reading import with_found


def prepare_folder(run: Run) -> spec.RunSpec:
    """Make the folder of a run ready to be trained in; its spec. Raises SpecError, HomeError, ShippedError or OSError
    where that cannot be, in words for a person."""
    run_files.refuse_odd(run.folder)
    text = run_files.spec_text(run.folder)
    run_spec = spec.parse_spec(text)
    problems = check_spec(run_spec, Offer.read_published(), spec.line_numbers(text))
    if problems:
        raise SpecError(problems)
    if disk.lacks(run.folder.path, disk.TO_BEGIN):
        place = f"{disk.megabytes(disk.TO_BEGIN)} of disk is free in {run.folder.path}"
        raise paths.HomeError(f"less than {place}. Free some space, then resume.")
    shipped.freeze(run.folder, run_spec.model_copy(update={"data": with_found(run_spec.data)}))  # for train.py
    models.install_starter()
    run.folder.exit.unlink(missing_ok=True)
    return run_spec
