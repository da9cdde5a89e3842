"""The live parts against hostile text, odd numbers and any payload: what they escape, and a plain answer to all."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest

from groupwise.app.pages.run import checkpoints, config, group, groups, header, log, overview, same_prompt, stars
from groupwise.app.pages.run_list import changes, choices, columns, rows, runs_table
from groupwise.app.ui import live, topbar
from groupwise.storage.analysis.outcome import Outcome
from groupwise.storage.registry import commands, registry
from groupwise.storage.registry.notes import Note
from tests.support.one_run import SPEC, record

HOSTILE = [
    "<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "</pre></div><svg onload=alert(1)>", "${alert(1)}",
    "{{7*7}}", "\u202egpj.exe", "a\u200b\u2060\u200e\u00adb",
    "\x00\x07\x1b[31m", '" onmouseover="alert(1)', "<think>x</think>", "&lt;b&gt;",
    "javascript:alert(1)", "[a](javascript:alert(1))", "\ud800",
]  # fmt: skip
TAGS = re.compile(r"<(?!/?(?:article|header|footer|section|details|summary|span|div|pre|b|i|p|bdi|button|code|wbr)\b)")
Server = Callable[[Any], dict[str, Any]]
OF_A_RUN: list[Server] = [
    header.run_status, header.command_run, overview.draw_board, groups.groups_at_step, groups.show_group,
    groups.full_text, same_prompt.prompt_history, stars.annotate_completion,
    config.config_files, config.effective_settings, log.tail, checkpoints.list_checkpoints,
]  # fmt: skip


@pytest.fixture
def run_id(no_worker: None) -> str:
    return registry.create_run(SPEC, name="one", model="starter", data="task:arithmetic")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_in_a_group(text: str) -> None:
    found = {
        "prompt": [{"role": text, "content": text}, {"role": "user", "content": text}], "columns": {text: text},
        "tied": False, "history": [{"id": 1, "step": 1, "mode": text, "mean": 1.0}] * 2, "id": 1,
        "times": 2, "over": 1, "prompt_id": 1, "mode": "train", "step": 1, "attempt": 1, "counts": False,
        "completions": [
            {"idx": 0, "text": text, "tokens": 1, "truncated": 1, "reward": 1.0, "advantage": 0.0,
             "scores": [{"name": text, "weight": 1.0, "value": None, "status": text}]}
        ],
    }  # fmt: skip
    said = Note(1, 0, True, text, 0.0)
    drawn = group.draw_group(found, by_reward=True, notes={0: said})
    assert not TAGS.search(drawn)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u00ad\u200b\u200e\u202e\u2060]", drawn)
    assert 'onmouseover="' not in drawn


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_in_the_table_of_runs(run_id: str, text: str) -> None:
    run = registry.get_run(run_id)
    assert run is not None
    words = {"name": text, "model": text, "data": text, "state": text, "note": text, "tags": [text, text]}
    evil = registry.Run(**{**run.__dict__, **words})
    facts = Outcome(text, 1.0, {text: 1.0}, {text: text})
    keys = [*columns.KNOWN, f"set:{text}", f"metric:{text}"][2:]
    row = columns.Row(evil, facts, time.time(), 3)
    head = rows.table_head(keys, f"-set:{text}")
    drawn = head + rows.run_row(row, keys, "--r1") + rows.deleted_row(row, keys, time.time())
    assert not re.search(r"<(?!/?(?:tr|th|td|div|button|span|a|bdi|b|i|input)\b)", drawn)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u00ad\u200b\u200e\u202e\u2060]", drawn)
    assert 'onmouseover="' not in drawn


OF_RUNS: list[Server] = [
    runs_table.draw_runs, runs_table.matching_runs, choices.offered_columns, *changes.FUNCTIONS, topbar.worker_status,
]  # fmt: skip


@pytest.mark.parametrize("function", [*OF_A_RUN, *OF_RUNS])
@pytest.mark.parametrize(
    "payload",
    [None, 7, "x", [], {}, {"run": None}, {"run": 7}, {"run": "../../etc"}, {"run": "a/b"}, {"run": "\0"},
     {"run": "nope"}, {"run": "x" * 10_000}, {"run": ["one"]}, {"search": 7, "mark": {}},
     {"ids": "one"}, {"ids": [1, None]}, {"ids": ["nope"]}, {"states": [7], "columns": {}, "sort": [], "shown": -1}],
)  # fmt: skip
def test_any_payload_gets_a_plain_answer_and_changes_nothing(run_id: str, function: Server, payload: Any) -> None:
    answer = function(payload)
    assert isinstance(answer, dict)
    json.dumps(answer)
    if function in OF_A_RUN:
        assert answer.get("sentence") or answer.get("missing")
    assert commands.open_commands() == []


@pytest.mark.parametrize("function", OF_A_RUN)
@pytest.mark.parametrize("odd", [None, -1, True, 1.5, "1", [], {}, 2**70])
def test_odd_numbers_are_taken_as_none_given(run_id: str, function: Server, odd: Any) -> None:
    record(run_id).close()
    names = (
        "after", "event", "step", "group", "at", "mode", "do", "sorted", "mark", "pick", "diff", "idx", "prompt",
        "then", "now", "each", "star", "words",
    )  # fmt: skip
    answer = function({"run": run_id} | dict.fromkeys(names, odd))
    assert isinstance(answer, dict)
    assert "inside Groupwise" not in str(answer.get("sentence"))
    assert commands.open_commands() == []


def test_what_fails_inside_comes_back_as_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(payload: live.Payload) -> dict[str, Any]:
        raise RuntimeError("secret /path")

    answer = live.answer(broken)({})
    assert "Something went wrong" in answer["sentence"]
    assert "secret" not in answer["sentence"]
