"""What used to end a run at its first step, or to let it train for nothing, in one small training; and what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from groupwise.app.core.end_reason import headline_and_rest
from groupwise.storage.home import files, paths
from groupwise.storage.library.rewards import library
from groupwise.storage.record import run_files
from groupwise.worker.data.source_rows import ROW
from groupwise.worker.training import train, why_failed
from groupwise.worker.training.failures import FIRST_CALLS, Failures
from groupwise.worker.training.scoring import Note
from tests.support.runs import ask_db, make_spec, queue

pytestmark = pytest.mark.usefixtures("keep_signal_handler")

# Names of parameters on the way from the dataset to a reward function, ours and TRL's.
COLUMNS = ("self", "cls", "args", "batch", "row", "rows", "name", "function", "parameters", "timeout", "inputs", "chat",
           "trainer_state", "log_extra", "log_metric", "prompts", "completions", "environment", "model")  # fmt: skip
SEEN = """
def mine(completions, log_extra, **kwargs):
    log_extra("seen", [kwargs["self"][0] + kwargs["timeout"][0] + str(kwargs["name"][0])] * len(completions))
    return [float(len(c[-1]["content"]) if isinstance(c, list) else len(c)) for c in completions]
"""
# Fails at the first call, and then for the first of its rows alone.
STRICT = """
FAILED = []
def strict(completions, answer, **kwargs):
    if len(FAILED) < 2:
        FAILED.append(answer)
        raise ValueError(f"answer {answer[0]}")
    return [0.0] * len(completions)
