"""Who a process is: a pid alone is reused, so identity is boot id + pid + start time."""

import ctypes
import os
import signal
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

# In the environment of a run's processes: how all of them are found, whatever session they moved to.
TAG = "GROUPWISE_RUN"
# The tag of a process that waits to become a run's: `take_tag` writes the run's own over it. A run's tag has its id (64
# characters at most), its attempt and 16 random digits.
NO_TAG = " " * 128

# Where the key of an LLM judge is looked for: the environment only. The sandbox gets it for functions that may use the
# network, and nothing else does.
JUDGE_KEYS = ("GROUPWISE_JUDGE_KEY", "OPENAI_API_KEY")
_PR_SET_PDEATHSIG = 1

# What a child process may inherit. A list of what is allowed, so that no secret of the dashboard's can leak into a run.
_INHERITED = (
    "PATH", "HOME", "USER", "LANG", "TMPDIR", "TZ", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "XDG_CACHE_HOME",
    "GROUPWISE_HOME", "DO_NOT_TRACK", *JUDGE_KEYS, "http_proxy", "https_proxy", "no_proxy",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "CC", "CXX", "CPATH", "LIBRARY_PATH",  # Triton compiles with them
)  # fmt: skip
_INHERITED_FAMILIES = (
    "LC_", "PYTHON", "HF_", "TRANSFORMERS_", "TOKENIZERS_", "CUDA_", "NVIDIA_", "NCCL_", "OMP_", "MKL_", "TORCH_",
    "PYTORCH_", "ACCELERATE_", "VLLM_", "TRITON_", "TORCHINDUCTOR_", "CUBLAS_", "FLASHINFER_",
)  # fmt: skip

# What the trackers that a run may report to go by, keys among it: for trainings, and for what starts them.
_TRACKERS = ("WANDB_", "TRACKIO_", "MLFLOW_", "TENSORBOARD_")


def child_environment(*, trackers: bool = False) -> dict[str, str]:
    """The part of this process's environment that a child of ours gets; `trackers`: also what trackers go by.

    No library reports usage unless the person says DO_NOT_TRACK=0: TRL tells the hub each trainer's GPU and kind of
    model. It also does so from a thread that looks up the hub's address while the main thread changes the environment;
    glibc's getenv, in the look-up, has crashed on that.
    """
    families = (*_INHERITED_FAMILIES, *_TRACKERS) if trackers else _INHERITED_FAMILIES
    inherited = {name: value for name, value in os.environ.items() if name in _INHERITED or name.startswith(families)}
    return {"DO_NOT_TRACK": "1", **inherited}


@dataclass(frozen=True)
class Identity:
    """One process of one boot. `started` is in clock ticks since boot (/proc/PID/stat, field 22)."""

    boot: str
    pid: int
    started: int

    def as_dict(self) -> dict[str, str | int]:
        """Give it as columns of a run's row."""
        return asdict(self)


def boot_id() -> str:
    """This boot's id, as the kernel has it."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def identity_of(pid: int) -> Identity | None:
    """The identity of a living process; None when there is no such process, or only its zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else Identity(boot_id(), pid, int(fields[19]))


def is_alive(identity: Identity) -> bool:
    """Whether this very process still runs."""
    return identity_of(identity.pid) == identity


def carries(pid: int, tag: str) -> bool:
    """Whether this process (of this user) has the tag in its environment."""
    try:
        return f"{TAG}={tag}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False  # gone, or another user's


def take_tag(tag: str) -> bool:
    """Give this process, which was started with NO_TAG, a run's tag; whether it carries it now.

    The tag is written into the memory that the environment was started in, which is what /proc/PID/environ shows for
    as long as a process lives (proc(5)); what setenv sets lies elsewhere.
    """
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_void_p
    place, told = getenv(TAG.encode()), tag.encode()
    if place is None or ctypes.string_at(place) != NO_TAG.encode() or len(told) > len(NO_TAG):
        return False
    ctypes.memmove(place, told.ljust(len(NO_TAG), b"\0"), len(NO_TAG))
    os.environ[TAG] = tag  # for the processes that it starts
    return carries(os.getpid(), tag)


def works_in(pid: int, place: Path) -> bool:
    """Whether a process has this very folder open: as its working directory, or for what it prints.

    A copied home has the same runs with the same tags and identities, and another folder: what trains in the original
    is none of the copy's. (A lock would not tell: in a copy made of hard links its file is the same.)
    """
    try:
        if not place.exists():
            return os.readlink(f"/proc/{pid}/cwd") == f"{place.parent.resolve() / place.name} (deleted)"
        own = place.stat()
        return any(os.path.samestat(folder, own) for folder in _open_folders(pid))
    except OSError:
        return False  # gone, or another user's


def _open_folders(pid: int) -> Iterator[os.stat_result]:
    yield os.stat(f"/proc/{pid}/cwd")
    for descriptor in (1, 2):
        printed_to = os.readlink(f"/proc/{pid}/fd/{descriptor}")
        if printed_to.startswith("/"):
            yield os.stat(os.path.dirname(printed_to))


def tagged_anywhere(tag: str) -> list[int]:
    """The pids of all living processes that carry this tag, be they this home's or those of one it was copied from."""
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [pid for pid in pids if carries(pid, tag) and identity_of(pid)]


def tagged_pids(tag: str, place: Path) -> list[int]:
    """The pids of all living processes that carry this tag, where one of them works in this folder; else none."""
    found = tagged_anywhere(tag)
    return found if any(works_in(pid, place) for pid in found) else []


def is_elsewhere(tag: str, place: Path) -> bool:
    """Whether processes carry this tag and none of them works in this folder: it is a copy of theirs."""
    found = tagged_anywhere(tag)
    return bool(found) and not any(works_in(pid, place) for pid in found)


def signal_tagged(tag: str, place: Path, number: signal.Signals) -> int:
    """Send a signal to every process of a run, or dry run, that works in this folder, and to no other; how many were
    reached."""
    return sum(_signal(pid, tag, number) for pid in tagged_pids(tag, place))


def _signal(pid: int, tag: str, number: signal.Signals) -> bool:
    """Signal through a pidfd, and look at the tag again once it is open: a reused pid is never hit."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if carries(pid, tag):
            signal.pidfd_send_signal(descriptor, number)
            return True
    except ProcessLookupError:
        return False
    finally:
        os.close(descriptor)
    return False


def go_with(parent: int, number: signal.Signals) -> bool:
    """Get this signal when the parent ends, however it does; whether it still lives."""
    _prctl(_PR_SET_PDEATHSIG, number)
    return os.getppid() == parent


def outlive(parent: int) -> bool:
    """Get no signal any more when the parent ends; whether it still lives, so that its end did not come between."""
    _prctl(_PR_SET_PDEATHSIG, 0)
    return os.getppid() == parent


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value)
