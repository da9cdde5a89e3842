"""Small Parquet files that mean far more than they hold: bounded as they are unpacked, apart from training."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from groupwise.storage.home import paths
from groupwise.storage.spec.spec import DataSpec
from groupwise.worker.data import preview_source, sources
from groupwise.worker.data.files import parquet_rows, reading_process, unpack
from groupwise.worker.data.files.data_error import DataError

MEGABYTE = 2**20


@pytest.fixture(autouse=True)
def own_cache(registry_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cache = registry_home / "cache"
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(cache))
    return cache


def repeated(name: str, text: str, rows: int) -> Path:
    """A file with one text in so many rows; it holds the text once."""
    numbers = pa.array([0] * rows, pa.int32())
    columns = {"question": pa.DictionaryArray.from_arrays(numbers, pa.array([text])), "answer": ["1"] * rows}
    path = paths.data_folder() / name
    pa.parquet.write_table(pa.table(columns), path, store_schema=False, dictionary_pagesize_limit=2**30)
    return path


def noise(megabytes: int) -> str:
    return random.Random(1).randbytes(megabytes * MEGABYTE // 2).hex()


def spec(path: Path, **more: object) -> DataSpec:
    return DataSpec.model_validate({"source": f"file:{path.name}", **more})


LOAD = """
import json, os, resource, sys
from groupwise.storage.spec.spec import DataSpec
from groupwise.worker.data import sources
def most(who):
    return resource.getrusage(who).ru_maxrss // 1024
before, said = most(resource.RUSAGE_SELF), ""
try:
    sources.load_source(DataSpec.model_validate(json.loads(sys.argv[1])))
except sources.DataError as error:
    said = str(error)
print(json.dumps([said, most(resource.RUSAGE_SELF) - before, most(resource.RUSAGE_CHILDREN)]))
"""


def loaded_elsewhere(asked: DataSpec) -> tuple[str, int, int]:
    """What loading it for training says, and the megabytes that it and its helper took at most."""
    done = subprocess.run(
        [sys.executable, "-c", LOAD, asked.model_dump_json()], capture_output=True, text=True, timeout=120, check=True
    )
    said, own, helper = json.loads(done.stdout.splitlines()[-1])
    return said, own, helper


def test_eight_megabytes_that_mean_75_gigabytes_are_refused_in_words() -> None:
    path = repeated("bomb.parquet", noise(8), 9400)
    assert path.stat().st_size < 9 * MEGABYTE
    said, own, helper = loaded_elsewhere(spec(path))
    assert said.startswith("bomb.parquet unpacks to more than 2 GB") and "set data.limit" in said
    assert own < 100 and helper < 2048
    assert not list(paths.home().rglob("rows.arrow"))


def test_a_limit_reads_no_more_than_it_says(own_cache: Path) -> None:
    path = repeated("wide.parquet", "x" * MEGABYTE, 1350)
    said, own, helper = loaded_elsewhere(spec(path, limit=10))
    assert (said, own < 100, helper < 512) == ("", True, True)
    rows = sources.load_source(spec(path, limit=10))
    assert len(rows) == 10 and rows[9]["question"] == "x" * MEGABYTE
    assert sum(file.stat().st_size for file in own_cache.rglob("*") if file.is_file()) < 12 * MEGABYTE
    shuffled = sources.load_source(spec(path, limit=10, shuffle=1))
    assert len(shuffled) == 1350, "the first ten in another order are others"


@pytest.mark.parametrize("look", [sources.load_source, lambda asked: list(preview_source.table_of(asked).rows())])
def test_a_row_that_is_no_prompt_is_named(look) -> None:
    path = paths.data_folder() / "rows.parquet"
    texts = ["short"] * 40 + ["x" * (20 * MEGABYTE)] + ["short"]
    pa.parquet.write_table(pa.table({"question": texts, "answer": texts[::-1]}), path)
    with pytest.raises(DataError, match="row 2 of rows.parquet unpacks to 20 MB; a row may have 16"):
        look(spec(path))


def test_a_row_of_hundreds_of_megabytes_costs_the_trainer_nothing() -> None:
    said, own, helper = loaded_elsewhere(spec(repeated("huge.parquet", "x" * (400 * MEGABYTE), 4)))
    assert said == "row 1 of huge.parquet unpacks to 400 MB; a row may have 16. Shorten its texts."
    assert own < 100 and helper < 4096


def test_texts_that_are_numbered_in_the_file_are_texts() -> None:
    path = paths.data_folder() / "numbered.parquet"
    texts = pa.array([f"t{number % 3}" for number in range(5000)]).dictionary_encode()
    pa.parquet.write_table(pa.table({"question": texts, "answer": ["1"] * 5000}), path)
    rows = sources.load_source(spec(path))
    assert rows["question"][4999] == "t1" and rows.features["question"].dtype == "string"


def test_what_is_in_proportion_is_read_whole_once_and_anew_when_it_changes() -> None:
    path = repeated("small.parquet", "hello", 10_000)
    assert sources.load_source(spec(path))["question"][9_999] == "hello"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_rows, "ask_process", lambda *_, **__: pytest.fail("it is unpacked already"))
        assert len(sources.load_source(spec(path))) == 10_000
    repeated("small.parquet", "other", 20_000)
    assert sources.load_source(spec(path))["question"][19_999] == "other"


def test_how_much_a_file_may_mean_follows_its_size() -> None:
    sizes = [reading_process.unpacked_limit(size, unpack.ALWAYS) for size in (1, 10 * MEGABYTE, 200 * MEGABYTE, 2**40)]
    assert sizes == [2 * 2**30, 2 * 2**30, 10_000 * MEGABYTE, 64 * 2**30]


def test_a_helper_that_is_killed_is_said(monkeypatch: pytest.MonkeyPatch, own_cache: Path) -> None:
    path = repeated("killed.parquet", "hello", 10)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(
        DataError, match=r"killed\.parquet cannot be read: the reading process ended with code 1\. The file may be"
    ):
        sources.load_source(spec(path))
    assert not [file for file in own_cache.rglob("*") if file.is_file()]


@pytest.mark.parametrize("kind", [pa.map_(pa.string(), pa.int64()), pa.list_(pa.map_(pa.string(), pa.string()))])
def test_a_column_that_training_cannot_hold_is_refused_before_it(kind: pa.DataType) -> None:
    """Everything was fine in the preview, and the run ended as it loaded the rows."""
    path = paths.data_folder() / "odd.parquet"
    pa.parquet.write_table(pa.table({"question": ["1+1?"], "answer": ["2"], "odd": pa.array([None], kind)}), path)
    told = (
        "the column “odd” of odd.parquet holds maps of keys to values, which cannot be trained on, used or not. Write "
        "the file anew without it, in Python: import pyarrow.parquet as pq; "
        'pq.write_table(pq.read_table("odd.parquet").drop_columns(["odd"]), "odd-2.parquet")'
    )
    for reading in (lambda: preview_source.table_of(spec(path)), lambda: sources.load_source(spec(path))):
        with pytest.raises(DataError) as raised:
            reading()
        assert str(raised.value) == told
    python = told.partition("in Python: ")[2]
    subprocess.run([sys.executable, "-c", python], cwd=path.parent, check=True)
    assert list(sources.load_source(spec(path.with_name("odd-2.parquet")))[0]) == ["question", "answer"]