"""
APART = "def apart(completions, **kwargs):\n    return [float(n) for n in range(len(completions))]\n"
NOTHING = "def nothing(completions, **kwargs):\n    return [None] * len(completions)\n"


def test_columns_of_any_name_train_and_what_is_left_out_or_never_scores_is_an_event(registry_home: Path) -> None:
    """A column called self was a second value for an argument: the run ended at step 0."""
    rows = [{"question": f"{n}+1?", "answer": str(n + 1), **dict.fromkeys(COLUMNS, "x")} for n in range(20)]
    rows = [*({**rows[0], "question": empty} for empty in (None, "", "  ")), *rows]
    (paths.data_folder() / "odd.jsonl").write_text("\n".join(map(json.dumps, rows)))
    library.save_reward("mine", SEEN)
    library.save_reward("nothing", NOTHING)
    library.save_reward("strict", STRICT)
    rewards = [{"name": "format"}, {"name": "mine"}, {"name": "nothing"}, {"name": "strict"}]
    folder = queue(make_spec(data={"source": "file:odd.jsonl", "limit": None, "shuffle": 5}, rewards=rewards))
    train.main(folder.id)
    record = files.read_json(folder.exit)
    assert isinstance(record, dict) and record["outcome"] == "finished", record
    logged = [json.loads(str(row)) for (row,) in ask_db(folder, "SELECT columns FROM extra")]
    assert {one["seen"] for one in logged} == {"xxx"}
    said = [message for (message,) in ask_db(folder, "SELECT message FROM event WHERE kind = 'warning' ORDER BY id")]
    assert said == [
        "3 of 23 rows have no prompt, and are left out: “question” is empty there.",
        f"nothing has not scored once: it gave None to all 20 completions of its first {FIRST_CALLS} calls, so nothing "
        "is learned from it. Check the columns and parameters that it uses.",
    ]
    ((failed,),) = ask_db(folder, "SELECT message FROM event WHERE kind = 'reward'")
    found = re.search(r"ValueError: answer (\d+), line 6, at row (\d+) of the data", str(failed))
    assert found and int(found[2]) == int(found[1]) + 3, failed  # the rows that ask nothing are counted, too
    columns = {name for (row,) in ask_db(folder, "SELECT columns FROM prompt") for name in json.loads(str(row))}
    assert "question" in columns and ROW not in columns
    asked = {str(prompt) for (prompt,) in ask_db(folder, "SELECT prompt FROM prompt")}
    assert asked and not [prompt for prompt in asked if "None" in prompt]


def test_a_function_that_scored_once_or_fails_is_not_said_to_have_never_scored() -> None:
    failures = Failures(0)
    none, some = Note("a", ["none"] * 4), Note("b", ["none", "ok"])
    wrong = Note("c", ["error"], [{"row": None, "message": "No.", "line": None, "traceback": ""}])
    said = [event.message for _ in range(FIRST_CALLS + 3) for event in failures.saw([none, some, wrong])]
    assert [message for message in said if "not scored once" in message] == [
        "a has not scored once: it gave None to all 20 completions of its first 5 calls, so nothing is learned "
        "from it. Check the columns and parameters that it uses."
    ]


def test_what_ends_the_run_is_said_with_the_same_count_in_the_event_and_in_the_reason() -> None:
    """As it was seen: “in 5 calls in a row” above an event, and so a verdict, that said “(4 times)”."""
    failures = Failures(5)
    failed = Note("mine", ["error"] * 4, [{"row": None, "message": "KeyError: 'answer'", "line": 3}])
    events = [[event.message for event in failures.saw([failed])] for _ in range(5)]
    assert failures.reason is not None and "failed in 5 calls in a row" in failures.reason
    assert [len(said) for said in events] == [1, 1, 0, 1, 1]
    assert events[4][0].endswith("line 3. 5 calls failed like this.")


def test_calls_that_failed_before_the_last_in_a_row_are_counted_in_the_reason_as_in_the_event() -> None:
    """As it was seen of a function that fails at random: “in 5 calls in a row” beside “the last of 16 calls”."""
    failures, scored = Failures(3), Note("mine", ["ok"] * 4)
    failed = Note("mine", ["error"] * 4, [{"row": None, "message": "ValueError: no luck", "line": 3}])
    calls = [failed, failed, scored, failed, failed, failed]
    said = [event.message for note in calls for event in failures.saw([note])]
    assert failures.reason is not None and "“mine” failed in 5 calls, the last 3 in a row: " in failures.reason
    assert said[-1].endswith("5 calls failed like this.")
    assert headline_and_rest(failures.reason)[0].endswith("failed in 5 calls, the last 3 in a row")


def test_the_row_of_the_last_failure_is_not_said_to_have_failed_each_time() -> None:
    """“at row 1,600 of the data (5 times)” read as if that row had failed five times."""
    failures = Failures(5)
    wrong = [{"row": 0, "source_row": 1594 + n, "message": "KeyError: 'answer'", "line": 3} for n in range(1, 6)]
    said = [event.message for one in wrong for event in failures.saw([Note("mine", ["error"] * 4, [one])])]
    assert [event.data["error"] for event in Failures(5).saw([Note("mine", ["error"] * 4, [wrong[0]])])] == [
        "KeyError: 'answer', line 3, at row 1,596 of the data"
    ]
    assert said[0].endswith("KeyError: 'answer', line 3, at row 1,596 of the data.")
    assert said[-1].endswith("line 3. The last of 5 calls that failed like this was at row 1,600 of the data.")


def test_a_rate_that_ruins_the_weights_is_what_ended_the_run(registry_home: Path) -> None:
    """It was torch's words on a probability tensor, from which nobody could tell what to change."""
    library.save_reward("apart", APART)  # or a ruined model whose completions all score 0 would be changed no more
    folder = queue(make_spec(rewards=[{"name": "apart"}], training={"learning_rate": 1e8, "max_steps": 20}))
    assert train.main(folder.id) == 1
    record = run_files.exit_record(folder, 1)
    assert record is not None and record["cause"] == run_files.WEIGHTS, record
    assert record["reason"].startswith("the model's weights are ruined: its output is inf or nan")
    assert "lower learning_rate" in record["reason"] and "probability tensor" in record["traceback"]


# What torch prints and raises on a GPU: the kernel's words go to the log, and Python is told of the assertion alone.
ASSERTED = (
    "/pytorch/aten/src/ATen/native/cuda/TensorCompare.cu:112: _assert_async_cuda_kernel: block: [0,0,0], thread: "
    "[0,0,0] Assertion `{}` failed.\n"
)
ON_GPU = RuntimeError("CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported")


@pytest.mark.parametrize(
    ("error", "printed", "cause"),
    [
        (RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)"), "", run_files.WEIGHTS),
        (ON_GPU, ASSERTED.format("probability tensor contains either `inf`, `nan` or element < 0"), run_files.WEIGHTS),
        (ON_GPU, ASSERTED.format("invalid multinomial distribution (sum of probabilities <= 0)"), run_files.WEIGHTS),
        (ON_GPU, ASSERTED.format("srcIndex < srcSelectDimSize"), run_files.OTHER),
    ],
)
def test_weights_that_were_ruined_on_a_gpu_are_told_by_what_it_printed(
    tmp_path: Path, error: RuntimeError, printed: str, cause: str
) -> None:
    log = tmp_path / "log.txt"
    log.write_text(ASSERTED.format("probability tensor contains either"))  # of an attempt before
    began = log.stat().st_size
    with log.open("a") as file:
        file.write(printed)
    assert why_failed.cause_and_reason(error, train.printed_since(log, began))[0] == cause
