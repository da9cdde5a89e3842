"""Unpacks a Parquet file into an Arrow file, in a process that may be ended (worker.data.files.reading_process).

`python -m groupwise.worker.data.files.unpack SOURCE TARGET ROWS` (0: all) prints {"rows": how many}, or why not.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.data.files.parquet_table import parquet_words, refuse_long_rows
from groupwise.worker.data.files.reading_process import MEMORY, answer_asker, refuse_full_disk, unpacked_limit

PIECES = (4096, 64, 1)  # rows unpacked at once: fewer where so many find no room in memory
PART = 16 * 2**20  # bytes that are written together
ALWAYS = 2 * 2**30  # bytes that any file may unpack to


def unpack_parquet(source: Path, target: Path, rows: int) -> int:
    """Write the first so many rows (0: all) as an Arrow stream; how many those are. Raises DataError."""
    for piece in PIECES:
        try:
            with parquet_words(source):
                return _unpack(source, target, rows or sys.maxsize, piece)
        except MemoryError:
            continue
    raise DataError(f"a single row of {source.name} does not fit in {MEMORY >> 30} GB of memory. Shorten its texts.")


def _unpack(source: Path, target: Path, rows: int, piece: int) -> int:
    written = 0
    with pyarrow.parquet.ParquetFile(source) as file, pa.OSFile(str(target), "wb") as sink:
        schema = pa.schema(map(_without_dictionary, file.schema_arrow), metadata=file.schema_arrow.metadata)
        with pa.ipc.new_stream(sink, schema) as writer:
            for part in _join_batches(_read_bounded(file, source, rows, piece)):
                writer.write_table(part.cast(schema))
                written += part.num_rows
                refuse_full_disk(target, source)
    return written


def _without_dictionary(field: pa.Field) -> pa.Field:
    """Texts that are numbered in the file are texts: numbers of the next piece may mean others."""
    return field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field


def _read_bounded(file: pa.parquet.ParquetFile, source: Path, rows: int, piece: int) -> Iterator[pa.RecordBatch]:
    """The first rows, as long as what they unpack to is in proportion. Raises DataError."""
    most, total, done = unpacked_limit(source.stat().st_size, ALWAYS), 0, 0
    for batch in file.iter_batches(batch_size=min(piece, rows), use_threads=False):
        batch = batch.slice(0, rows - done)
        refuse_long_rows(source, batch, done)
        total, done = total + batch.nbytes, done + batch.num_rows
        if total > most:
            raise DataError(
                f"{source.name} unpacks to more than {most / 2**30:.0f} GB, which is out of proportion to its size: "
                "long texts are repeated in it. Shorten them, or set data.limit."
            )
        yield batch
        if done >= rows:
            return


def _join_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The batches put together, as reading many small ones later would be slow."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.nbytes for each in waiting) > PART:
            yield pa.Table.from_batches(waiting).combine_chunks()
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting).combine_chunks()


def main(source: str, target: str, rows: str) -> int:
    """Unpack, and print what came of it."""
    pa.set_memory_pool(pa.system_memory_pool())  # others reserve far more address space than they use
    path = Path(source)
    return answer_asker(path.name, lambda: {"rows": unpack_parquet(path, Path(target), int(rows))})


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
