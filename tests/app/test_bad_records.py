"""Whatever a run's record is, every part of every page answers: in plain JSON, without a fault, and in words where
there is nothing to show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from groupwise.app.pages.compare import compare
from groupwise.app.pages.run import completions, doctor, groups, overview, statistics
from groupwise.app.pages.run_list import runs_table
from groupwise.app.server import exports
from groupwise.storage.home import db, paths
from groupwise.storage.registry import registry
from tests.support.bad_records import HOSTILE, MAKERS, UNREADABLE, WORKS, make_all
from tests.support.pages import of_a_run, of_several, wrongs


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A home with one run of each kind; it is only read, so all tests here share it."""
    place = tmp_path_factory.mktemp("bad") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUPWISE_HOME", str(place))
        paths.prepare()
        registry.open_registry()
        return place, make_all()


@pytest.fixture
def runs(made: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Kind → run id; this test's home has them."""
    monkeypatch.setenv("GROUPWISE_HOME", str(made[0]))
    return made[1]


@pytest.mark.parametrize("kind", [WORKS, *MAKERS])
def test_every_part_of_a_runs_page_answers(runs: dict[str, str], kind: str) -> None:
    assert wrongs(of_a_run(runs[kind])) == []


@pytest.mark.parametrize("kind", UNREADABLE)
def test_what_cannot_be_read_is_said_in_every_part(runs: dict[str, str], kind: str) -> None:
    run = {"run": runs[kind]}
    for ask in (
        overview.draw_board,
        groups.groups_at_step,
        completions.find_completions,
        statistics.statistics_summary,
    ):
        answer = ask(run)
        said = f"{answer.get('sentence') or answer.get('wait')}"
        assert re.search(UNREADABLE[kind], said), f"{ask.__module__} of {kind}: {said}"
        assert not re.search("Error|Traceback|None", said), said
    silent = kind == "stepless"  # that it ended before its first step stands at the Overview's top
    assert silent or doctor.diagnose_run(run).get("sentence") or doctor.diagnose_run(run).get("headline")


@pytest.mark.parametrize("kind", MAKERS)
def test_a_bad_run_beside_a_good_one_is_compared_or_named(runs: dict[str, str], kind: str) -> None:
    works = runs[WORKS]
    reader = db.open_reader(paths.run_folder(works).db)
    digest = reader.execute("SELECT hash FROM prompt LIMIT 1").fetchone()[0]
    reader.close()
    assert wrongs(of_several([works, runs[kind]], digest)) == []
    good, bad = compare.compare_runs({"ids": [works, runs[kind]]})["runs"]
    assert sum(len(part["x"]) for part in good["curves"]["reward"]) == 20
    assert bad.get("problem") or bad["curves"] or kind in ("groupless", "stepless")


def test_all_of_them_at_once(runs: dict[str, str]) -> None:
    assert wrongs(of_several(list(runs.values()), "0")) == []
    assert wrongs(iter([(runs_table.draw_runs, {}), (runs_table.draw_runs, {"search": HOSTILE[0]})])) == []
    assert "deleted folder" in runs_table.draw_runs({})["rows"]  # type: ignore[operator]


@pytest.mark.parametrize("kind", [WORKS, *MAKERS])
def test_every_record_is_exported_or_it_is_said_why_not(runs: dict[str, str], kind: str) -> None:
    client = TestClient(Starlette(routes=[Route("/export", exports.export_completions)]))
    for name in exports.TYPES:
        reply = client.get("/export", params={"id": runs[kind], "format": name})
        if reply.status_code == 200:
            assert "attachment" in reply.headers["content-disposition"]
        else:
            assert reply.status_code in (400, 500)
            assert reply.text.strip().endswith((".", "!")), reply.text
    if kind in UNREADABLE and kind != "stepless":
        assert reply.status_code != 200
