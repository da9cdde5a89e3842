"""What a try of one's own function came to is kept, for whoever launches a run with that code."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home import db, paths
from groupwise.storage.library.rewards import library
from groupwise.storage.registry import registry, tried
from groupwise.storage.registry.questions import SCORE
from groupwise.storage.registry.tried import FailedTry
from tests.support.workbench import answered, end_warm_hosts, group, own

SHARE = "def share(completions, **kwargs):\n    return [1 / float(one[-1]['content']) for one in completions]\n"
KEY = ("share", library.hash_of(SHARE))


@pytest.fixture(autouse=True)
def prepared(registry_home: Path) -> Iterator[None]:
    yield
    end_warm_hosts()


def try_on(*texts: str, code: str = SHARE, probe: bool = False) -> dict[str, Any]:
    return answered(SCORE, {"functions": [own(code)], "groups": [group(*texts, probe=probe)]})


def test_what_failed_when_it_was_last_tried_is_kept_until_it_does_not() -> None:
    library.save_reward("share", SHARE)
    try_on("1", "2")
    assert tried.failed_tries() == {}
    try_on("0", "2", "4")
    assert tried.failed_tries() == {KEY: FailedTry(1, 3, "ZeroDivisionError: float division by zero")}
    try_on("0", "two")
    assert tried.failed_tries()[KEY].failed == 2
    try_on("1", "2")
    assert tried.failed_tries() == {}


def test_code_that_is_tried_first_and_saved_then_is_known_however_its_lines_end() -> None:
    try_on("0", code=SHARE.replace("\n", "\r\n"))
    assert library.save_reward("share", SHARE).hash == KEY[1]
    assert list(tried.failed_tries()) == [KEY]


def test_probes_neither_tell_of_a_failure_nor_take_one_back() -> None:
    try_on("0", probe=True)
    assert tried.failed_tries() == {}
    try_on("0", "1")
    try_on("1", "2", probe=True)
    assert tried.failed_tries()[KEY].failed == 1


def test_code_that_cannot_be_loaded_and_what_takes_too_long_have_failed_on_all() -> None:
    try_on("1", "2", code="import nosuch\n" + SHARE)
    [(_, about)] = tried.failed_tries().items()
    assert (about.failed, about.of) == (2, 2) and "needs the package ‘nosuch’" in about.error
    stuck = own("def stuck(completions, **kwargs):\n    while True: pass\n", timeout=0.3)
    answered(SCORE, {"functions": [stuck, {"name": "format"}], "groups": [group("1")]})
    [late] = [one for (name, _), one in tried.failed_tries().items() if name == "stuck"]
    assert late.failed == 1 and late.error


def test_a_registry_that_is_held_keeps_nobody_from_scores(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked = own(SHARE)
    try_on("1")  # what scores is warm, and asks the registry for nothing more than a note
    real = db.open_writer
    monkeypatch.setattr(db, "open_writer", lambda *args, **kwargs: real(*args, **{**kwargs, "patience": 0.1}))
    with contextlib.closing(real(paths.registry_path(), journal="delete")) as other, caplog.at_level(logging.WARNING):
        other.execute("BEGIN IMMEDIATE")
        found = answered(SCORE, {"functions": [asked], "groups": [group("0", "2")]})
        other.execute("ROLLBACK")
    assert found["functions"][0]["errors"] == 1 and found["groups"][0]["completions"][1]["total"] == 0.5
    assert "could not be kept" in caplog.text
    with registry.read_registry() as index:
        assert index.execute("SELECT count(*) FROM reward_tried").fetchone()[0] == 0
