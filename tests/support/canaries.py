"""Secrets to plant and to look for again: in clear, in the usual encodings, and cut."""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import os
import re
import sqlite3
import zlib
from pathlib import Path
from urllib.parse import quote

# Each of a form that its own service gives out, or that a person would choose.
ENVIRONMENT = {
    "HF_TOKEN": "hf_CanaryQwErTy1234567890uIoPaSdFgHj",
    "WANDB_API_KEY": "0c4na9y1f2e3d4c5b6a798071625344352617080",
    "OPENAI_API_KEY": "sk-proj-C4n4ryOpenAi_9f8e7d6c5b4a39281706-zZ",
    "GROUPWISE_JUDGE_KEY": "judge/C4nary+with=odd&signs_5566778899%aBc",
    "GROUPWISE_TOKEN": "t0ken-C4nary-of-the-dashboard-31415926",
    "http_proxy": "http://someone:pr0xy-C4nary-w0rd@127.0.0.1:9",
    "no_proxy": "127.0.0.1,localhost",
}
HUB_LOGIN = "hf_LoginCanary0987654321mNbVcXzLkJhG"
CANARIES = {
    **{name: value for name, value in ENVIRONMENT.items() if name not in ("http_proxy", "no_proxy")},
    "http_proxy": "pr0xy-C4nary-w0rd",
    "the hub's login": HUB_LOGIN,
}
PIECE = 16  # characters in a row that give too much of a canary away


def forms(canary: str) -> dict[str, bytes]:
    """What to look for, by what it is."""
    raw = canary.encode()
    quoted = quote(canary, safe="")
    found = {
        "in clear": raw, "quoted": quoted.encode(), "quoted in small": re.sub("%..", _lower, quoted).encode(),
        "hexadecimal": binascii.hexlify(raw), "HEXADECIMAL": raw.hex().upper().encode(),
        "in JSON": json.dumps(canary)[1:-1].encode(), "UTF-16": canary.encode("utf-16-le"),
    }  # fmt: skip
    for before in range(3):
        whole = base64.b64encode(b"-" * before + raw + b"--")
        inner = whole[4 if before else 0 : len(whole) - 8]
        found |= {f"base64, {before} in": inner, f"base64 of addresses, {before} in": inner.translate(_URL)}
    pieces = {f"piece {at}": raw[at : at + PIECE] for at in range(len(raw) - PIECE + 1)}
    return found | pieces


def _lower(found: re.Match[str]) -> str:
    return found[0].lower()


_URL = bytes.maketrans(b"+/", b"-_")


def held(data: bytes) -> set[str]:
    """Which canaries some bytes hold, each with the first form it was found in."""
    found = set()
    for name, canary in CANARIES.items():
        what = next((what for what, form in forms(canary).items() if form in data), None)
        if what is not None:
            found.add(f"{name} {what}")
    return found


def search(folder: Path) -> dict[str, set[str]]:
    """Every file below a folder that holds a canary, as it lies there, unpacked, or in a cell of a database."""
    found = {}
    for path in (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
        seen = held(b"\n".join([os.fsencode(path.name), path.read_bytes(), _unpacked(path), *_cells(path)]))
        if seen:
            found[str(path.relative_to(folder))] = seen
    return found


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    try:
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else b""
    except (OSError, EOFError, zlib.error):
        return b""


def _cells(path: Path) -> list[bytes]:
    if path.read_bytes()[:15] != b"SQLite format 3":
        return []
    reader = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        tables = [name for (name,) in reader.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        rows = [row for table in tables for row in reader.execute(f'SELECT * FROM "{table}"')]
        return [str(cell).encode() for row in rows for cell in row]
    except sqlite3.Error:  # a shadow table, or one of a browser's that only it can read: its bytes were searched
        return []
    finally:
        reader.close()
