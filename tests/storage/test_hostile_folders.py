"""Whatever lies in a run's folder concerns that run alone: it is adopted, listed, shown and supervised in words,
nothing hangs, nothing fills the log, and another run is listed, shown and started all the same."""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from groupwise.storage.home.paths import RunFolder
from tests.support.hostile_folders import (
    CELLS,
    COLUMNS,
    FIELDS,
    FILES,
    FOLDERS,
    HIDDEN,
    KINDS,
    LOOSELY,
    ODD,
    OPENLY,
    RAW,
    WITHIN,
    HostileHome,
    odd_file,
    odd_within,
    spoil,
    written,
)

# A look takes half a second. GROUPWISE_EXAMPLES=1000 tries nearly everything.
fuzz = settings(
    max_examples=int(os.environ.get("GROUPWISE_EXAMPLES", "12")), deadline=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileHome]:
    """One home for all of these; each folder is gone again after it was looked at."""
    place = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUPWISE_HOME", str(place / "home"))
        yield HostileHome(place)


@pytest.fixture
def hostile(shared: HostileHome, monkeypatch: pytest.MonkeyPatch) -> HostileHome:
    monkeypatch.setenv("GROUPWISE_HOME", str(shared.mould.parent / "home"))
    return shared


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines += self.format(record).split("\n")


def looked_at(hostile: HostileHome, folder: RunFolder, *, closely: bool = False) -> list[str]:
    lines = Lines()
    log = logging.getLogger("groupwise.supervisor")
    log.addHandler(lines)
    try:
        return hostile.look(folder, lines.lines, closely=closely)
    finally:
        log.removeHandler(lines)


def test_a_healthy_folder_is_found_healthy(hostile: HostileHome) -> None:
    with hostile.folder() as folder:
        assert looked_at(hostile, folder) == []


@fuzz
@given(data=st.data())
def test_an_odd_value_in_a_field(hostile: HostileHome, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(FIELDS)))
    field = data.draw(st.sampled_from([None, *FIELDS[name]]))
    text = written(FIELDS[name], field, data.draw(st.sampled_from(ODD)))
    with hostile.folder() as folder:
        odd_file(folder.path / name, (f"[{text}]" if name == "notes.json" else text).encode())
        assert looked_at(hostile, folder) == []


@pytest.mark.parametrize("words", ['""', '" \\n"'])
def test_a_state_without_words_is_said_by_its_name(hostile: HostileHome, words: str) -> None:
    with hostile.folder() as folder:
        odd_file(folder.path / "state.json", written(FIELDS["state.json"], "sentence", words).encode())
        assert looked_at(hostile, folder) == []


@fuzz
@given(data=st.data())
def test_an_odd_value_within_a_part(hostile: HostileHome, data: st.DataObject) -> None:
    where = data.draw(st.sampled_from(sorted(WITHIN)))
    name, values = WITHIN[where]
    field = data.draw(st.sampled_from([None, *values]))
    with hostile.folder() as folder:
        odd_file(folder.path / name, odd_within(where, field, data.draw(st.sampled_from(ODD))).encode())
        assert looked_at(hostile, folder) == []


@fuzz
@given(st.sampled_from(FILES), st.sampled_from(sorted(RAW)))
def test_any_content(hostile: HostileHome, name: str, content: str) -> None:
    with hostile.folder() as folder:
        odd_file(folder.path / name, RAW[content])
        assert looked_at(hostile, folder) == []


@fuzz
@given(st.sampled_from(FILES), st.sampled_from(sorted(KINDS)))
@example("log.txt", "8 TB")
@example("log.txt", "a pipe")
@example("log.txt", "an endless device")
def test_what_is_no_file(hostile: HostileHome, name: str, kind: str) -> None:
    with hostile.folder() as folder:
        (folder.path / name).unlink(missing_ok=True)
        KINDS[kind](folder.path / name)
        found = looked_at(hostile, folder)
        is_run = name != "spec.yaml" or kind == "8 TB"  # without that file, it is no run's folder
        assert found == ([] if is_run else ["it is not adopted"])


@fuzz
@given(st.sampled_from(FOLDERS), st.sampled_from(sorted({*KINDS, "a link to another run"} - {"a folder"})))
def test_what_is_no_folder(hostile: HostileHome, name: str, kind: str) -> None:
    with hostile.folder() as folder:
        shutil.rmtree(folder.path / name)
        if kind == "a link to another run":
            (folder.path / name).symlink_to(hostile.healthy.path)
        else:
            KINDS[kind](folder.path / name)
        assert looked_at(hostile, folder) == []


@fuzz
@given(st.sampled_from([OPENLY, LOOSELY, HIDDEN]), st.sampled_from(COLUMNS), st.sampled_from(CELLS))
def test_an_odd_cell_of_a_record(hostile: HostileHome, how: str, at: tuple[str, str], cell: object) -> None:
    with hostile.folder() as folder:
        if spoil(folder.db, *at, cell, how):
            found = looked_at(hostile, folder, closely=how == OPENLY)
            # Where the very types lie, and in names, which are kept as they are, nonsense may be shown, and no more.
            harmless = "re.Match|not JSON|must be str" if how == HIDDEN or at[1] == "name" else "^$"
            assert [one for one in found if not re.search(harmless, one)] == []
