"""Reward functions in a run: one of blocks trains, and a hostile one is refused at every turn while the run goes on."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Page, expect

from groupwise.storage.library.rewards import library
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Shipped
from tests.browser.conftest import OpenPage, picture
from tests.browser.new_run_page import launch, write_yaml
from tests.browser.rewards_page import do, ready, save
from tests.support.bad_input import BAD, FLOOD, HELPERS, ONE_ROW, Bad
from tests.support.homes import wait_for
from tests.support.runs import ask_db

# What `hostile` tries at each step. The third writing to the channel is counted and not said: the first two were.
TURNS = {
    **{name: bad for name, bad in BAD.items() if name != "a forged reply"},
    "an exception on one row": ONE_ROW,
    "signals": Bad("signal_everyone()", ""),  # there is nobody it could reach, and nothing happens
}
HOSTILE = (
    HELPERS
    + """
def signal_everyone():
    for pid in range(1, 100_000):
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            pass

def hostile(completions, trainer_state, **kwargs):
    turn = trainer_state.global_step
"""
    + "".join(f"    if turn == {turn}:\n        {bad.body}\n" for turn, bad in enumerate(TURNS.values()))
    + "    return [1.0] * len(completions)\n"
)
# Prints a gigabyte at the first step.
LOUD = f"""
def loud(completions, trainer_state, **kwargs):
    if trainer_state.global_step == 0:
        {FLOOD.body}
    return [1.0] * len(completions)
"""
# What no check can see without running it: in the end, it asks for a column that there is none of.
ASKS = """
def renamed(function):
    def inner(completions, anser):
        return function(completions)
    return inner

@renamed
def asks(completions, **kwargs):
    return [1.0] * len(completions)
"""
ABSENT = "import no_such_package\n\ndef absent(completions, **kwargs):\n    return [1.0] * len(completions)\n"
SPEC = """
name: hostile reward
data: {{limit: 64}}
rewards: [{{name: format}}, {{name: hostile, timeout: 1.5}}, {{name: loud, timeout: 60}}, {{name: asks}}]
training: {{per_device_train_batch_size: 4, num_generations: 4, max_completion_length: 8, max_steps: {steps},
  save_strategy: "no", bf16: false, gradient_checkpointing: false}}
launch: {{reward_failures: 0}}
"""
STATUSES = (
    "SELECT step, group_concat(DISTINCT status) FROM score JOIN grp g ON g.id = grp JOIN reward_function f "
    "ON f.id = function WHERE f.name = '{name}' GROUP BY step ORDER BY step"
)


def finished(page: Page, name: str) -> registry.Run:
    expect(page.locator(".gw-header .pill")).to_contain_text("Finished", timeout=240_000)
    return next(run for run in registry.list_runs() if run.name == name)


def events_of(run: registry.Run, name: str) -> dict[int, str]:
    rows = ask_db(run.folder, "SELECT step, message, data FROM event WHERE kind = 'reward'")
    return {step: message for step, message, data in rows if json.loads(data)["function"] == name}


def test_a_hostile_function_is_refused_at_every_turn_while_the_run_goes_on(new_run: Page) -> None:
    wait_for("what ships", lambda: registry.read_fact(Shipped))
    for name, text in (("hostile", HOSTILE), ("loud", LOUD), ("asks", ASKS), ("absent", ABSENT)):
        library.save_reward(name, text)
    steps = len(TURNS) + 2
    write_yaml(new_run, SPEC.format(steps=steps).replace("name: asks", "name: absent"))
    blocking = new_run.locator(".verdict.blocking")
    absent = "“absent” cannot be loaded: It needs the package ‘no_such_package’"
    expect(blocking.first).to_contain_text(absent, timeout=180_000)  # the worker's own word, once it is warm
    write_yaml(new_run, SPEC.format(steps=steps))
    expect(blocking).to_have_count(0)
    launch(new_run)
    new_run.wait_for_url("**/run?id=*")
    run = finished(new_run, "hostile reward")
    assert run.state == states.FINISHED and run.step == steps
    statuses, said = dict(ask_db(run.folder, STATUSES.format(name="hostile"))), events_of(run, "hostile")
    for step, (name, bad) in enumerate(TURNS.items(), start=1):
        if name == "signals":
            assert statuses[step] == "ok" and step not in said
            continue
        expected = {"error", "ok"} if bad is ONE_ROW else {bad.status}
        assert set(statuses[step].split(",")) == expected, (name, statuses)
        assert re.search(bad.words.removeprefix("^"), said[step]), (name, said[step])
        assert ("# here" in bad.body) == (", line " in said[step]) or bad is ONE_ROW, (name, said[step])
    assert statuses[steps - 1] == statuses[steps] == "ok"
    assert {statuses for _, statuses in ask_db(run.folder, STATUSES.format(name="loud"))} == {"ok"}
    assert re.search(FLOOD.words, events_of(run, "loud")[1])
    assert {statuses for _, statuses in ask_db(run.folder, STATUSES.format(name="asks"))} == {"error"}
    assert "takes ‘anser’" in events_of(run, "asks")[1]
    log = run.folder.log.read_text()
    assert "root:" not in log and len(log) < 1 << 20
    new_run.locator(".gw-overview summary", has_text="Traceback").first.click()
    picture(new_run, "run-hostile-reward")


def test_a_function_of_blocks_trains(open_page: OpenPage, shared_dashboard: str) -> None:
    page = ready(open_page(f"{shared_dashboard}/rewards"))
    do(page, "Build without code")
    page.locator("[name=name]").fill("has_answer")
    page.locator(".kinds").get_by_role("button", name="Contains words").click()
    page.locator(".blocks li").first.locator("textarea").fill("<answer>")
    page.locator("select.data").select_option("preset:quickstart")  # else it would begin from the run above
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
    assert (run.folder.rewards / "has_answer.py").read_text() == library.get_reward("has_answer").code
