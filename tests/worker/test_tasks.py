"""The built-in tasks: deterministic, complete, and able to stand alone in a run's folder."""

import subprocess
import sys
from pathlib import Path

from groupwise.worker.builtin.tasks import arithmetic

DISTINCT = 2500


def test_rows_are_the_same_on_every_machine_and_python():
    assert arithmetic.rows(3) == [
        {"question": "8+2?", "answer": "10"},
        {"question": "19+43?", "answer": "62"},
        {"question": "39+23?", "answer": "62"},
    ]
    assert arithmetic.rows(3) == arithmetic.rows(10)[:3]


def test_another_seed_gives_another_order():
    assert arithmetic.rows(20, seed=1) != arithmetic.rows(20, seed=2)


def test_every_answer_is_right():
    for row in arithmetic.rows(DISTINCT):
        a, b = row["question"].removesuffix("?").split("+")
        assert 0 <= int(a) < 50 and 0 <= int(b) < 50
        assert row == {"question": f"{a}+{b}?", "answer": str(int(a) + int(b))}


def test_the_sums_are_distinct_until_they_run_out_and_then_come_shuffled_anew():
    first, second = (rows := arithmetic.rows(2 * DISTINCT))[:DISTINCT], rows[DISTINCT:]
    assert len({row["question"] for row in first}) == DISTINCT
    assert len({row["question"] for row in second}) == DISTINCT
    assert first != second


def test_a_count_of_zero_gives_no_rows():
    assert arithmetic.rows(0) == []


def test_a_copy_runs_alone(tmp_path: Path):
    (tmp_path / "task.py").write_text(Path(arithmetic.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    command = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        "import sys; sys.path.insert(0, '.'); import task; task.rows(5)",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
