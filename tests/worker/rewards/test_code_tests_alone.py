"""Where code_tests runs: in a sandbox or not at all; and with its run's folder where there is no Groupwise."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupwise.storage.home import paths
from groupwise.storage.record import run_files
from groupwise.worker.builtin import sandbox_source, shipped
from groupwise.worker.sandbox import syscall_filter, tiers
from groupwise.worker.training import scoring
from tests.support.code_rewards import RIGHT, share
from tests.support.homes import wait_for
from tests.support.runs import make_spec, queue
from tests.support.sandboxes import living, only


def test_without_a_sandbox_it_refuses_and_says_what_to_install():
    with only("none"), pytest.raises(RuntimeError, match=r"only in a sandbox.*apt-get install bubblewrap"):
        share(RIGHT)


def test_a_sandbox_that_does_not_work_is_refused_with_its_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    with only("none"), monkeypatch.context() as within:
        within.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        tiers.probe.cache_clear()
        with pytest.raises(RuntimeError, match="No permissions to create a new namespace"):
            share(RIGHT)


def test_the_filter_is_made_of_whole_instructions():
    for namespaces in (True, False):
        assert len(syscall_filter.program(False, namespaces)) % 8 == 0


LOOPS = """
import sys
from groupwise.worker.builtin.rewards.code_tests import code_tests
code_tests(["while True: pass"], tests=[["assert True"]], timeout=60, memory=int(sys.argv[1]))
"""


@pytest.mark.parametrize("path", [os.environ["PATH"], "/nonexistent"], ids=["bubblewrap", "landlock"])
def test_what_it_runs_is_gone_with_the_process_that_runs_it(path: str):
    memory = 1021  # MiB, an odd number: the mark of its sandboxes
    run = subprocess.Popen([sys.executable, "-c", LOOPS, str(memory)], env={**os.environ, "PATH": path})
    try:
        wait_for("both sandboxes", lambda: len(living(memory << 20)) >= 2)
    finally:
        run.kill()
        run.wait()
    wait_for("their end", lambda: not living(memory << 20))


@pytest.fixture
def frozen(registry_home: Path) -> Iterator[Path]:
    """The folder of a run with code_tests, where everybody can read it."""
    run = queue(make_spec(rewards=[{"name": "code_tests", "parameters": {"column": "question"}}]))
    place = Path(tempfile.mkdtemp(prefix="frozen-"))
    shutil.copytree(run.path, place, dirs_exist_ok=True)
    for path in [place, *place.rglob("*")]:
        path.chmod(0o755)
    yield place
    shutil.rmtree(place)


# In a run's folder, as its train.py begins.
ALONE = """
import sys
sys.path.insert(0, sys.argv[1])
from rewards.code_tests import code_tests
right, tests = "def add(a, b): return a + b", ["assert add(1, 2) == 3"]
print(code_tests([right, "def add(a, b): return 0"], tests=[tests, tests], timeout=60))
assert sys.modules["groupwise.worker"].__file__.startswith(sys.argv[1])
"""


@pytest.mark.parametrize("path", [os.environ["PATH"], "/nonexistent"], ids=["bubblewrap", "landlock"])
def test_it_works_in_a_virtual_environment_that_has_nothing(frozen: Path, tmp_path: Path, path: str):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    command = [tmp_path / "venv/bin/python", "-I", "-c", ALONE, frozen]
    told = subprocess.run(command, capture_output=True, text=True, env={"PATH": path})
    assert told.stdout == "[1.0, 0.0]\n", told.stderr


@pytest.mark.parametrize("path", ["/usr/bin:/bin", "/nonexistent"], ids=["bubblewrap", "landlock"])
def test_it_works_for_an_ordinary_user(frozen: Path, path: str):
    """As nobody, with the system's interpreter, which everybody can read. Who is not root has seen it above."""
    python = shutil.which("python3", path="/usr/bin")
    if os.getuid() != 0 or python is None:
        return
    told = subprocess.run(
        [python, "-I", "-c", ALONE, frozen], user=65534, group=65534, extra_groups=[], cwd="/",
        env={"PATH": path}, capture_output=True, text=True,
    )  # fmt: skip
    assert told.stdout == "[1.0, 0.0]\n", told.stderr


def test_without_a_filter_for_this_processor_it_says_what_to_install(frozen: Path):
    (frozen / "groupwise/worker/sandbox" / syscall_filter.CARRIED).write_text("{}")
    command = [sys.executable, "-I", "-S", "-c", ALONE, frozen]  # -S: no pyseccomp
    told = subprocess.run(command, capture_output=True, text=True)
    assert told.returncode and "pip install pyseccomp" in told.stderr


def test_what_is_carried_is_what_is_imported_and_no_more():
    """Followed from what the reward imports, and from what is run inside."""
    listed, found = set(sandbox_source.carried_files()), set()
    follow = {"worker/sandbox/one_shot.py", "worker/sandbox/tiers.py", "worker/sandbox/host.py"}
    follow |= {name for name in listed if "/code_tests/" in name}
    while follow - found:
        name = (follow - found).pop()
        found.add(name)
        for node in ast.walk(ast.parse((sandbox_source.ROOMS / name).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("groupwise."):
                place = (node.module or "").removeprefix("groupwise.").replace(".", "/")
                below = [f"{place}/{alias.name}.py" for alias in node.names]
                follow |= {each for each in [f"{place}.py", *below] if (sandbox_source.ROOMS / each).is_file()}
    packages = {str(parent / "__init__.py") for name in found for parent in Path(name).parents[:-1]}
    only_for_types = {"worker/sandbox/proxy_process.py", "worker/sandbox/upstream.py", "storage/home/process.py"}
    assert found - only_for_types | packages == listed


def test_a_run_without_code_tests_carries_nothing(registry_home: Path):
    assert not queue(make_spec()).carried_source.exists()


def test_what_is_carried_stays_as_it_was_on_a_resume(registry_home: Path):
    spec = make_spec(rewards=[{"name": "code_tests", "parameters": {"column": "question"}}])
    folder = queue(spec)
    kept = folder.carried_source / "worker/sandbox/tiers.py"
    kept.write_text("# as it was\n")
    shipped.freeze(folder, spec)
    assert kept.read_text() == "# as it was\n"
    shutil.rmtree(folder.carried_source)
    folder.carried_source.symlink_to(paths.home())
    with pytest.raises(run_files.OddFolder, match="groupwise is not a folder"):
        run_files.refuse_odd(folder)


def test_a_changed_copy_is_refused_with_what_to_do(registry_home: Path):
    spec = make_spec(rewards=[{"name": "code_tests", "parameters": {"column": "question"}}])
    copy = queue(spec).rewards / "code_tests.py"
    copy.write_text(copy.read_text() + "\n# of another version\n")
    with pytest.raises(shipped.ShippedError, match=r"rewards/code_tests.py is not the code.*Start a new run"):
        scoring.Scorers(spec.rewards, paths.run_folder(copy.parents[1].name))
