"""What reward functions failed at when they were last tried: how much of it is kept, and how it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupwise.storage.home import migrations
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.library.rewards import library
from groupwise.storage.registry import tried
from groupwise.storage.registry.tried import FailedTry

CODE = "def mine(completions, **kwargs):\n    return [1.0 for _ in completions]\n"
SECRET = "hf_" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA2cD4e"


def test_of_drafts_only_the_last_are_kept_and_of_what_is_saved_all(
    registry_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tried, "KEPT_DRAFTS", 3)
    saved = ("mine", library.save_reward("mine", CODE).hash)
    tried.note_try(*saved, 1, 2, "KeyError: 'a'")
    for number in range(6):
        tried.note_try("mine", f"{number:016x}", 1, 2, "KeyError: 'a'")
    assert list(tried.failed_tries()) == [saved, *(("mine", f"{number:016x}") for number in (3, 4, 5))]
    library.delete_reward("mine")  # a run can use what was saved of it all the same
    tried.note_try("mine", "f" * 16, 1, 2, "")
    assert saved in tried.failed_tries()


@pytest.mark.parametrize(("error", "shown"), [
    ("ValueError: two\n  lines\x1b[31m red \u202e back.", "ValueError: two lines [31m red back"),
    ("ValueError: say “no”", 'ValueError: say "no"'),
    (f"ValueError: {SECRET}", "ValueError: (secret hidden)"),
    ("x" * 5000, "x" * 159 + "…"),
    ("\n", ""),
    ("an odd one: \ud800", "an odd one: ?"),
])  # fmt: skip
def test_an_error_is_one_short_line_without_secrets(registry_home: Path, error: str, shown: str) -> None:
    tried.note_try("mine", "a" * 16, 1, 2, error)
    assert tried.failed_tries() == {("mine", "a" * 16): FailedTry(1, 2, shown)}
    tried.note_try("other", "a" * 16, 0, 2, "")
    tried.note_try("mine", "a" * 16, 0, 2, "")
    assert tried.failed_tries() == {}


def test_a_registry_of_before_gets_the_table_and_keeps_its_functions(tmp_path: Path) -> None:
    old = Database(tmp_path / "registry.db")
    migrations.registry.apply(old, stop_before="r007_reward_tried")
    old.table("reward_code").insert(
        {"name": "mine", "hash": "a" * 16, "code": CODE, "at": 1.0, "network": 0, "about": "{}"}
    )
    migrations.registry.apply(old)
    assert old.execute("SELECT count(*) FROM reward_tried").fetchone()[0] == 0
    assert old.execute("SELECT name FROM reward_code").fetchall() == [("mine",)]
    old.close()
