"""What a process puts on itself for good: a seccomp filter, no new privileges, death with its parent."""

import ctypes
import signal

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_SECCOMP_MODE_FILTER = 2


def install(bpf: bytes) -> None:
    """Bind this process, and every thread it will have, to the filter for good. Raises OSError."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))

    filter_program = Program(len(bpf) // 8, bpf)  # held until the kernel has read it
    no_new_privileges()
    prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(filter_program))


def no_new_privileges() -> None:
    """What Landlock and seccomp ask for first: no program that this process could start is more than it is."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def die_with_parent() -> None:
    """Have this process killed when the thread that started it is gone. Raises OSError."""
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def prctl(option: int, *values: int) -> None:
    """prctl(2). Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    given = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0)][:4]
    if libc.prctl(ctypes.c_int(option), *given) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}) was refused")
