"""Completions as a file: JSONL as they were recorded, CSV for spreadsheets, Parquet for data frames; streamed."""

import csv
import io
import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.run import completion_query
from groupwise.app.server import guard
from groupwise.storage.home import paths
from groupwise.storage.record import find, find_text, metrics
from groupwise.storage.registry import export, registry

Row = dict[str, Any]
Slices = Iterator[list[Row]]
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the beginning of a formula
TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


async def export_completions(request: Request) -> Response:
    """GET /export?id=RUN&format=jsonl|csv|parquet and what else the Completions tab has in its address."""
    # A form or an image on another site's page could only make work here, never read it; not even that.
    if not guard.is_own_page(request.headers):
        return PlainTextResponse("This request came from another site.\n", status_code=403)
    try:
        return await run_in_threadpool(_reply, request.url.query)
    except (Unanswerable, find_text.BadPattern, export.TooSlow) as problem:
        return PlainTextResponse(f"{problem}\n", status_code=400)
    except (sqlite3.Error, registry.RegistryError) as error:
        return PlainTextResponse(f"The record could not be read ({error}).\n", status_code=500)


def _reply(query: str) -> Response:
    given = completion_query.query_parameters(query)
    kind = given.get("format", "jsonl")
    if kind not in TYPES:
        raise Unanswerable("An export is jsonl, csv or parquet.")
    run = _exported_run(given.get("id", ""))
    path = run.folder.db
    chosen = export.ids(path, completion_query.read_query(run.id, given), completion_query.sort(given))
    functions = find.function_names(path)
    columns = export.columns(functions)
    slices = export.slices(run.id, path, chosen, functions)
    body = {"jsonl": jsonl, "csv": csv_table, "parquet": parquet}[kind](columns, slices)
    headers = {
        "Content-Disposition": f'attachment; filename="{run.id}-completions.{kind}"', "Cache-Control": "no-store",
    }  # fmt: skip
    return StreamingResponse(body, media_type=TYPES[kind], headers=headers)


def _exported_run(run_id: str) -> registry.Run:
    try:
        paths.run_folder(run_id)
    except ValueError:
        raise Unanswerable("This address names no run.") from None
    run = registry.get_run(run_id)
    if run is None:
        raise Unanswerable(f"There is no run “{run_id}”.")
    if not run.folder.db.is_file():
        raise Unanswerable("This run has no record: nothing was written yet, or its folder is not where it was.")
    metrics.checkpoints(run.folder.db)  # raises where the file is no record yet
    return run


def jsonl(columns: dict[str, str], slices: Slices) -> Iterator[bytes]:
    """A line of JSON for each completion, as faithful as JSON is."""
    for rows in slices:
        yield "".join(f"{json.dumps(row, ensure_ascii=False, default=str)}\n" for row in rows).encode()


def csv_table(columns: dict[str, str], slices: Slices) -> Iterator[bytes]:
    """CSV as RFC 4180 has it. A cell that a spreadsheet would run as a formula begins with a ' here."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow([inert_cell(name) for name in columns])
    for rows in slices:
        writer.writerows([_cell(row[name], holds) for name, holds in columns.items()] for row in rows)
        yield _drain(buffer)
    yield _drain(buffer)


def _drain(buffer: io.StringIO) -> bytes:
    """What was written, which is then gone from the buffer."""
    words = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return words.encode()


def _cell(value: Any, holds: str) -> str:
    if value is None:
        return ""
    if holds in ("number", "whole"):
        return str(value)  # a negative number is no formula
    return inert_cell(_prompt_text(value) if holds == "json" else str(value).lower() if holds == "truth" else value)


def inert_cell(text: str) -> str:
    """The text as a cell that is never run as a formula (SECURITY.md 18)."""
    return f"'{text}" if text.startswith(FORMULA) else text


def _prompt_text(value: Any) -> str:
    """A prompt that is text as it is; messages and columns as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def parquet(columns: dict[str, str], slices: Slices) -> Iterator[bytes]:
    """A Parquet file, one row group for each slice; prompts and columns as JSON text."""
    import pyarrow as pa
    from pyarrow import parquet as pq

    kinds = {"text": pa.string(), "json": pa.string(), "whole": pa.int64(), "number": pa.float64(), "truth": pa.bool_()}
    schema = pa.schema([(name, kinds[holds]) for name, holds in columns.items()])
    sink = _Sink()
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for rows in slices:
            plain = [
                {name: _prompt_text(row[name]) if holds == "json" else row[name] for name, holds in columns.items()}
                for row in rows
            ]
            writer.write_table(pa.Table.from_pylist(plain, schema))
            yield sink.take()
    yield sink.take()


class _Sink(io.RawIOBase):
    """What a writer writes, until it is taken."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        """Say yes, as pyarrow asks first."""
        return True

    def tell(self) -> int:
        """Count the bytes written so far."""
        return self._at

    def write(self, data: Any) -> int:
        """Keep a part until it is taken; its bytes."""
        part = bytes(data)
        self._parts.append(part)
        self._at += len(part)
        return len(part)

    def take(self) -> bytes:
        """Hand out what was written since the last time."""
        parts, self._parts = self._parts, []
        return b"".join(parts)
