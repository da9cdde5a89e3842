"""Where rows come from, for training: a built-in task, reasoning-gym, a file of the home, the hub."""

import contextlib
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import huggingface_hub
from datasets import Dataset, Features, Value, load_dataset

from groupwise.storage.checks.data import HUB_DATASET
from groupwise.storage.checks.held_out import MADE
from groupwise.storage.checks.script.prompts import SHUFFLE_BUFFER
from groupwise.storage.spec.rows import file_format
from groupwise.storage.spec.spec import DataSpec
from groupwise.storage.spec.words.problem import Fix
from groupwise.worker.data import gym
from groupwise.worker.data.files import parquet_rows, table
from groupwise.worker.data.files.csv_table import CsvTable
from groupwise.worker.data.files.data_error import DataError, first_line
from groupwise.worker.data.files.file_reading import FileReading
from groupwise.worker.data.files.jsonl_table import JsonlTable, check_text
from groupwise.worker.data.files.separators import csv_options
from groupwise.worker.data.files.zero_bytes import refuse_zero_bytes

PATIENCE = 8.0  # seconds in which the hub should answer
log = logging.getLogger("groupwise.data")

# The kinds of error, of several libraries, that mean there is no way to the hub.
UNREACHABLE = {
    "ConnectionError", "ConnectError", "ConnectTimeout", "ReadTimeout", "MaxRetryError", "ClientConnectorError",
    "OfflineModeIsEnabled", "LocalEntryNotFoundError", "gaierror",
}  # fmt: skip

TaskRows = Callable[[int], list[dict[str, Any]]]


def load_source(spec: DataSpec, task: TaskRows | None = None) -> Any:
    """All rows of a source, as a Dataset; as an IterableDataset where they are streamed. Raises DataError."""
    kind, _, name = spec.source.partition(":")
    if task is not None:
        return Dataset.from_list(task(spec.limit or MADE))
    if kind == "gym":
        return Dataset.from_list(gym.gym_rows(name, spec.limit or MADE, spec.parameters))
    if kind == "file":
        return _file(name, spec)
    if kind == "hub":
        return _hub(name, spec)
    raise DataError(f"“{spec.source}” is not a data source: use task:NAME, gym:NAME, file:NAME or hub:ORG/NAME")


def buffer(spec: DataSpec) -> dict[str, int]:
    """How a source is shuffled: a stream among some thousand rows, anything else among all."""
    return {"buffer_size": SHUFFLE_BUFFER} if _streams(spec) else {}


def first_rows(rows: Any, spec: DataSpec) -> Dataset:
    """The first `limit` rows; of a stream these are now read. Raises DataError."""
    if not _streams(spec):
        return rows.select(range(min(spec.limit, len(rows)))) if spec.limit else rows
    if not spec.limit:
        fix = Fix(f"Read {MADE} rows", {"data.limit": MADE})
        raise DataError("streaming needs data.limit: how many rows to read", "data.limit", (fix,))
    try:
        read = list(rows.take(spec.limit))
        columns = rows.features or {}
        return Dataset.from_list(read, features=rows.features) if read else Dataset.from_dict({c: [] for c in columns})
    except Exception as error:  # whatever a download can raise
        raise hub_error(error, spec) from error


def _streams(spec: DataSpec) -> bool:
    return spec.streaming and spec.source.startswith("hub:")


def _file(name: str, spec: DataSpec) -> Dataset:
    path = table.find_data_file(name)
    opened = table.open_table(path, spec)  # which says in words what is wrong with it
    if isinstance(opened, JsonlTable):
        check_text(opened.path)
        builder, options = "json", {}
    elif isinstance(opened, CsvTable):
        refuse_zero_bytes(opened.path)
        builder, options = "csv", _as_text(opened.columns, opened.reading)
    else:
        in_order = spec.limit and not spec.filter and spec.shuffle is None
        return parquet_rows.load_parquet(path, spec.limit if in_order else None)
    try:
        return load_dataset(builder, data_files=str(opened.path), split="train", **options)
    except Exception as error:  # datasets raises many kinds for a damaged file; all mean the same to a person
        log.warning("%s cannot be read by the datasets library", name, exc_info=error)
        unknown = "it may be damaged, though no faulty line was found. Save it again"
        why = _fault(opened) or unknown
        raise DataError(f"{name} cannot be read as {file_format.format_words(name)}: {why}") from error


