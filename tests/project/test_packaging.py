"""What cannot be built everywhere (image, wheel, a newcomer's two commands) held against what is in the files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib

import pytest
import yaml

from groupwise.app.server.server import DEFAULT_PORT
from tests.conftest import REPOSITORY

ROOMS = ("app", "worker", "storage")
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
MAKEFILE = (REPOSITORY / "Makefile").read_text()
DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()
README = (REPOSITORY / "README.md").read_text()
COMPOSE = yaml.safe_load((REPOSITORY / "compose.yaml").read_text())


def instructions(name: str) -> list[str]:
    """The Dockerfile's instructions of one kind, continued lines joined."""
    joined = re.sub(r"\\\n\s*", " ", re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.M))
    return [line.split(" ", 1)[1].strip() for line in joined.splitlines() if line.startswith(f"{name} ")]


def make_installs() -> list[str]:
    """What `make run` gives to pip install, in order."""
    torch = re.search(r"^TORCH := (\S+)$", MAKEFILE, re.M)
    assert torch
    rule = re.search(r"^\$\(VENV\)/\.run:.*\n((?:\t.*\n)+)", MAKEFILE, re.M)
    assert rule
    return [line.replace("$(TORCH)", torch[1]) for line in re.findall(r"\$\(PIP\) install (.+)", rule[1])]


def test_the_image_installs_what_the_makefile_installs_in_the_same_order():
    steps = [step for run in instructions("RUN") for step in re.findall(r"pip install (\S+)", run)]
    assert steps == [step.replace("--editable .", "/src") for step in make_installs()]
    assert steps[0] == "torch==2.13.0"


def test_the_pinned_torch_is_one_the_project_accepts():
    wanted = next(name for name in PROJECT["project"]["dependencies"] if name.startswith("torch>="))
    assert tuple(wanted.removeprefix("torch>=").split(".")) <= ("2", "13", "0")


def test_the_image_runs_as_an_ordinary_user_with_its_home_on_a_volume():
    assert instructions("USER") == ["groupwise"]
    assert "useradd" in "".join(instructions("RUN"))
    home = next(line for line in instructions("ENV") if line.startswith("GROUPWISE_HOME=")).partition("=")[2]
    assert instructions("VOLUME") == [home]
    assert COMPOSE["services"]["groupwise"]["volumes"] == [f"home:{home}"]
    assert "home" in COMPOSE["volumes"]


def test_port_and_health_check_are_the_server_s_own():
    assert instructions("EXPOSE") == [str(DEFAULT_PORT)]
    assert f"http://127.0.0.1:{DEFAULT_PORT}/healthz" in instructions("HEALTHCHECK")[0]
    assert COMPOSE["services"]["groupwise"]["ports"] == [f"127.0.0.1:{DEFAULT_PORT}:{DEFAULT_PORT}"]


def test_the_image_starts_with_options_that_the_command_takes_and_calls_safe():
    from groupwise.app.cli.parser import build_parser, token_from
    from groupwise.app.server.server import Settings, refuse_unsafe

    entry, arguments = (json.loads(instructions(name)[0]) for name in ("ENTRYPOINT", "CMD"))
    assert entry == ["groupwise"]
    options = build_parser().parse_args(arguments)
    refuse_unsafe(Settings(options.host, options.port, token_from(options.token), options.allow_hosts, options.open))


def test_compose_asks_for_the_gpu_and_for_a_token():
    service = COMPOSE["services"]["groupwise"]
    assert service["deploy"]["resources"]["reservations"]["devices"][0]["capabilities"] == ["gpu"]
    assert service["environment"]["GROUPWISE_TOKEN"].startswith("${GROUPWISE_TOKEN:?")


def test_all_that_the_image_copies_is_let_in():
    let_in = set(re.findall(r"^!(\S+)$", (REPOSITORY / ".dockerignore").read_text(), re.M))
    needed = {"pyproject.toml", "setup.py", PROJECT["project"]["readme"], *PROJECT["project"]["license-files"], *ROOMS}
    assert let_in == needed and all((REPOSITORY / name).exists() for name in needed)


@pytest.mark.parametrize(
    ("room", "pattern"),
    [(room, p) for room, patterns in PROJECT["tool"]["setuptools"]["package-data"].items() for p in patterns],
)
def test_every_package_data_pattern_matches_files(room: str, pattern: str):
    assert list((REPOSITORY / room.removeprefix("groupwise.")).glob(pattern))


def test_every_make_command_in_the_readme_is_a_target():
    targets = set(re.findall(r"^([a-z]+):", MAKEFILE, re.M))
    assert {"run", "test", "lint", "bench", "docs", "starter"} <= targets
    assert set(re.findall(r"^make ([a-z]+)", README, re.M)) <= targets


def test_every_groupwise_command_in_the_readme_exists():
    from groupwise.app.cli.parser import SUMMARIES

    assert set(re.findall(r"^groupwise ([a-z]+)", README, re.M)) <= set(SUMMARIES)


def test_the_readme_says_why_for_every_dependency():
    table = " ".join(re.findall(r"^\| ([a-z0-9., -]+) \|", README, re.M)).replace(",", " ").split()
    assert {re.split(r"[>=<\[]", name)[0] for name in PROJECT["project"]["dependencies"]} <= set(table)


def test_files_that_the_readme_points_to_are_there():
    linked = re.findall(r"\]\((?!http)([^)#]+)\)", README)
    assert [name for name in linked if not (REPOSITORY / name).exists()] == []


def test_ci_does_lint_and_test_and_stops_at_the_first_failure():
    text = (REPOSITORY / ".ci" / "run").read_text()
    assert text.startswith("#!/usr/bin/env bash\n") and "set -euo pipefail" in text
    assert re.findall(r"^make ([\w-]+)", text, re.M) == ["test-all"]
    assert re.search(r"^test-all:.* lint\b", (REPOSITORY / "Makefile").read_text(), re.M)


def test_the_command_s_documentation_is_what_its_help_says():
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    check = [sys.executable, "docs/make_command.py", "--check"]
    result = subprocess.run(check, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
