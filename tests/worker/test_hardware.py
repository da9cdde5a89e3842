"""What the worker says of the machine's GPUs. The driver's own program is stood in for by a script that answers as it
does: there is no GPU where tests run."""

import stat
from pathlib import Path

import pytest

from groupwise.worker.capabilities import hardware
from groupwise.worker.launchers import local

OLD_DRIVER = 'case "$1" in *compute_cap*) echo \'Field "compute_cap" is not a valid field to query.\'; exit 2;; esac\n'
TWO = [
    "0, GPU-aaaa, NVIDIA A100-SXM4-80GB, 81920, 81000, 8.0",
    "1, GPU-bbbb, NVIDIA T4, 15360, 15000, 7.5",
]


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts an nvidia-smi that prints these lines before all others."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def put(lines: list[str], first: str = "") -> None:
        program = tmp_path / "nvidia-smi"
        printed = "".join(f"echo '{line}'\n" for line in lines)
        program.write_text(f"#!/bin/sh\n{first}{printed}")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    return put


def names() -> list[str]:
    return [gpu.name.removeprefix("NVIDIA ") for gpu in hardware.describe_hardware().gpus]


def test_each_device_with_its_memory_and_generation(answers) -> None:
    answers(TWO)
    found = hardware.describe_hardware().gpus
    assert found[0].memory == 81920 * 2**20 and found[1].free == 15000 * 2**20
    assert [gpu.capability for gpu in found] == ["8.0", "7.5"]


def test_a_driver_that_does_not_know_the_generation_is_asked_for_the_rest(answers) -> None:
    answers([line.rpartition(", ")[0] for line in TWO], OLD_DRIVER)
    found = hardware.describe_hardware().gpus
    assert names() == ["A100-SXM4-80GB", "T4"] and found[0].capability is None


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        ("", []),
        ("-1", []),
        ("1", ["T4"]),
        ("1,0", ["T4", "A100-SXM4-80GB"]),
        ("GPU-bbbb", ["T4"]),
        ("GPU-b, 0", ["T4", "A100-SXM4-80GB"]),
        ("0,7,1", ["A100-SXM4-80GB"]),
        ("MIG-cccc", ["A100-SXM4-80GB", "T4"]),
    ],
)
def test_only_the_devices_that_a_training_will_see(answers, monkeypatch: pytest.MonkeyPatch, said: str, seen) -> None:
    answers(TWO)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", said)
    assert names() == seen


def test_a_device_without_memory_of_its_own_has_the_machines(answers) -> None:
    answers(["0, GPU-aaaa, NVIDIA GB10, [N/A], [N/A], 12.1"])
    machine = hardware.describe_hardware()
    assert machine.gpus[0].memory == machine.memory


@pytest.mark.parametrize("line", ["No devices were found", "0, GPU-a, NVIDIA T4, [GPU requires reset], 1, 7.5", ""])
def test_what_is_no_working_device_is_left_out(answers, line: str) -> None:
    answers([line])
    assert hardware.describe_hardware().gpus == []


def test_a_driver_that_fails_is_no_gpu(answers) -> None:
    answers([], "echo 'NVIDIA-SMI has failed' >&2; exit 9\n")
    assert hardware.describe_hardware().gpus == []


def test_a_training_numbers_the_devices_as_they_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    alone = local.training_environment("run:1:a", 1)
    assert alone["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID" and alone["CUDA_VISIBLE_DEVICES"] == "0"
    assert "CUDA_VISIBLE_DEVICES" not in local.training_environment("run:1:a", 2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,2")
    assert local.training_environment("run:1:a", 1)["CUDA_VISIBLE_DEVICES"] == "3"
    assert local.training_environment("run:1:a", 2)["CUDA_VISIBLE_DEVICES"] == "3,2"
