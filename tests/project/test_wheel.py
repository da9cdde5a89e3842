"""The wheel, as `pip install groupwise` puts it anywhere: what is in it, and that it is what runs. That it runs with no
checkout near is seen where a newcomer runs the quickstart, in tests/browser/test_quickstart_in_browser.py."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.support import wheels


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheels.copy_source(tmp_path_factory.mktemp("wheel") / "source")


@pytest.fixture(scope="module")
def wheel(source: Path) -> Path:
    return wheels.build(source)


def test_it_holds_every_file_of_the_three_rooms_under_one_name(source: Path, wheel: Path) -> None:
    packed = set(zipfile.ZipFile(wheel).namelist())
    ours = {
        f"groupwise/{path.relative_to(source)}"
        for room in wheels.ROOMS
        for path in (source / room).rglob("*")
        if path.is_file()
    }
    assert {name for name in packed if ".dist-info/" not in name} == ours
    assert any(name.endswith("entry_points.txt") for name in packed)


def test_it_is_the_wheel_that_is_imported(wheel: Path, tmp_path: Path) -> None:
    installed = wheels.install(wheel)
    code = "from groupwise import app, worker, storage; print(app.__file__, worker.__file__, storage.__file__)"
    said = subprocess.run([installed / "python", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert all(Path(file).is_relative_to(installed.parent) for file in said.stdout.split())
