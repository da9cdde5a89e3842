"""Where a script's rows come from: load_dataset and its like → the source, split and subset of a spec's data."""

import ast
import re
from typing import Any

from groupwise.storage.checks.data import HUB_DATASET
from groupwise.storage.checks.script_reader import table_file
from groupwise.storage.checks.script_reader.reading import Reading, short_path
from groupwise.storage.checks.script_reader.unsaid import NO_CHANGE, list_names
from groupwise.storage.checks.script_reader.values import Items, Made, Mapping, Plain, Value, plain_or

BUILDERS = {"json": (".jsonl", ".json"), "csv": (".csv",), "parquet": (".parquet",)}
MOVED = {"gsm8k": "openai/gsm8k"}  # old names that most tutorials still use
FIRST_ROWS = re.compile(r"(\w+)\[:(\d+)\]")  # load_dataset's split="train[:1000]"
_HUB_FILES = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+?)(?:@([\w.-]+))?(?:/|\Z)")
_MAKES_ROWS = {"from_list", "from_dict", "from_pandas", "from_generator"}
_NO_MATTER = {"num_proc", "cache_dir", "download_mode", "verification_mode", "keep_in_memory", "storage_options"}
_FIELDS = {"name": "config", "split": "split", "revision": "revision"}
_TOKENS = {"token", "use_auth_token"}
_OF_ANY = {"path", "name", "split", "revision", "streaming", "data_files", "trust_remote_code", *_NO_MATTER, *_TOKENS}


def is_source(value: Value) -> bool:
    """Whether a value is where rows come from."""
    return isinstance(value, Made) and (value.name == "load_dataset" or table_file.reads_file(value))


def source_settings(reading: Reading, load: Made) -> dict[str, Any]:
    """source, config, split, revision, streaming and limit, as a load_dataset call says them."""
    reading.account_one(load, *([load.receiver] if load.receiver is not None else []))
    if load.name != "load_dataset":
        return _file_by_path(reading, load)
    given = dict(zip(["path", "name"], load.arguments, strict=False)) | load.keywords
    for extra in load.arguments[2:]:
        reading.note_computed("An argument of load_dataset", extra)
    reading.note_dark(load.dark, "load_dataset's settings")
    path = plain_or(given.get("path"))
    if not isinstance(path, str) or not path:
        reading.note_computed("The dataset", given.get("path", load))
        _note_rest(reading, given, is_file=False)
        return _part_of_hub(reading, given)  # of whichever dataset is named here
    _note_rest(reading, given, path in BUILDERS)
    if path in BUILDERS:
        return _file(reading, load, given)
    if not HUB_DATASET.fullmatch(MOVED.get(path, path)):
        after = "is no dataset of the hub: where it is a folder, upload its data as a file, and choose it here."
        reading.note(f"The dataset “{path[:80]}”", given["path"], after)
        reading.open_source = "file:"
        return {}
    taken: dict[str, Any] = {"source": f"hub:{MOVED.get(path, path)}"}
    if path in MOVED:
        reading.unsaid.set("data.source", taken["source"], f"where “{path}” is now")
    return taken | _part_of_hub(reading, given)


def _part_of_hub(reading: Reading, given: dict[str, Value]) -> dict[str, Any]:
    """Which rows of a dataset of the hub are read, and how: config, split, revision, streaming and limit."""
    taken: dict[str, Any] = {}
    for name, field in _FIELDS.items():
        said = plain_or(given.get(name), 0)
        if isinstance(said, str) and said:
            taken[field] = said
        elif name in given and said is not None:
            reading.note(f"load_dataset's {name}", given[name], "could not be taken.")
    if plain_or(given.get("streaming")) is True:
        taken["streaming"] = True
    cut = FIRST_ROWS.fullmatch(taken.get("split", ""))
    return taken | ({"split": cut[1], "limit": int(cut[2])} if cut and int(cut[2]) else {})


def _note_rest(reading: Reading, given: dict[str, Value], is_file: bool) -> None:
    for name, value in given.items():
        if name in _TOKENS:
            reading.note(f"load_dataset's {name}", value, "was not taken: tokens belong in the environment (HF_TOKEN).")
        elif name == "trust_remote_code" and plain_or(value, 0) is not False:
            reading.note(f"load_dataset's {name}", value, "was not taken: code from a dataset is never run.")
        elif name in ("trust_remote_code", *_NO_MATTER):
            reading.leave_out(name, value, NO_CHANGE)
        elif name in ("path", "split", "streaming", *([] if is_file else _FIELDS)):
            pass
        elif not is_file:
            reading.note(f"load_dataset's {name}", value, "could not be taken.")
        reading.account(value)


