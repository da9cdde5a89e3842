"""What of a run is called solved: every page and the diagnostics go by one rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groupwise.app.pages.compare import compare
from groupwise.app.pages.compare import prompts as compare_prompts
from groupwise.app.pages.run import groups, overview, same_prompt, statistics
from groupwise.storage.analysis import outcome
from groupwise.storage.analysis.doctor.evidence_reader import gather
from groupwise.storage.home import paths
from groupwise.storage.library.rewards import builder
from groupwise.storage.record import run_files
from groupwise.storage.record.step_record import Completion, Group
from groupwise.storage.registry import registry
from tests.support.made_runs import made_run

STEPS = 12
BLOCKS = [builder.Block("number_equals"), builder.Block("length_between")]
BY_HAND = "def mine(completions, **kwargs):\n    return [0.5 for _ in completions]\n"


def ran(name: str, code: str, differs: float | None) -> str:
    """A run of `mine`, which gives 0.5, and, once a step, `differs`."""

    def make_group(step: int, n: int) -> Group:
        given = [0.5, 0.5, 0.5, 0.5 if differs is None or n else differs]
        made = [Completion(f"{step} {n} {at}", 4, False, one, 0.0, [(one, "ok")]) for at, one in enumerate(given)]
        return Group("train", step, f"prompt {n}", {}, made)

    def logged(step: int) -> dict[str, float | None]:
        apart = 0.0 if differs is None else step / STEPS
        mean = 0.5 + ((differs or 0.0) - 0.5) * apart / 16
        return {"reward": mean, "rewards/mine/mean": mean, "rewards/mine/std": apart / 10}

    run_id = made_run(name, STEPS, functions=("mine",), make_group=make_group, metrics=logged)
    folder = paths.run_folder(run_id).rewards
    folder.mkdir(exist_ok=True)
    (folder / "mine.py").write_text(code, encoding="utf-8")
    return run_id


def solved_on_pages(run_id: str, beside: str) -> dict[str, Any]:
    """What each page says is solved; None where it says nothing. `beside`: another run with the same prompts."""
    run = registry.get_run(run_id)
    assert run is not None
    spec = run_files.spec_of(run.folder)
    step = {"run": run_id, "step": STEPS, "pick": "worst"}
    instead = overview.told_by_code(run, spec)["teller"]
    (line, *_) = compare.compare_runs({"ids": [run_id]})["runs"]
    shared = compare_prompts.shared_prompts({"ids": [run_id, beside]})["rows"]
    evidence = gather(run.folder.db, spec)
    times = same_prompt.prompt_history({"run": run_id, "prompt": 1})["times"]
    return {
        "overview, in place of its chart": instead,
        "groups": [one["right"] for one in groups.groups_at_step(step)["groups"]],
        "compare": line["final"]["solved"],
        "prompts of compare": {one["runs"][0]["last"]["solved"] for one in shared},
        "prompt over time": {time["solved"] for time in times},
        "statistics": statistics.solved_criterion(run, ["mine"])[0],
        "runs": outcome.read_outcome(run, outcome.published_surroundings()).metrics.get("groups/solved"),
        "diagnostics": evidence.right_is_told and not evidence.scale_is_other,
    }


NOTHING = {
    "overview, in place of its chart": "mine", "groups": ["–"] * 4, "compare": None, "prompts of compare": {None},
    "prompt over time": {None}, "statistics": "", "runs": None, "diagnostics": False,
}  # fmt: skip
NONE_SOLVED = {
    "overview, in place of its chart": "", "groups": ["0/4"] * 4, "compare": 0.0, "prompts of compare": {0.0},
    "prompt over time": {0.0}, "statistics": "mine", "runs": 0.0, "diagnostics": True,
}  # fmt: skip


def test_what_could_give_1_and_never_did_is_0_percent_and_another_scale_is_nothing(registry_home: Path) -> None:
    """As it was seen of three runs with one reward: “–”, “<1 %” and “0 %”, each on another page."""
    blocks = builder.to_code("mine", BLOCKS, "")
    flat, seldom, by_hand = ran("a", blocks, None), ran("b", blocks, 0.0), ran("c", BY_HAND, 0.0)
    assert solved_on_pages(flat, seldom) == NONE_SOLVED
    assert solved_on_pages(seldom, flat) == NONE_SOLVED
    assert solved_on_pages(by_hand, flat) == NOTHING
    assert solved_on_pages(ran("d", BY_HAND, None), flat) == NOTHING


def test_what_gave_1_once_calls_that_right_whoever_wrote_it(registry_home: Path) -> None:
    by_hand = ran("once", BY_HAND, 1.0)
    told = solved_on_pages(by_hand, ran("beside", BY_HAND, 1.0))
    assert (sorted(told["groups"]), told["compare"], told["statistics"]) == (["0/4"] * 3 + ["1/4"], 1 / 16, "mine")


def test_a_page_that_was_there_before_the_code_is_told_of_it_when_the_run_begins(registry_home: Path) -> None:
    run_id = ran("early", builder.to_code("mine", BLOCKS, ""), None)
    code = paths.run_folder(run_id).rewards / "mine.py"
    frozen = code.read_text(encoding="utf-8")
    code.unlink()
    before = overview.draw_board({"run": run_id})
    tellers = {panel["teller"] for section in before["sections"] for panel in section["panels"]} - {""}
    assert (before["most"], tellers) == (None, {"mine"})
    code.write_text(frozen, encoding="utf-8")
    begun = overview.draw_board({"run": run_id, "drawn": True, "after": 1})
    assert (begun["most"], begun["teller"]) == (2.0, ""), "by its weight of 2"
    later = overview.draw_board(
        {"run": run_id, "drawn": True, "after": begun["seq"], "event": begun["events"][-1]["id"]}
    )
    assert "teller" not in later, "and no poll reads the code again"
