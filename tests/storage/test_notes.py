"""Stars and notes on completions: kept in the registry, mirrored in the folder, got back from there."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from groupwise.storage.home import files, paths
from groupwise.storage.library import repair
from groupwise.storage.registry import notes, registry
from tests.support.runs import ended_run

SPEC = "name: noted\nrewards: [{name: format}]\n"


@pytest.fixture
def run_id(registry_home: Path) -> str:
    return ended_run(SPEC)


def test_a_star_and_words_are_kept_apart(run_id: str):
    notes.star(run_id, 3, 1, True)
    notes.annotate(run_id, 3, 1, "  guesses  ")
    notes.annotate(run_id, 3, 0, "good")
    found = notes.of_group(run_id, 3)
    assert [(n.starred, n.words) for n in found.values()] == [(False, "good"), (True, "guesses")]
    assert notes.starred_completions(run_id) == [(3, 1)] and notes.of_group(run_id, 4) == {}
    notes.star(run_id, 3, 1, False)
    assert notes.of_group(run_id, 3)[1].words == "guesses"
    notes.annotate(run_id, 3, 1, "")
    assert list(notes.of_group(run_id, 3)) == [0]


def test_a_copied_folder_brings_its_notes(run_id: str):
    notes.star(run_id, 1, 0, True)
    notes.annotate(run_id, 1, 2, "<b>look</b>")
    copy = paths.run_folder(f"{run_id}-copy")
    shutil.copytree(paths.run_folder(run_id).path, copy.path)
    repair.adopt_folders()
    assert [(n.grp, n.idx, n.words) for n in notes.of_run(copy.id)] == [
        (n.grp, n.idx, n.words) for n in notes.of_run(run_id)
    ]


def test_a_lost_registry_loses_no_note(run_id: str):
    notes.star(run_id, 1, 0, True)
    paths.registry_path().write_bytes(b"garbage")
    repair.repair()
    assert notes.starred_completions(run_id) == [(1, 0)]


def test_what_stands_in_the_folder_is_not_trusted(run_id: str):
    folder = paths.run_folder(run_id)
    files.write_json(
        folder.notes,
        [
            7,
            {"grp": "x", "idx": 0},
            {"grp": 1, "idx": 0, "words": "five", "at": "now"},
            {},
            {"grp": 2, "idx": 0, "words": "x", "at": 10**400},
            {"grp": 2**60, "idx": 0},
        ],
    )
    with registry.write_registry() as index:
        index.execute("DELETE FROM run WHERE id = ?", [run_id])
    repair.adopt_folders()
    assert {(n.grp, n.idx, n.words, n.at) for n in notes.of_run(run_id)} == {(1, 0, "five", 0.0), (2, 0, "x", 0.0)}


def test_many_at_once_lose_nothing(run_id: str):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda idx: notes.star(run_id, 1, idx, True), range(12)))
    assert len(notes.starred_completions(run_id)) == 12
    assert len(files.read_json(paths.run_folder(run_id).notes)) == 12
