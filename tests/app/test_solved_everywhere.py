"""What of a run is called solved: every page and the diagnostics go by one rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.compare import compare
from groupwise.app.pages.compare import prompts as compare_prompts
from groupwise.app.pages.run import groups, overview, same_prompt, statistics
from groupwise.app.pages.run.solver import solved_criterion
from groupwise.storage.analysis import outcome
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.evidence_reader import gather
from groupwise.storage.analysis.doctor.examine import examine
from groupwise.storage.home import paths
from groupwise.storage.library.rewards import builder
from groupwise.storage.record import metrics, run_files
from groupwise.storage.record.group_metrics import KINDS
from groupwise.storage.record.step_record import Completion, Group
from groupwise.storage.registry import registry
from tests.support.made_runs import made_run

STEPS = 12
BLOCKS = [builder.Block("number_equals"), builder.Block("length_between")]
ANY_DIGIT = "def mine(completions, **kwargs):\n    return [float(any(map(str.isdigit, one))) for one in completions]\n"
SAYS_NO_COLUMN = "reads no column of the data"
LONGER = "def mine(completion_ids, answer=None, **kwargs):\n    return [len(ids) / 48 for ids in completion_ids]\n"
BY_HAND = "def mine(completions, **kwargs):\n    return [0.5 for _ in completions]\n"


def ran(
    name: str,
    code: str,
    differs: float | None,
    usual: float = 0.5,
    function: str = "mine",
    *,
    other: float | None = None,
) -> str:
    """A run of `function`, which gives `usual`, and, once a step, `differs`; and `other` once in each group."""

    def make_group(step: int, n: int) -> Group:
        given = [usual, usual, usual if other is None else other, usual if differs is None or n else differs]
        made = [Completion(f"{step} {n} {at}", 4, False, one, 0.0, [(one, "ok")]) for at, one in enumerate(given)]
        return Group("train", step, f"prompt {n}", {}, made)

    def logged(step: int) -> dict[str, float | None]:
        apart = 0.0 if differs is None else step / STEPS
        mean = usual + ((differs or 0.0) - usual) * apart / 16
        return {"reward": mean, f"rewards/{function}/mean": mean, f"rewards/{function}/std": apart / 10}

    run_id = made_run(name, STEPS, functions=(function,), make_group=make_group, metrics=logged)
    folder = paths.run_folder(run_id).rewards
    folder.mkdir(exist_ok=True)
    (folder / f"{function}.py").write_text(code, encoding="utf-8")
    return run_id


def solved_on_pages(run_id: str, beside: str) -> dict[str, Any]:
    """What each page says is solved; None where it says nothing. `beside`: another run with the same prompts."""
    run = registry.get_run(run_id)
    spec = run_files.spec_of(run.folder) if run else None
    assert run is not None and spec is not None
    step = {"run": run_id, "step": STEPS, "pick": "worst"}
    told = overview.told_by_code(run, spec)
    (line, *_) = compare.compare_runs({"ids": [run_id]})["runs"]
    shared = compare_prompts.shared_prompts({"ids": [run_id, beside]})["rows"]
    evidence = gather(run.folder.db, spec)
    times = same_prompt.prompt_history({"run": run_id, "prompt": 1})["times"]
    return {
        "known on Overview": told["known"],
        "groups": [one["right"] for one in groups.groups_at_step(step)["groups"]],
        "compare": line["final"]["solved"],
        "prompts of compare": {one["runs"][0]["last"]["solved"] for one in shared},
        "prompt over time": {time["solved"] for time in times},
        "statistics": solved_criterion(run, [reward.name for reward in spec.rewards])[0],
        "runs": outcome.read_outcome(run, outcome.published_surroundings()).metrics.get("groups/solved"),
        "diagnostics": evidence.right_is_told and not evidence.scale_is_other,
    }


NOTHING: dict[str, Any] = {
    "known on Overview": False, "groups": ["–"] * 4, "compare": None, "prompts of compare": {None},
    "prompt over time": {None}, "statistics": "", "runs": None, "diagnostics": False,
}  # fmt: skip
NONE_SOLVED = {
    "known on Overview": True, "groups": ["0/4"] * 4, "compare": 0.0, "prompts of compare": {0.0},
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


def test_what_gave_everything_all_that_it_could_calls_nothing_right_unless_it_compares_with_the_answer(
    registry_home: Path,
) -> None:
    """As it was seen of a function of blocks that gave 1 to every completion: “–” on Overview, “8/8” and “100 %” on the
    other pages."""
    blocks = builder.to_code("mine", BLOCKS, "")
    ones, seldom = ran("ones", blocks, None, 1.0), ran("seldom", blocks, 0.0)
    assert solved_on_pages(ones, seldom) == NOTHING | {"known on Overview": True}
    listed = groups.groups_at_step({"run": ones, "step": STEPS})
    assert listed["verdict"].startswith("All 4 groups are tied: every completion scored the same")
    shown = groups.show_group({"run": ones, "group": listed["groups"][0]["id"]})["html"]
    assert "the most that is possible" not in shown
    ties = statistics.draw_panel({"run": ones, "panel": "ties"})
    assert ties["says"] == "All 24 groups of steps 7–12 are tied: no learning signal from them."
    answers = ran("answers", "", None, 1.0, "correctness")
    assert solved_on_pages(answers, seldom) == NONE_SOLVED | {
        "groups": ["4/4"] * 4, "compare": 1.0, "prompts of compare": {1.0}, "prompt over time": {1.0},
        "statistics": "correctness", "runs": 1.0,
    }  # fmt: skip
    assert "all at top score: 1.00 of " in groups.groups_at_step({"run": answers, "step": STEPS})["verdict"]


@pytest.mark.parametrize("usual", [0.0, 0.01, 0.5, 1.0])
def test_of_one_score_throughout_overview_and_statistics_say_the_same(registry_home: Path, usual: float) -> None:
    """As it was seen: “all at top score 100 %” on Overview, “tied in between 100 %” on Statistics; and “none right”
    beside “all at lowest score”."""
    by_hand = same_on_both(ran("by hand", BY_HAND, None, usual))
    assert by_hand["tied otherwise" if usual else "all at lowest score"] == 1.0
    if usual in (0.0, 1.0):
        same_on_both(ran("blocks", builder.to_code("mine", BLOCKS, ""), None, usual))


def test_of_one_score_throughout_it_is_known_of_answers_what_is_right(registry_home: Path) -> None:
    assert same_on_both(ran("wrong", "", None, 0.0, "correctness"))["none right"] == 1.0
    assert same_on_both(ran("right", "", None, 1.0, "correctness"))["all at top score"] == 1.0


def same_on_both(run_id: str) -> dict[str, float]:
    """What Overview's chart of tied groups and Statistics' say of a run, by their words; of one score throughout."""
    ties = statistics.draw_panel({"run": run_id, "panel": "ties"})
    panels = [panel for section in overview.draw_board({"run": run_id})["sections"] for panel in section["panels"]]
    (chart,) = [panel for panel in panels if panel["title"] == "tied groups"]
    words = dict(zip([either[0] for either in chart["keys"]], chart["labels"], strict=True))
    record = paths.run_folder(run_id).db
    shares = {kind: metrics.value_now(record, f"groups/{'tied_other' if kind == 'other' else kind}") for kind in KINDS}
    assert shares == {kind: ties[kind][-1] for kind in KINDS}
    told = {words[f"groups/{'tied_other' if kind == 'other' else kind}"]: share for kind, share in shares.items()}
    assert list(told) == [ties["words"][kind] for kind in KINDS]
    return {word: share or 0.0 for word, share in told.items()}


def test_what_gave_1_once_calls_that_right_whoever_wrote_it(registry_home: Path) -> None:
    reads = "def mine(completions, **kwargs):\n    return [float(kwargs['answer'][0] in one) for one in completions]\n"
    by_hand = ran("once", reads, 1.0)
    told = solved_on_pages(by_hand, ran("beside", reads, 1.0))
    assert (sorted(told["groups"]), told["compare"], told["statistics"]) == (["0/4"] * 3 + ["1/4"], 1 / 16, "mine")


def test_what_grades_the_form_calls_nothing_right_though_it_gave_1(registry_home: Path) -> None:
    """As it was seen of a reward for length alone: “<1 % of completions were right”, on Overview and in Runs."""
    form, beside = ran("form", LONGER, 1.0, other=0.75), ran("beside", BY_HAND, 0.0)
    assert solved_on_pages(form, beside) == NOTHING
    run = registry.get_run(form)
    assert run is not None and "right" not in outcome.read_outcome(run, outcome.published_surroundings()).verdict
    report = examine(gather(run.folder.db, run_files.spec_of(run.folder)))
    assert "right" not in report.headline
    assert overview.draw_board({"run": form})["graded"] == SAYS_NO_COLUMN
    reads = LONGER.replace("len(ids) / 48", "len(ids) / 48 if answer else 0")
    assert solved_on_pages(ran("reads", reads, 1.0, other=0.75), form)["compare"] == 1 / 16, "it reads the answer"


def test_blocks_that_look_at_the_form_alone_and_grade_it_call_nothing_right(registry_home: Path) -> None:
    """As it was seen of one block for length: “0 % of completions are right”, and prompts that were too hard for it."""
    length = builder.to_code("mine", [builder.Block("length_between")], "")
    graded, beside = ran("graded", length, 0.0, other=0.75), ran("beside", BY_HAND, 0.0)
    assert solved_on_pages(graded, beside) == NOTHING | {"known on Overview": True}
    assert overview.draw_board({"run": graded})["graded"] == SAYS_NO_COLUMN
    said = ran("said", length, 0.0)
    assert solved_on_pages(said, beside)["compare"] is None, "nor where it only says yes or no"


def test_a_function_that_reads_no_column_and_pays_nearly_all_is_too_easy_and_calls_nothing_right(
    registry_home: Path,
) -> None:
    """As it was seen: 2,558 of 2,560 completions got 1, which was “scored correct”, and larger groups were proposed."""
    easy, beside = ran("easy", ANY_DIGIT, None, 1.0), ran("beside", BY_HAND, 0.0)
    assert solved_on_pages(easy, beside) == NOTHING
    assert overview.draw_board({"run": easy})["graded"] == SAYS_NO_COLUMN
    code = {"any": ANY_DIGIT, "reads": ANY_DIGIT.replace("float(", "float(bool(kwargs['answer']) and "), "": ""}
    first = {name: examine(nearly_all_1(name or "unknown", text)).verdicts[0] for name, text in code.items()}
    told = first["any"]
    assert (told.title, told.level) == ("mine is too easy to earn", "problem")
    assert "gave 1, the most it gave, to >99\u202f% of completions and reads no column of the data" in told.sentence
    assert [change.edit_reward for change in told.changes] == ["mine"]
    assert [first[name].key for name in ("reads", "")] == ["too_easy", "too_easy"], "what it reads is not known"
    late = examine(nearly_all_1("late", code["reads"], apart=30)).verdicts[0]
    assert late.key == "tied", "nothing was learned, though one score alone was no top until then"


def nearly_all_1(name: str, code: str, apart: int = 3) -> Evidence:
    """What is known of a run whose function of this code gave 1 to all completions but two, one at step `apart`."""

    def make_group(step: int, n: int) -> Group:
        given = [0.0 if (step, n, at) in ((apart, 1, 2), (30, 2, 5)) else 1.0 for at in range(8)]
        made = [Completion(f"{step} {n} {at}", 4, False, one, 0.0, [(one, "ok")]) for at, one in enumerate(given)]
        return Group("train", step, f"prompt {n}", {}, made)

    def logged(step: int) -> dict[str, float | None]:
        mean = 1.0 - 1 / 64 * (step in (apart, 30))
        return {"reward": mean, "rewards/mine/mean": mean, "rewards/mine/std": (1 - mean) ** 0.5}

    run_id = made_run(name, 40, groups=8, functions=("mine",), make_group=make_group, metrics=logged)
    folder = paths.run_folder(run_id)
    folder.rewards.mkdir(exist_ok=True)
    if code:
        (folder.rewards / "mine.py").write_text(code, encoding="utf-8")
    return gather(folder.db, run_files.spec_of(folder))


def test_a_page_that_was_there_before_the_code_is_told_of_it_when_the_run_begins(registry_home: Path) -> None:
    run_id = ran("early", builder.to_code("mine", BLOCKS, ""), None)
    code = paths.run_folder(run_id).rewards / "mine.py"
    frozen = code.read_text(encoding="utf-8")
    code.unlink()
    before = overview.draw_board({"run": run_id})
    tellers = {panel["teller"] for section in before["sections"] for panel in section["panels"]} - {""}
    assert (before["most"], before["known"], tellers) == (None, False, {"mine"})
    code.write_text(frozen, encoding="utf-8")
    begun = overview.draw_board({"run": run_id, "drawn": True, "after": 1})
    assert (begun["most"], begun["known"]) == (2.0, True), "by its weight of 2"
    first = overview.draw_board({"run": run_id, "drawn": True, "after": 0})
    assert (first["reset"], first["most"]) == (True, 2.0), "also where there was no record before"
    later = overview.draw_board(
        {"run": run_id, "drawn": True, "after": begun["seq"], "event": begun["events"][-1]["id"]}
    )
    assert "known" not in later, "and no poll reads the code again"


def test_what_scores_the_same_completion_differently_calls_nothing_right(registry_home: Path) -> None:
    """As it was seen of a function that draws 0 or 1: “always right” prompts in Statistics, and a share of right."""
    code = "def mine(completions, answer=None, **kwargs):\n    return [random() > 0.5 for _ in answer]\n"

    def scoring(name: str, score: Callable[[int, int], float]) -> str:
        def make_group(step: int, n: int) -> Group:
            given = [score(step * 4 + n, at) for at in range(4)]
            made = [Completion(f"{at // 2}", 4, False, one, 0.0, [(one, "ok")]) for at, one in enumerate(given)]
            return Group("train", step, f"prompt {n}", {}, made)

        run_id = made_run(name, STEPS, functions=("mine",), make_group=make_group)
        folder = paths.run_folder(run_id).rewards
        folder.mkdir(exist_ok=True)
        (folder / "mine.py").write_text(code, encoding="utf-8")
        return run_id

    drawn = scoring("drawn", lambda group, at: float((group * 7 + at * 5 + group * at) % 3 == 0))
    by_text = scoring("by text", lambda group, at: float(at // 2))
    assert solved_on_pages(drawn, by_text) == NOTHING
    assert overview.draw_board({"run": drawn})["graded"] == "gives the same completion different scores"
    assert solved_on_pages(by_text, drawn)["statistics"] == "mine"
    evidence = gather(paths.run_folder(drawn).db, run_files.spec_of(paths.run_folder(drawn)))
    assert "by_chance" in [verdict.key for verdict in examine(evidence).verdicts]
