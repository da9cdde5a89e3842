"""Which sandbox there is: found by trying, refused with a reason where there is none."""

from __future__ import annotations

import os
import re
import shutil
import site
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupwise.worker.capabilities import sandbox
from groupwise.worker.sandbox import client, file_view, landlock, launch, network_probe, one_shot, syscall_filter, tiers
from tests.support.sandboxes import WITHOUT_BUBBLEWRAP

CODE = client.Code("score", "def score(completions):\n    return [1.0]\n")


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    tiers.probe.cache_clear()
    network_probe.network_problem.cache_clear()
    yield
    tiers.probe.cache_clear()
    network_probe.network_problem.cache_clear()


@pytest.fixture
def no_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", WITHOUT_BUBBLEWRAP)


@pytest.fixture
def no_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a kernel without it: its system call has a number that no kernel knows."""
    monkeypatch.setattr(landlock, "CREATE_RULESET", 4095)


def test_bubblewrap_is_the_first_choice():
    assert tiers.probe().name == "bubblewrap"
    assert sandbox.describe_sandbox().name == "bubblewrap" and sandbox.describe_sandbox().network == ""


def test_landlock_is_the_second_and_the_sentence_says_why(no_bubblewrap: None):
    tier = tiers.probe()
    assert tier.name == "landlock" and "bubblewrap is not installed" in tier.sentence


def test_where_there_is_none_code_is_refused_with_the_reason_and_the_remedy(no_bubblewrap: None, no_landlock: None):
    assert tiers.probe().name == "none"
    with pytest.raises(client.NoSandbox, match=r"bubblewrap is not installed.*apt-get install bubblewrap"):
        client.Host([CODE])
    with pytest.raises(client.NoSandbox):
        one_shot.run_fresh("print(1)")


def test_a_bubblewrap_that_fails_says_what_it_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    bwrap = tmp_path / "bwrap"
    bwrap.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    bwrap.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    tier = tiers.probe()
    assert tier.name == "landlock" and "setting up uid map: Permission denied" in tier.sentence


def test_a_bubblewrap_that_confines_nothing_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    bwrap = tmp_path / "bwrap"
    bwrap.write_text(
        f"#!{sys.executable} -IS\nimport json, os, sys\nwords = sys.argv\n"
        "os.write(int(words[words.index('--info-fd') + 1]), json.dumps({'child-pid': os.getpid()}).encode())\n"
        f"at = words.index({file_view.view().python!r})\n"
        f"os.execv(words[at], [{str(file_view.REPOSITORY)!r} if word == '/code' else word for word in words[at:]])\n"
    )
    bwrap.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "does not block what it should" in tiers.probe().sentence


def test_a_bubblewrap_that_leaves_the_kernels_settings_open_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Everything else of it holds: only what covers /proc is left out of its arguments."""
    bwrap = tmp_path / "bwrap"
    bwrap.write_text(
        f"#!{sys.executable} -IS\nimport os, sys\nwords = sys.argv\n"
        "at = words.index('--remount-ro', words.index('--proc'))\n"
        f"os.execv({shutil.which('bwrap')!r}, words[:at] + words[at + 2:])\n"
    )
    bwrap.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    tier = tiers.probe()
    assert tier.name == "landlock"
    assert re.search(r"does not block what it should: a function can open /proc/\S+ for writing", tier.sentence)


def test_a_landlock_that_leaves_files_below_proc_open_is_not_trusted(
    no_bubblewrap: None, monkeypatch: pytest.MonkeyPatch
):
    rules = launch._rules(False, False)
    monkeypatch.setattr(launch, "_rules", lambda network, script: {**rules, "writable": [*rules["writable"], "/proc"]})
    tier = tiers.probe()
    assert tier.name == "none"
    assert re.search(r"Landlock: it starts, but .*: a function can open /proc/\S+ for writing", tier.sentence)


def test_a_bubblewrap_that_leaves_the_machines_network_open_takes_no_function_with_leave_to_use_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    bwrap = tmp_path / "bwrap"
    bwrap.write_text(
        f"#!{sys.executable} -IS\nimport os, sys\n"
        f"os.execv({shutil.which('bwrap')!r}, [word for word in sys.argv if word != '--unshare-net'])\n"
    )
    bwrap.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert tiers.probe().name == "bubblewrap"  # others have no sockets at all
    assert "a function can connect to a port of this machine" in sandbox.describe_sandbox().network
    with pytest.raises(client.NoSandbox, match="may use the network cannot run here: it starts, but does not block"):
        client.Host([CODE], network=True)
    with client.Host([CODE]) as host:
        assert host.score("score", {"completions": ["a"]}, 5.0).values == [1.0]


def test_bubblewrap_removed_while_a_host_lives_is_a_failure_not_an_escape(monkeypatch: pytest.MonkeyPatch):
    with client.Host([CODE]) as host:
        monkeypatch.setenv("PATH", WITHOUT_BUBBLEWRAP)
        host.close()
        result = host.score("score", {"completions": ["a"]}, 5.0)
        assert result.statuses == ["error"] and "bubblewrap is not installed" in result.failures[0].message


def test_without_libseccomp_there_is_no_sandbox(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyseccomp", None)  # as where it is not installed
    syscall_filter.program.cache_clear()
    assert tiers.probe().name == "none" and "libseccomp2" in tiers.probe().sentence


def test_the_view_holds_packages_and_nothing_of_anyones():
    seen = file_view.view()
    assert os.path.exists(seen.python) and any(path.endswith(file_view.PACKAGE_FOLDERS) for path in seen.paths)
    secret = [Path.home(), Path(os.environ["GROUPWISE_HOME"]), file_view.REPOSITORY, Path("/etc/passwd"), Path.cwd()]
    for folder in map(Path, seen.folders):
        assert not any(place.is_relative_to(folder) for place in secret), folder


def test_packages_under_development_are_seen_but_not_our_own_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    packages, developed = tmp_path / "site-packages", tmp_path / "developed"
    packages.mkdir()
    developed.mkdir()
    (packages / "some.pth").write_text(f"import site\n{developed}\n{file_view.REPOSITORY}\n{Path.home()}\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(file_view.REPOSITORY)])
    site.addsitedir(str(packages))
    sys.path.append(str(packages))
    assert set(file_view._package_paths()) == {str(packages), str(developed)}
