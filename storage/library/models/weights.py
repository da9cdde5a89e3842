"""What a model's weight files hold, read from their headers: sizes, kinds of number, names. Never the weights.

The form is described at https://huggingface.co/docs/safetensors: eight bytes with the length of a JSON header, the
header, the numbers.
"""

import json
import math
import os
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from groupwise.storage.home import files

MAX_JSON = 16 * 2**20  # bytes; the largest index of a published model has 9 MB, the largest header of one file 2 MB
MAX_HEADERS = 64 * 2**20  # bytes, of all files of one model together
MAX_SHARDS = 1000
SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
OTHER_FORMS = {".bin": "bin", ".pt": "bin", ".pth": "bin", ".gguf": "gguf", ".h5": "h5", ".msgpack": "msgpack"}
NAMES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16",
         "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2"}  # fmt: skip
HEADS = ("lm_head", "embed_out")
BUFFERS = ("masked_bias", "inv_freq", "position_ids")  # saved by older versions beside the parameters


class ModelError(Exception):
    """A model's files cannot be used; the message is a sentence that says which and why."""


@dataclass(frozen=True)
class Weights:
    """A folder's weights. `form` is what they are kept as ("safetensors", "bin", "gguf", …; "" where there are none),
    `bytes` what they take on disk, `parameters` how many numbers they are, `head` how many of these an output layer
    of its own takes, `modules` the last part of the names of what is a matrix ("q_proj"), `missing` the files that
    should be there too."""

    form: str
    bytes: int = 0
    parameters: int = 0
    head: int = 0
    dtype: str | None = None
    modules: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Header:
    by_dtype: tuple[tuple[str, int], ...]
    head: int
    modules: frozenset[str]
    length: int


def read_json_object(path: Path) -> dict[str, Any]:
    """A JSON object from a file. Raises ModelError for anything else, and for what is too large to be one."""
    text = read_start(path, MAX_JSON + 1)
    if len(text) > MAX_JSON:
        raise ModelError(f"{path} is larger than {MAX_JSON >> 20} MB.")
    return _object(text, str(path))


def read_start(path: Path, limit: int) -> bytes:
    """At most `limit` bytes from the start of a regular file: never a device, nor a pipe that nobody writes to."""
    try:
        with files.open_file(path, follow=True) as file:  # downloaded models are links
            return file.read(min(limit, os.fstat(file.fileno()).st_size))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error


def _object(text: bytes, what: str) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{what} is not valid JSON.") from error
    if not isinstance(value, dict):
        raise ModelError(f"{what} should hold a JSON object.")
    return value


def _refuse(word: str) -> None:
    raise ValueError(word)


def weights(folder: Path, names: dict[str, int], explicit: Any = None) -> Weights:
    """The weights among the files of a folder (name → size). `explicit` is the config's `transformers_weights`, which
    may name the file. Raises ModelError for files that are not what they should be."""
    if explicit is not None and not (
        isinstance(explicit, str) and _is_plain_name(explicit, (".safetensors", INDEX[5:]))
    ):
        raise ModelError(f"{folder}/config.json: transformers_weights should name a safetensors file beside it.")
    first = explicit or (SINGLE if SINGLE in names else INDEX if INDEX in names else "")
    if not first:
        return _no_weights(names)
    shards = _shards(folder / first) if first.endswith(".index.json") else [first]
    there = [name for name in shards if name in names]
    headers = [header(folder / name) for name in there]
    if sum(one.length for one in headers) > MAX_HEADERS:
        raise ModelError(f"The headers of the weights in {folder} take more than {MAX_HEADERS >> 20} MB.")
    by_dtype: Counter[str] = Counter()
    for one in headers:
        by_dtype.update(dict(one.by_dtype))
    floats = {kind: count for kind, count in by_dtype.items() if kind in NAMES}
    return Weights(
        "safetensors",
        sum(names[name] for name in there),
        sum(floats.values()),
        sum(one.head for one in headers),
        NAMES[max(floats, key=lambda kind: floats[kind])] if floats else None,
        tuple(sorted(set().union(*(one.modules for one in headers)))),
        tuple(name for name in shards if name not in names),
    )