def _as_text(columns: list[str], reading: FileReading) -> dict[str, Any]:
    """How `datasets` reads a CSV so that cells stay text, exactly as they are written: no NA → null, no 007 → 7."""
    how = csv_options(reading.separator or "comma", reading.quote or "double")
    lines: dict[str, Any] = {"skiprows": reading.skip_lines} if reading.kind == "csv" and reading.skip_lines else {}
    features = Features({column: Value("string") for column in columns})
    if reading.kind == "csv" and reading.heading == "none":
        lines |= {"names": columns, "header": None}
    if reading.heading == "numbered":
        lines |= {"names": columns, "header": 0}
    return {"features": features, "keep_default_na": False, "sep": how.pop("delimiter"), **how, **lines}


def _fault(opened: table.Table) -> str:
    """Where a file is at fault, by reading it row by row; "" where that finds nothing."""
    try:
        for _ in opened.rows():
            continue
    except DataError as error:
        return str(error)
    return ""


def _hub(name: str, spec: DataSpec) -> Any:
    if not HUB_DATASET.fullmatch(name) or Path(name).exists():  # datasets would take a folder of that name here
        raise DataError(f"“{name}” is not the id of a hub dataset, such as openai/gsm8k")
    try:
        with offline(not hub_answers()):
            return load_dataset(name, spec.config, split=spec.split, revision=spec.revision, streaming=spec.streaming)
    except Exception as error:  # every library below may raise its own kind
        raise hub_error(error, spec) from error


def hub_answers() -> bool:
    """Whether the hub answers at all. Asked first: without a network its libraries would try for most of a minute."""
    if huggingface_hub.constants.is_offline_mode():
        return False
    try:
        huggingface_hub.get_session().head(huggingface_hub.constants.ENDPOINT, timeout=PATIENCE)
    except Exception as error:  # whatever its HTTP client raises
        log.info("the hub cannot be reached: %s", error)
        return False
    return True


@contextlib.contextmanager
def offline(so: bool) -> Iterator[None]:
    """Meanwhile, only what is on this machine is used."""
    before = datasets.config.HF_HUB_OFFLINE, huggingface_hub.constants.HF_HUB_OFFLINE
    datasets.config.HF_HUB_OFFLINE, huggingface_hub.constants.HF_HUB_OFFLINE = so or before[0], so or before[1]
    try:
        yield
    finally:
        datasets.config.HF_HUB_OFFLINE, huggingface_hub.constants.HF_HUB_OFFLINE = before


def hub_error(error: Exception, spec: DataSpec) -> DataError:
    """What went wrong with a hub dataset, in words, at its field."""
    if isinstance(error, DataError):
        return error
    name, cause, kinds = (
        spec.source.removeprefix("hub:"),
        first_line(error),
        {type(each).__name__ for each in _chain(error)},
    )
    if "GatedRepoError" in kinds or "gated" in cause.lower():
        return DataError(f"“{name}” is gated: ask for access on its page on the hub, and set HF_TOKEN")
    if "RevisionNotFoundError" in kinds:
        fix = Fix("Use the newest", {"data.revision": None})
        return DataError(f"“{name}” has no revision “{spec.revision}”", "data.revision", (fix,))
    if "DatasetNotFoundError" in kinds or "RepositoryNotFoundError" in kinds:
        return DataError(f"there is no dataset “{name}” on the hub, or it is private and HF_TOKEN is not set for it")
    if "scripts are no longer supported" in str(error):
        return DataError(f"“{name}” needs code from the hub to be read, and such code is never run. Choose another.")
    if "Config name is missing" in str(error) or "BuilderConfig" in str(error):
        return DataError(f"“{name}” has several parts: {cause}", "data.config", _one_of("data.config", str(error)))
    if "Unknown split" in str(error) or "Bad split" in str(error):
        return DataError(
            f"“{name}” has no split “{spec.split}”: {cause}", "data.split", _one_of("data.split", str(error))
        )
    if kinds & UNREACHABLE:
        return DataError(f"the hub could not be reached, and “{name}” is not on this machine. Check the connection.")
    return DataError(f"“{name}” cannot be read: {cause}")


def _one_of(field: str, message: str) -> tuple[Fix, ...]:
    """A fix for each name that a message of `datasets` lists in brackets."""
    listed = message[message.find("[") + 1 : message.find("]")] if "[" in message else ""
    names = [name.strip(" '\"") for name in listed.split(",")]
    return tuple(Fix(f"Use “{name}”", {field: name}) for name in names[:6] if name)


def _chain(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and len(found) < 10:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found
