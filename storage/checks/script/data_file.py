"""How a run's plain script reads its data file: the same rows as worker.data.files.file_reading, in plain code."""

import inspect
from typing import Any

from groupwise.storage.spec.python_source import call, inline, literal
from groupwise.storage.spec.rows.file_format import (
    QUOTES,
    SEPARATORS,
    data_suffix,
    file_kind,
    settings_of_source,
    usual_separator,
)
from groupwise.storage.spec.rows.heading_names import numbered_names
from groupwise.storage.spec.rows.mixed_text import HANDLER, MIXED, bytes_as_cp1252
from groupwise.storage.spec.rows.sheet_rows import rank_sheet, sheet_lines
from groupwise.storage.spec.spec import DataSpec

# What the constants of a script say in characters, and a spec in words.
USUAL = (MIXED, "line", "numbered")  # what needs no constant
IN_CHARACTERS = {"separator": SEPARATORS, "quote": QUOTES}
_TEXT_AT_ONCE = (
    '    if text.lstrip().startswith("["):  # a list of rows, not a row in each line\n'
    '        text = "\\n".join(map(json.dumps, json.loads(text)))\n'
    '    lines = HERE / "rows.jsonl"\n'
    '    lines.write_text(text, encoding="utf-8")\n'
    '    return load_dataset("json", data_files=str(lines), split="train")\n'
)
_CSV_ROWS = (
    "        names = next(line for line in {reader} if line)\n"
    "{numbered}"
    "    # Cells are text exactly as they are written: no NA that means nothing, no 007 that becomes 7.\n"
    '    features = Features({{name: Value("string") for name in names}})\n'
    "    {load}\n"
)
_NUMBERED = '        names = [f"Column {n + 1}" for n in range(len(names))] if HEADING == "none" else names\n'
_RENAMED = "        names = numbered_names(names)\n"
_BOOK = "    book = CalamineWorkbook.from_path(str(path))\n"
_FIRST_SHEET = (
    "    sheets = map(book.get_sheet_by_name, book.sheet_names)  # the table with the most rows\n"
    "    sheet = max(sheets, key=lambda each: rank_sheet(each, {skip}))\n"
)
_SHEET_ROWS = (
    "    names, *lines = sheet_lines({sheet}.to_python(skip_empty_area=False), {skip})\n"
    "{numbered}"
    "    return Dataset.from_dict({{name: [line[n] for line in lines] for n, name in enumerate(names)}})\n"
)


def file_settings(data: DataSpec) -> dict[str, Any]:
    """Of how the file is read, what is said and its kind of file has, as a script's constants say it."""
    said = {name: getattr(data, name) for name in settings_of_source(data.source)}
    return {name: IN_CHARACTERS.get(name, {}).get(value, value) for name, value in said.items() if value is not None}


def file_constants(data: DataSpec) -> dict[str, str]:
    """Constants by name, as source."""
    return {name.upper(): literal(value) for name, value in file_settings(data).items() if value not in USUAL}


def file_helpers(data: DataSpec) -> str:
    """The functions that reading the file needs."""
    said, found = file_settings(data), []
    if said.get("encoding") == MIXED:
        register = f"codecs.register_error({literal(HANDLER)}, {bytes_as_cp1252.__name__})"
        found.append(f"\n\n{inspect.getsource(bytes_as_cp1252)}\n\n{register}\n")
    if file_kind(data.source) == "sheet":
        found.append(f"\n\n{inspect.getsource(sheet_lines)}")
        if "sheet" not in said:
            found.append(f"\n\n{inspect.getsource(rank_sheet)}")
    if said.get("heading") == "numbered":
        found.append(f"\n\n{inspect.getsource(numbered_names)}")
    return "".join(found)


def read_file(name: str, data: DataSpec) -> str:
    """The body of rows()."""
    kind, said = file_kind(name), file_settings(data)
    place = f'    path = folder_with({literal(name)}, "data") / {literal(name)}\n'
    if kind == "parquet":
        return f'{place}    return load_dataset("parquet", data_files=str(path), split="train")\n'
    if kind == "sheet":
        sheet = "book.get_sheet_by_name(SHEET)" if "sheet" in said else "sheet"
        rows = _SHEET_ROWS if "sheet" in said else _FIRST_SHEET + _SHEET_ROWS
        skip = "SKIP_LINES" if "skip_lines" in said else "0"
        skip += ", HEADING" if said.get("heading") == "none" else ""
        numbered = _RENAMED.removeprefix("    ") if said.get("heading") == "numbered" else ""
        rows = _BOOK + rows.format(sheet=sheet, skip=skip, numbered=numbered)
        return place + rows
    if kind == "csv":
        return place + _read_csv(name, said)
    if data_suffix(name) == ".jsonl" and said.get("encoding", "utf-8") == "utf-8":
        return f'{place}    return load_dataset("json", data_files=str(path), split="train")\n'
    return f"{place}    with {_opened(name, said)} as file:\n        text = file.read()\n{_TEXT_AT_ONCE}"


def _opened(name: str, said: dict[str, Any], more: str = "") -> str:
    encoding = "ENCODING" if said.get("encoding", "utf-8") not in ("utf-8", MIXED) else '"utf-8-sig"'
    encoding += f", errors={literal(HANDLER)}" if said.get("encoding") == MIXED else ""
    packed = name.lower().endswith(".gz")
    return f'gzip.open(path, "rt", encoding={encoding}{more})' if packed else f"path.open(encoding={encoding}{more})"


def _read_csv(name: str, said: dict[str, Any]) -> str:
    separator = "SEPARATOR" if "separator" in said else literal(SEPARATORS[usual_separator(name)])
    quoted = "quote" in said and said["quote"] != '"'
    reading = {"delimiter": separator} if separator != '","' else {}
    options = {"data_files": "str(path)", "split": '"train"', "features": "features", "keep_default_na": "False"}
    options |= {"sep": separator} if reading else {}
    if quoted and said["quote"]:
        reading["quotechar"] = options["quotechar"] = "QUOTE"
    elif quoted:
        reading["quoting"] = options["quoting"] = "csv.QUOTE_NONE"
    if said.get("encoding") == MIXED:
        options["encoding_errors"] = literal(HANDLER)
    elif said.get("encoding", "utf-8") != "utf-8":
        options["encoding"] = "ENCODING"
    skip, numbered = "", ""
    if said.get("heading") == "none":
        numbered = _NUMBERED
        options |= {"names": "names", "header": "None"}
    if said.get("heading") == "numbered":
        numbered = _RENAMED
        options |= {"names": "names", "header": "0"}
    if said.get("skip_lines"):
        options["skiprows"] = "SKIP_LINES"
        skip = "        for _ in range(SKIP_LINES):\n            next(file)\n"
    reader = f"csv.reader({', '.join(filter(None, ['file', inline(reading)]))})"
    opened = _opened(name, said, ', newline=""')
    parts = ['"csv"', *(f"{option}={value}" for option, value in options.items())]
    rows = _CSV_ROWS.format(reader=reader, numbered=numbered, load=call("return load_dataset(", parts, ")", indent=4))
    return f"    with {opened} as file:\n{skip}{rows}"