def _file(reading: Reading, load: Made, given: dict[str, Value]) -> dict[str, Any]:
    """A local file, by its name: the file itself belongs into the home's data folder."""
    files = given.get("data_files")
    split = plain_or(given.get("split"))
    if isinstance(files, Mapping):
        wanted = split if isinstance(split, str) and split in files.entries else "train"
        files = files.entries.get(wanted)
    if isinstance(files, Items) and len(files.items) == 1:
        files = files.items[0]
    if (found := _on_hub(reading, files)) is not None:
        return found
    taken = _named_file(reading, load, files)
    how = {name: value for name, value in given.items() if name not in _OF_ANY}
    taken |= table_file.reading_settings(reading, load, how, taken.get("source", ""))
    if isinstance(split, str) and taken:
        cut = FIRST_ROWS.fullmatch(split)
        if cut and int(cut[2]):
            taken["limit"] = min(int(cut[2]), taken.get("limit", int(cut[2])))
        elif "[" in split or "+" in split:
            reading.note(f"The split “{split}”", given["split"], "of a file could not be taken: set data.limit here.")
    return taken


def _on_hub(reading: Reading, files: Value | None) -> dict[str, Any] | None:
    """The dataset of the hub whose files hf://datasets/ORG/NAME/… are; None of other files."""
    path = plain_or(files)
    found = _HUB_FILES.match(path) if isinstance(path, str) else None
    if found is None or files is None:
        return None
    reading.account(files)
    reading.note("load_dataset's data_files", files, f"could not be taken: all files of {found[1]} are read.")
    return {"source": f"hub:{found[1]}"} | ({"revision": found[2]} if found[2] else {})


def _file_by_path(reading: Reading, load: Made) -> dict[str, Any]:
    path, rest = table_file.path_and_rest(load)
    taken = _named_file(reading, load, path)
    return taken | table_file.reading_settings(reading, load, rest, taken.get("source", ""))


def _named_file(reading: Reading, load: Made, given: Value | None) -> dict[str, Any]:
    name = file_name(given) if given is not None else ""
    several = plain_or(given)
    if given is not None and (isinstance(several, list) or set(name) & set("*?[")):
        reading.open_source = "file:"
        named = several if isinstance(several, list) else [several]
        after = "may be several files, and a run reads one: join them in one file, upload it, and choose it here."
        reading.note(list_names([f"“{one}”" for one in named]), given, after)
        reading.account(given)
        return {}
    if not name:
        reading.open_source = "file:"
        reading.note_computed("The data file", given if given is not None else load)
        return {}
    reading.account(given)
    reading.note(f"The file “{name}”", load, "is read from the uploaded files: upload it if it is not among them.")
    return {"source": f"file:{name}"}


def file_name(value: Value) -> str:
    """The last part of a path, also of one that is put together: str(HERE / "data" / "rows.csv")."""
    given = plain_or(value)
    if isinstance(given, str):
        return given.replace("\\", "/").rpartition("/")[2]
    inner = (
        value.arguments[0].node if isinstance(value, Made) and value.path == "str" and value.arguments else value.node
    )
    last = inner.right if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Div) else None
    return last.value if isinstance(last, ast.Constant) and isinstance(last.value, str) else ""


def makes_rows(value: Value) -> bool:
    """Whether a value is a dataset of rows that the script makes."""
    return isinstance(value, Made) and value.name in _MAKES_ROWS


def note_no_source(reading: Reading, value: Value) -> None:
    """What the rows are made of, where that is no dataset that can be named."""
    if makes_rows(value):
        reading.open_source, reading.makes_rows = "file:", True
        reading.note(f"{short_path(value)}(…)", value, "makes the data in the script: save it as a JSONL file, upload "
                     "that, and choose it here.")  # fmt: skip
    elif isinstance(value, Made) and value.name == "load_from_disk":
        reading.open_source = "file:"
        reading.note("load_from_disk(…)", value, "was not taken: save that dataset as Parquet, and upload it.")
    elif not (isinstance(value, Plain) and value.value is None):
        reading.note_computed("The dataset", value)
    reading.account(value)
