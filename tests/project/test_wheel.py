"""The wheel, as `pip install groupwise` puts it anywhere: what is in it, and that it runs with no checkout near."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from groupwise.app.server.server import DEFAULT_PORT
from tests.conftest import REPOSITORY
from tests.support.servers import free_port

ROOMS = ("app", "worker", "storage")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a wheel is built from, and nothing else."""
    place = tmp_path_factory.mktemp("wheel") / "source"
    for room in ROOMS:
        shutil.copytree(REPOSITORY / room, place / room, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, place / name)
    return place


@pytest.fixture(scope="module")
def wheel(source: Path) -> Path:
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(source.parent), "."]
    subprocess.run(build, cwd=source, check=True, capture_output=True, timeout=120)
    return next(source.parent.glob("groupwise-*.whl"))


def test_it_holds_every_file_of_the_three_rooms_under_one_name(source: Path, wheel: Path) -> None:
    packed = set(zipfile.ZipFile(wheel).namelist())
    ours = {
        f"groupwise/{path.relative_to(source)}"
        for room in ROOMS
        for path in (source / room).rglob("*")
        if path.is_file()
    }
    assert {name for name in packed if ".dist-info/" not in name} == ours
    assert any(name.endswith("entry_points.txt") for name in packed)


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """The bin folder of a new environment with the wheel. What it depends on is lent to it: to install torch again
    would take minutes, and is what `make run` does. An editable install of ours is not lent."""
    place = wheel.parent / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True, timeout=60)
    [packages] = place.glob("lib/python*/site-packages")
    (packages / "lent.pth").write_text("\n".join(site.getsitepackages()))
    python = str(place / "bin" / "python")
    into = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(into, check=True, capture_output=True, timeout=120)
    return place / "bin"


@pytest.fixture
def dashboard(installed: Path, tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Its address, and the environment it runs in."""
    environment = {**os.environ, "GROUPWISE_HOME": str(tmp_path / "home")}
    port = free_port()
    command = [str(installed / "groupwise"), "--no-open", "--port", str(port)]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"Groupwise is at http://127.0.0.1:{port}\n" and port != DEFAULT_PORT
        yield f"http://127.0.0.1:{port}", environment
        process.terminate()


def test_it_is_the_wheel_that_is_imported(installed: Path, tmp_path: Path) -> None:
    code = "from groupwise import app, worker, storage; print(app.__file__, worker.__file__, storage.__file__)"
    said = subprocess.run([installed / "python", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert all(Path(file).is_relative_to(installed.parent) for file in said.stdout.split())


def test_it_serves_the_dashboard_and_finishes_the_quickstart(
    installed: Path, dashboard: tuple[str, dict[str, str]], tmp_path: Path
) -> None:
    address, environment = dashboard
    assert "Groupwise" in httpx.get(address, timeout=30).text
    [quickstart] = installed.parent.rglob("groupwise/app/pages/*/*/quickstart.yaml")
    launch = [str(installed / "groupwise"), "launch", str(quickstart), "--wait"]
    done = subprocess.run(launch, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    [exit_record] = (tmp_path / "home" / "runs").glob("*/exit.json")
    assert '"finished"' in exit_record.read_text()
