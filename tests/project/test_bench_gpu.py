"""The measurements for a machine with a GPU, tried without one: the path of one case with a tiny model on the CPU, and
what is left out, and why, on machines that are only described."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.gpu import __main__ as bench_gpu
from bench.gpu import cases, memory, watch
from bench.gpu.cases import Case
from bench.gpu.machine import Machine
from bench.gpu.memory import Failed
from bench.gpu.model import SHAPES, write_tokenizer
from bench.gpu.report import Report, Row
from groupwise.storage.library.capabilities import Offer

REPOSITORY = Path(__file__).parents[2]
GPU = {"name": "NVIDIA H100", "memory": 80 * 10**9, "free": 60 * 10**9}
FIELDS = {
    name: {"types": ["int"], "default": default}
    for name, default in {
        "max_completion_length": 256, "per_device_train_batch_size": 8, "gradient_accumulation_steps": 1,
    }.items()
}  # fmt: skip
FACTS = {"sentence": "1× H100", "versions": {"torch": "2"}, "dry": False}


def machine(*gpus: dict[str, Any]) -> Machine:
    return Machine(False, Offer(training=FIELDS, lora={}, hardware={"gpus": list(gpus)}), {})


@pytest.fixture(scope="module")
def dry(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `--dry` finds of the memory of the cases with LoRA."""
    results = tmp_path_factory.mktemp("results")
    done = subprocess.run(
        [sys.executable, "-m", "bench.gpu", "--dry", "--only", "memory", "LoRA", "--results", str(results)],
        cwd=REPOSITORY, env=os.environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = results.glob("*.json")
    return {"printed": done.stdout, **json.loads(path.read_text())}


def test_a_case_is_measured_part_by_part_and_at_each_moment(dry: dict[str, Any]) -> None:
    rows = {row["what"]: row for row in dry["rows"] if row["job"] == "memory tiny LoRA sdpa"}
    assert {"weights", "gradients", "optimiser", "reserved by torch", "whole device, seen from outside"} <= set(rows)
    for phase in memory.MOMENTS:
        peak, seconds = rows[f"peak while {phase}"], rows[f"seconds {phase}, a step"]
        assert 100e6 < peak["measured"] < 5e9 and peak["against"] > 100e6 and seconds["measured"] > 0
    assert rows["whole device, seen from outside"]["ratio"] == pytest.approx(1, abs=0.9)


def test_what_the_machine_lacks_is_left_out_and_said(dry: dict[str, Any]) -> None:
    notes = {row["job"]: row["note"] for row in dry["rows"] if row["verdict"] == "skipped"}
    assert notes == {
        "memory tiny LoRA flash_attention_2": "flash attention needs a GPU",
        "memory tiny LoRA sdpa vLLM": "vLLM needs a GPU",
        "memory tiny LoRA flash_attention_2 vLLM": "vLLM needs a GPU",
    }


def test_every_row_is_printed_and_the_figures_say_where_they_are_from(dry: dict[str, Any]) -> None:
    assert dry["printed"].count("| memory tiny LoRA") == len(dry["rows"])
    assert dry["machine"]["dry"] and "torch" in dry["machine"]["versions"] and "Dry:" in dry["printed"]


def test_each_size_is_measured_in_each_way_and_what_is_rare_comes_last() -> None:
    names = [job.name for job in bench_gpu.jobs(machine(GPU), cases.REAL)]
    assert len(set(names)) == len(names) == 16 + 1 + 2 + 1
    assert names[:4] == [f"memory {size} {kind} sdpa" for size in ("0.5B", "1.5B") for kind in ("full", "LoRA")]
    assert all("vLLM" in name for name in names[-8:])


@pytest.fixture
def sized(tmp_path: Path) -> Path:
    """A folder that says the sizes of 1.5 billion parameters, without the weights."""
    shape = SHAPES["1.5B"]
    sizes = {
        "model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers, "num_attention_heads": shape.heads, "num_key_value_heads": shape.kv_heads,
        "intermediate_size": shape.intermediate, "vocab_size": shape.vocab, "tie_word_embeddings": True,
        "max_position_embeddings": 4096, "dtype": "bfloat16",
    }  # fmt: skip
    folder = tmp_path / "1.5B"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(sizes))
    return folder


