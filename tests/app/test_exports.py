"""Completions as files: read back they are what was recorded, and a spreadsheet runs nothing of them."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from groupwise.app.server import exports
from groupwise.storage.home import paths
from groupwise.storage.record import find
from groupwise.storage.record.find import Wanted
from groupwise.storage.record.step_record import Completion, Group
from groupwise.storage.registry import export, notes
from tests.support.finding import SLOW, searched_run
from tests.support.homes import fresh_home
from tests.support.made_runs import made_run

COLUMNS = [
    "run", "attempt", "mode", "step", "group", "index", "prompt", "columns", "completion", "tokens", "truncated",
    "reward", "advantage", "score/format", "status/format", "score/correct: ness", "status/correct: ness", "extra",
    "starred", "note",
]  # fmt: skip


@pytest.fixture(scope="module")
def made() -> Iterator[tuple[Path, str]]:
    with fresh_home() as place:
        run_id = searched_run()
        row = find.rows(paths.run_folder(run_id).db, [1])[0]
        notes.star(run_id, row["grp"], row["idx"], True)
        notes.annotate(run_id, row["grp"], row["idx"], "@remember")
        yield place, run_id


@pytest.fixture
def run_id(made: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("GROUPWISE_HOME", str(made[0]))
    return made[1]


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(Starlette(routes=[Route("/export", exports.export_completions)]), base_url="http://127.0.0.1")


def get(client: TestClient, run_id: str, kind: str = "jsonl", **given: str) -> bytes:
    reply = client.get("/export", params={"id": run_id, "format": kind, **given})
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-disposition"] == f'attachment; filename="{run_id}-completions.{kind}"'
    return bytes(reply.content)


def rows(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.decode().splitlines()]


def test_jsonl_is_what_was_recorded(client: TestClient, run_id: str) -> None:
    found = rows(get(client, run_id, mode="both", sort="oldest"))
    assert len(found) == 40 and {tuple(row) for row in found} == {tuple(COLUMNS)}
    assert found[1] == {
        "run": run_id, "attempt": 1, "mode": "train", "step": 1, "group": 1, "index": 1,
        "prompt": [{"role": "user", "content": "-1?"}], "columns": {"answer": "@1"},
        "completion": "Der ÉCOLE 漢字を含む", "tokens": 20, "truncated": False,
        "reward": 0.5, "advantage": -1.0, "score/format": 0.5, "status/format": "ok",
        "score/correct: ness": None, "status/correct: ness": "error", "extra": {"seen": {"a": 1}}, "starred": False,
        "note": "",
    }  # fmt: skip
    assert found[2]["completion"] == "=nul\0 after, digits 142" and found[2]["reward"] is None
    assert (found[0]["starred"], found[0]["note"]) == (True, "@remember")


def test_what_is_exported_is_what_the_tab_shows_in_its_order(client: TestClient, run_id: str) -> None:
    assert [row["completion"] for row in rows(get(client, run_id, q="<answer>4"))] == [
        "<think>carry one</think><answer>4</answer>"
    ]
    found = rows(get(client, run_id, reward="2..", steps="7..", sort="-reward", page="9"))
    assert [(row["step"], row["reward"]) for row in found] == [(8, 3), (7, 3), (8, 2), (7, 2)]
    assert rows(get(client, run_id, q="zebra")) == [] and len(rows(get(client, run_id, starred="1"))) == 1


def test_csv_reads_back_and_no_cell_begins_as_a_formula(client: TestClient, run_id: str) -> None:
    found = list(csv.DictReader(io.StringIO(get(client, run_id, "csv", sort="oldest").decode(), newline="")))
    assert len(found) == 32 and list(found[0]) == COLUMNS
    assert (found[1]["advantage"], found[1]["reward"], found[1]["truncated"]) == ("-1.0", "0.5", "false")
    assert json.loads(found[1]["prompt"]) == [{"role": "user", "content": "-1?"}]
    assert found[2]["completion"] == "'=nul\0 after, digits 142" and found[2]["reward"] == ""
    assert found[0]["note"] == "'@remember" and found[3]["completion"] == SLOW
    for row in found:
        for name, cell in row.items():
            assert not cell.startswith(exports.FORMULA) or name in ("reward", "advantage")


@pytest.mark.parametrize("text", ["=HYPERLINK(1)", "+1", "-1", "@x", "\tx", "\rx"])
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(text: str) -> None:
    assert exports.inert_cell(text) == f"'{text}" and exports.inert_cell(f"a{text}") == f"a{text}"


def test_parquet_reads_back_with_types(client: TestClient, run_id: str) -> None:
    table = pq.read_table(io.BytesIO(get(client, run_id, "parquet", sort="oldest")))
    assert table.column_names == COLUMNS and table.num_rows == 32
    found = table.to_pylist()
    assert found[1]["completion"] == "Der ÉCOLE 漢字を含む" and found[1]["reward"] == 0.5 and found[1]["step"] == 1
    assert found[2]["completion"] == "=nul\0 after, digits 142" and found[2]["reward"] is None
    assert found[0]["starred"] is True and json.loads(found[1]["extra"]) == {"seen": {"a": 1}}


@pytest.mark.parametrize("kind", exports.TYPES)
def test_a_long_export_comes_in_slices_and_whole(client: TestClient, run_id: str, kind: str) -> None:
    many = made_run("many", 120, groups=1)
    content = get(client, many, kind)
    if kind == "parquet":
        file = pq.ParquetFile(io.BytesIO(content))
        assert (file.metadata.num_rows, file.metadata.num_row_groups) == (960, 5)
    else:
        assert len(content.decode().splitlines()) == 960 + (kind == "csv")


def test_jsonl_has_no_number_that_json_does_not_know(client: TestClient, run_id: str) -> None:
    made = [Completion("x", 1, False, math.inf, -math.inf, [(math.inf, "ok")], {"odd": math.nan})]
    odd = made_run(
        "odd",
        1,
        groups=1,
        functions=("format",),
        make_group=lambda step, n: Group("train", 1, "?", {"a": math.nan}, made),
    )
    row = json.loads(get(client, odd), parse_constant=lambda name: pytest.fail(name))
    assert (row["reward"], row["advantage"], row["score/format"]) == (None, None, None)
    assert (row["extra"], row["columns"]) == ({"odd": None}, {"a": None})


def test_an_export_holds_one_slice_at_a_time(run_id: str) -> None:
    path = paths.run_folder(run_id).db
    chosen = export.ids(path, Wanted(), "oldest")
    assert list(chosen) == sorted(chosen)
    sizes = [len(part) for part in export.slices(run_id, path, list(chosen) * 20, find.function_names(path))]
    assert max(sizes) <= export.SLICE and len(sizes) == 4


@pytest.mark.parametrize(
    ("given", "says"),
    [({"format": "exe"}, "jsonl, csv or parquet"), ({"id": "../etc"}, "names no run"), ({"id": ""}, "names no run"),
     ({"id": "no-such-run"}, "no run"), ({"q": "(", "regex": "1"}, "not a regular expression"),
     ({"reward": "x"}, "is not a number")],
)  # fmt: skip
def test_what_cannot_be_exported_is_a_sentence(
    client: TestClient, run_id: str, given: dict[str, str], says: str
) -> None:
    reply = client.get("/export", params={"id": run_id, **given})
    assert reply.status_code == 400 and says in reply.text and reply.headers["content-type"].startswith("text/plain")


def test_an_export_that_would_not_be_whole_is_refused(
    client: TestClient, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "SECONDS", 0.05)
    reply = client.get("/export", params={"id": run_id, "q": "(a+)+$", "regex": "1"})
    assert reply.status_code == 400 and "nothing was exported" in reply.text


def test_another_site_s_page_cannot_make_it_work(client: TestClient, run_id: str) -> None:
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
        assert client.get("/export", params={"id": run_id}, headers=headers).status_code == 403
    assert client.get("/export", params={"id": run_id}, headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200
    assert client.post("/export", params={"id": run_id}).status_code == 405


def test_a_deleted_or_broken_record_is_a_sentence(client: TestClient, run_id: str) -> None:
    broken = made_run("broken", 30, groups=1)
    path = paths.run_folder(broken).db
    path.write_bytes(path.read_bytes()[:5000])
    reply = client.get("/export", params={"id": broken})
    assert reply.status_code == 500 and "could not be read" in reply.text
    path.unlink()
    reply = client.get("/export", params={"id": broken})
    assert reply.status_code == 400 and "no record" in reply.text
