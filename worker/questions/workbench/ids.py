"""The token ids that functions get with completions that were not just sampled: made anew from the text."""

from collections.abc import Callable
from typing import Any

from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import run_files
from groupwise.storage.spec.spec import ModelSpec
from groupwise.worker.data import tokens
from groupwise.worker.data.files.data_error import DataError


def counter(model: ModelSpec) -> Callable[[str], list[int] | None]:
    """text → token ids; None for all where the model's tokenizer is not to be had."""
    try:
        reader = tokens.reader(model)
    except DataError:
        return lambda text: None
    return lambda text: reader.ids([text])[0]


def of_run(folder: RunFolder) -> tokens.Reader | None:
    """The tokenizer of a run's model; None where it is not to be had."""
    spec = run_files.spec_of(folder)
    try:
        return tokens.reader(spec.model) if spec else None
    except DataError:
        return None


def ids_of_completion(text: str, count: int, reader: tokens.Reader | None) -> list[int] | None:
    """The ids of a stored completion, as many as the model wrote: the record keeps its text and their number. The end
    mark, which is not in the text, is what mostly is missing; the last id stands for it."""
    return None if reader is None else _fit_to_count(reader.ids([text])[0], count)


def ids_of_completions(texts: list[str], counts: list[int], reader: tokens.Reader | None) -> list[list[int]]:
    """The ids of many stored completions; without a tokenizer, zeros, so that lengths are right at least."""
    if reader is None:
        return [[0] * count for count in counts]
    return [_fit_to_count(found, count) for found, count in zip(reader.ids(texts), counts, strict=True)]


def _fit_to_count(found: list[int], count: int) -> list[int]:
    last: Any = found[-1] if found else 0
    return [*found[:count], *[last] * (count - len(found))]
