"""Reward functions in a run: one of blocks trains, and a hostile one is refused at every turn while the run goes on."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from bench.homes import wait_for
from storage import registry, states
from storage.rewards import library
from tests.browser.conftest import OpenPage, picture
from tests.browser.new_run_page import launch, write_yaml
from tests.browser.rewards_page import do, ready, save
from tests.runs import ask_db

# What it tries at each step, and what the run's events then say.
TURNS = {
    'open("/etc/passwd").read()': "FileNotFoundError|PermissionError",
    "os._exit(0)": "ended",
    "ctypes.string_at(0)": "crashed",
    "while True: pass": "took longer",
    'socket.create_connection(("127.0.0.1", 1))': "OSError|PermissionError|not permitted",
    "os.fork()": "PermissionError|not permitted|processes",
    "bytearray(8 << 30)": "MemoryError|memory",
    "write_everywhere()": "channel|ended|closed",
    "signal_everyone()": "",  # there is nobody it could reach, and nothing happens
    "return ['high'] * len(completions)": "text|str|number",
    "return [float('inf')] * len(completions)": "inf",
    "raise SystemExit": "SystemExit|ended",
}
HOSTILE = (
    """
import ctypes, os, socket

def write_everywhere():
    for number in range(3, 40):
        try:
            os.write(number, b"junk" * 10_000)
        except OSError:
            pass

def signal_everyone():
    for pid in range(1, 100_000):
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            pass

def hostile(completions, trainer_state, **kwargs):
    turn = trainer_state.global_step
"""
    + "".join(f"    if turn == {turn}:\n        {body}\n" for turn, body in enumerate(TURNS))
    + """
    return [1.0] * len(completions)
"""
)
SPEC = """
name: hostile reward
data: {{limit: 64}}
rewards: [{{name: format}}, {{name: hostile, timeout: 1.0}}]
training: {{per_device_train_batch_size: 4, num_generations: 4, max_completion_length: 8, max_steps: {steps},
  save_strategy: "no", bf16: false, gradient_checkpointing: false}}
launch: {{reward_failures: 0}}
"""


def finished(page: Page, name: str) -> registry.Run:
    expect(page.locator(".gw-header .pill")).to_contain_text("Finished", timeout=240_000)
    return next(run for run in registry.runs() if run.name == name)


def test_a_hostile_function_is_refused_at_every_turn_while_the_run_goes_on(new_run: Page) -> None:
    wait_for("what ships", lambda: registry.published("built_in"))
    library.save("hostile", HOSTILE)
    write_yaml(new_run, SPEC.format(steps=len(TURNS) + 2))
    expect(new_run.locator(".verdict.blocking")).to_have_count(0)
    launch(new_run)
    new_run.wait_for_url("**/run?id=*")
    run = finished(new_run, "hostile reward")
    assert run.state == states.FINISHED and run.step == len(TURNS) + 2
    sql = (
        "SELECT step, group_concat(DISTINCT status) FROM score JOIN grp g ON g.id = grp JOIN reward_function f "
        "ON f.id = function WHERE f.name = 'hostile' GROUP BY step ORDER BY step"
    )
    statuses = dict(ask_db(run.folder, sql))
    said = dict(ask_db(run.folder, "SELECT step, message FROM event WHERE kind = 'reward'"))
    for step, (body, words) in enumerate(TURNS.items(), start=1):
        if not words:
            assert statuses[step] == "ok" and step not in said
            continue
        assert statuses[step] in ("error", "timeout"), (body, statuses)
        assert re.search(words, said[step]), (body, said[step])
    assert statuses[len(TURNS) + 1] == statuses[len(TURNS) + 2] == "ok"
    assert "root:" not in run.folder.log.read_text()
    new_run.get_by_text("Traceback").first.click()
    picture(new_run, "run-hostile-reward")


def test_a_function_of_blocks_trains(open_page: OpenPage, shared_dashboard: str) -> None:
    page = ready(open_page(f"{shared_dashboard}/rewards"))
    do(page, "Build")
    dialog = page.locator("dialog.building")
    dialog.locator("[name=name]").fill("has_answer")
    dialog.get_by_role("button", name="Contains").click()
    dialog.locator(".blocks li").first.locator("textarea").fill("<answer>")
    dialog.get_by_role("button", name="Open in the editor").click()
    save(page)
    do(page, "Use in a new run")
    page.wait_for_url("**/new*")
    page.get_by_label("Name", exact=True).fill("from blocks")
    page.get_by_label("Steps", exact=True).fill("3")
    expect(page.locator(".rewards .reward[data-name='has_answer']")).to_be_visible()
    expect(page.locator(".verdict.blocking")).to_have_count(0)
    launch(page)
    page.wait_for_url("**/run?id=*")
    run = finished(page, "from blocks")
    sql = (
        "SELECT text, value FROM completion JOIN score USING (grp, idx) JOIN reward_function f ON f.id = function "
        "WHERE f.name = 'has_answer'"
    )
    scored = ask_db(run.folder, sql)
    assert len(scored) >= 3 * 64
    assert all(value == float("<answer>" in text) for text, value in scored)
    assert (run.folder.rewards / "has_answer.py").read_text() == library.get("has_answer").code
