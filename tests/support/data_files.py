"""Data files in a home, and what is read of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groupwise.storage.home import paths
from groupwise.storage.spec.spec import DataSpec, ModelSpec
from groupwise.worker.data import preview
from groupwise.worker.data.files import table


def put(name: str, content: bytes | str) -> Path:
    path = paths.data_folder() / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def opened(name: str, **said: Any) -> table.Table:
    return table.open_table(table.find_data_file(name), DataSpec(source=f"file:{name}", **said))


def rows_of(name: str, **said: Any) -> list[list[str]]:
    found = opened(name, **said)
    return [found.columns, *(list(row.values()) for row in found.rows())]


def shown(name: str, row: int = 0, **said: Any) -> Any:
    return preview.preview(DataSpec(source=f"file:{name}", **said), ModelSpec(), row)