def test_what_does_not_fit_into_the_gpu_is_left_out(sized: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = machine({**GPU, "memory": 8 * 10**9, "free": 8 * 10**9})
    monkeypatch.setattr(Machine, "free", lambda self: self.gpus[0]["free"])
    monkeypatch.setattr(cases, "check_spec", lambda *_: [])  # of the weights, which are not there
    full = cases.spec_of(Case("1.5B", lora=False), sized, cases.REAL)
    assert "and 8.0 GB are free" in (cases.why_not_here(full, small, cases.REAL) or "")
    assert cases.why_not_here(full, machine(GPU), cases.REAL) is None
    assert "60.0 GB are free" in (cases.why_not_here(full, machine(GPU), cases.REAL, copies=2) or "")


def test_what_needs_two_gpus_or_more_time_is_left_out(tmp_path: Path) -> None:
    one, soon = machine(GPU), time.monotonic() + 60
    ranks = next(job for job in bench_gpu.jobs(one, cases.REAL) if job.processes == 2)
    assert bench_gpu.why_not(ranks, one, soon, tmp_path, cases.REAL) == "needs 2 GPUs, and there is 1"
    assert "--minutes" in (bench_gpu.why_not(ranks, one, 0.0, tmp_path, cases.REAL) or "")


def test_a_job_that_fails_is_a_row_and_leaves_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_: Path) -> Iterator[Row]:
        yield Row("j", "weights", 3e9, 2e9, "bytes", "estimated")
        raise Failed("the device ran out of memory", "everything that it printed")

    monkeypatch.setattr(bench_gpu, "why_not", lambda *_: None)
    monkeypatch.setattr(bench_gpu.model, "made", lambda *_: tmp_path)
    report = Report(FACTS, tmp_path)
    job = bench_gpu.Job("memory 0.5B", Case("0.5B", lora=False), failing)
    bench_gpu.run(job, report, machine(GPU), 0.0, tmp_path, cases.REAL)
    kept = json.loads(report.path.read_text())["rows"]
    assert [row["verdict"] for row in kept] == ["", "FAILED"] and kept[0]["ratio"] == 1.5
    assert not report.holds
    assert [path.read_text() for path in tmp_path.glob("*.log")] == ["everything that it printed"]


class Script:
    """A device whose readings are given: nothing else of one can be had here."""

    def __init__(self, held: list[int], peaks: list[int]) -> None:
        self.held, self.most = held, peaks

    def now(self) -> int:
        return self.held.pop(0)

    def peaks(self) -> tuple[int, int]:
        return self.most[0], self.most.pop(0) + 1


def test_a_step_is_taken_apart_into_its_phases() -> None:
    seen = watch.Watch(Script([0, 100, 100, 150, 300], [110, 105, 120, 500, 200, 900]))  # type: ignore[arg-type]
    seen.on_train_begin()
    seen.on_step_begin()
    generate = seen.during(watch.GENERATING, watch.SCORING, lambda: "completions")
    assert seen.during(watch.SCORING, watch.UPDATING, generate)() == "completions"
    seen._spent[watch.UPDATING] += 1.5
    seen.on_pre_optimizer_step()
    seen.on_step_end()
    notes = seen.notes()
    assert notes["parts"] == {"weights": 100, "gradients": 50, "optimiser": 200}
    assert notes["peaks"]["generating"] == 500 and notes["peaks"]["scoring"] == 200
    assert notes["reserved"] == 901 and notes["peaks"]["updating"] == 900
    assert notes["seconds"]["updating"][0] > 1.5


def test_the_tokenizer_has_a_word_for_each_number_that_a_model_of_chance_can_write(tmp_path: Path) -> None:
    from transformers import AutoTokenizer, Qwen2Config

    vocab = SHAPES["0.5B"].vocab
    Qwen2Config(vocab_size=vocab).save_pretrained(tmp_path)
    write_tokenizer(vocab, tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    chat = [{"role": "user", "content": "49+49?"}]
    ids = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=True)["input_ids"]
    assert len(ids) == cases.AROUND_QUESTION and len(tokenizer) == vocab
    assert tokenizer.decode([vocab - 1]) == f" w{vocab - 1}"