def _no_weights(names: dict[str, int]) -> Weights:
    """What is there instead of whole safetensors weights."""
    pieces = [name for name in names if re.fullmatch(r"model-\d+-of-\d+\.safetensors", name)]
    if pieces:
        return Weights("safetensors", sum(names[name] for name in pieces), missing=(INDEX,))
    if any(name.endswith(".safetensors") and not name.startswith("adapter_") for name in names):
        return Weights("safetensors", missing=(SINGLE,))
    forms = {OTHER_FORMS[suffix]: 0 for name in names if (suffix := Path(name).suffix) in OTHER_FORMS
             and not name.startswith(("training_args", "optimizer", "scheduler", "rng_state", "adapter_"))}  # fmt: skip
    form = "bin" if "bin" in forms else next(iter(forms), "")
    return Weights(form, sum(size for name, size in names.items() if OTHER_FORMS.get(Path(name).suffix) == form))


def _shards(index: Path) -> list[str]:
    table = read_json_object(index).get("weight_map")
    files = set(table.values()) if isinstance(table, dict) and all(isinstance(v, str) for v in table.values()) else ()
    if not files or len(files) > MAX_SHARDS or not all(_is_plain_name(name, (".safetensors",)) for name in files):
        raise ModelError(f"{index} should list safetensors files beside it.")
    return sorted(files)


def _is_plain_name(name: str, endings: tuple[str, ...]) -> bool:
    """Whether this is a bare file name with such an ending."""
    return name.endswith(endings) and "/" not in name and "\0" not in name and len(name) < 256


def header(path: Path) -> _Header:
    """What the header of one safetensors file says; read once for as long as the file stays the same."""
    try:
        status = path.stat()
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}.") from error
    return _header(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=2048)
def _header(path: Path, size: int, _changed: int) -> _Header:
    start = read_start(path, 8)
    length = int.from_bytes(start, "little")
    if len(start) < 8 or length > size - 8:
        raise ModelError(f"{path} is not a safetensors file, or only the beginning of one: download or copy it again.")
    if length > MAX_JSON:
        raise ModelError(f"{path} has a header larger than {MAX_JSON >> 20} MB.")
    tensors = _object(read_start(path, 8 + length)[8:], f"The header of {path}")
    counted: Counter[str] = Counter()
    head = 0
    modules: set[str] = set()
    for name, tensor in tensors.items():
        if name == "__metadata__":
            continue
        kind, shape, count = _tensor(tensor, size - 8 - length, path)
        module, _, last = name.rpartition(".")
        if last in BUFFERS or (len(shape) == 4 and module.endswith("attn")):
            continue
        counted[kind] += count
        if len(shape) == 2 and len(modules) < 1000:
            modules.add((module if last == "weight" else name).rpartition(".")[2][:80])
            head += count if module.endswith(HEADS) else 0
    return _Header(tuple(counted.items()), head, frozenset(modules), length)


def _tensor(tensor: Any, room: int, path: Path) -> tuple[str, list[int], int]:
    """(kind of number, shape, count) of one entry of a header. Raises ModelError where it is no such entry, or tells
    of numbers beyond the end of the file."""
    entry: dict[str, Any] = tensor if isinstance(tensor, dict) else {}
    kind, shape, offsets = (entry.get(name, 0) for name in ("dtype", "shape", "data_offsets"))
    if not (isinstance(kind, str) and _are_whole_numbers(shape, 0, 16) and _are_whole_numbers(offsets, 2, 2)):
        raise ModelError(f"The header of {path} is not that of a safetensors file.")
    if not offsets[0] <= offsets[1] <= room:
        raise ModelError(f"{path} is only the beginning of its weights: download or copy it again.")
    count = math.prod(shape)
    if count > 8 * (offsets[1] - offsets[0]):  # no kind of number takes less than a bit
        raise ModelError(f"The header of {path} describes more numbers than the file holds.")
    return kind, shape, count


def _are_whole_numbers(values: Any, least: int, most: int) -> bool:
    """Whether these are so many whole numbers."""
    if type(values) is not list or not least <= len(values) <= most:
        return False
    return not values or (set(map(type, values)) == {int} and min(values) >= 0 and max(values) < 2**62)
