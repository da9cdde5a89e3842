"""Why a training process failed: the cause, as far as that decides what helps, and a sentence that says what to do."""

import sqlite3

from groupwise.storage.home import disk
from groupwise.storage.record import run_files
from groupwise.storage.spec.words.problem import SpecError
from groupwise.worker.builtin import models, shipped
from groupwise.worker.data import data
from groupwise.worker.sandbox import client
from groupwise.worker.training import trainer

# What torch says where a token cannot be drawn, as the model's output is no probabilities (torch.multinomial). On a GPU
# its kernel prints so, and all that Python is told is that an assertion failed there.
NO_PROBABILITIES = ("probability tensor contains", "invalid multinomial distribution")
IN_KERNEL = "device-side assert triggered"


def cause_and_reason(error: BaseException, printed: str = "") -> tuple[str, str]:
    """The cause, by its name in storage.record.run_files, and the sentence. `printed`: the end of what the process and
    its libraries have printed."""
    text = str(error).strip()
    first = text.splitlines()[0] if text else type(error).__name__
    if type(error).__name__ == "OutOfMemoryError" or "out of memory" in text.lower():
        return run_files.MEMORY, (
            "the device ran out of memory. Lower per_device_train_batch_size or max_completion_length, "
            "or train with LoRA."
        )
    if _cannot_draw(error, printed):
        return run_files.WEIGHTS, (
            "the model's weights are ruined: its output is inf or nan, so it cannot generate. Steps that are too large "
            "do this: lower learning_rate."
        )
    if disk.is_full(error):
        return run_files.DISK, "the disk is full. Free some space; Resume continues from the last whole checkpoint."
    if isinstance(error, data.DataError):
        return run_files.DATA, first
    if isinstance(error, models.NoModel):
        return run_files.MODEL, first
    if isinstance(error, (trainer.CannotRun, SpecError, shipped.ShippedError)):
        return run_files.SETTINGS, first
    if isinstance(error, sqlite3.Error):
        return run_files.OTHER, f"its record could not be opened ({first})."
    if isinstance(error, client.NoSandbox):
        return run_files.OTHER, first
    return run_files.OTHER, f"{_kind_of_error(error)}. {type(error).__name__}: {first[:400]}"


def _cannot_draw(error: BaseException, printed: str) -> bool:
    told = printed if IN_KERNEL in str(error) else str(error)
    return isinstance(error, RuntimeError) and any(words in told for words in NO_PROBABILITIES)


def _kind_of_error(error: BaseException) -> str:
    """What happened, as far as an error of Python or of a library tells: its own words stand behind."""
    name, text = type(error).__name__, str(error)
    if isinstance(error, ImportError):
        return "a Python package could not be imported"
    if isinstance(error, (SystemExit, KeyboardInterrupt)):
        return "the process was told to exit"
    if "valid model identifier" in text:
        return "the model could not be found"
    if isinstance(error, (ConnectionError, TimeoutError)) or "HTTP" in name or "Connect" in name:
        return "a server could not be reached"
    if isinstance(error, OSError):
        return "a file could not be read or written"
    return "the GPU reported an error" if "CUDA" in text else "an unexpected error ended it"
