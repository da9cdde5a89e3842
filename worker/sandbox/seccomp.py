"""The system calls that reward code is refused, as a seccomp filter: made here, put on by the process it binds."""

from __future__ import annotations

import ctypes
import errno
import functools
import signal
from typing import Any

# Each line: what it would be for. A list of what is refused, not of what is allowed: numpy, torch and Python itself use
# most of the others, and differ by version.
_ALWAYS = """
    fork vfork execve execveat
    ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_open pidfd_getfd
    memfd_create memfd_secret userfaultfd
    unshare setns mount umount umount2 pivot_root chroot fsopen fsmount fsconfig fspick open_tree move_mount
    mount_setattr     open_by_handle_at name_to_handle_at quotactl quotactl_fd swapon swapoff acct
    bpf perf_event_open io_uring_setup io_uring_enter io_uring_register
    add_key request_key keyctl
    shmget shmat shmctl semget semop semctl msgget msgsnd msgrcv msgctl mq_open
    init_module finit_module delete_module kexec_load kexec_file_load reboot syslog iopl ioperm personality
    settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname vhangup
    fanotify_init lookup_dcookie uselib ustat sysfs nfsservctl vmsplice
    setuid setgid setreuid setregid setresuid setresgid setgroups capset
"""

# Without namespaces the machine's processes and files are in sight. Landlock guards what files hold, not their modes,
# owners and times, and before Linux 6.2 not their length.
_WITHOUT_NAMESPACES = """
    kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal
    setpriority ioprio_set sched_setscheduler sched_setparam sched_setattr migrate_pages move_pages
    chmod fchmod fchmodat fchmodat2 chown fchown fchownat lchown truncate
    setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat file_setattr
    utime utimes futimesat utimensat inotify_init inotify_init1 mknod mknodat
"""

# Newer than some libseccomp in use. From 424 on a system call has the same number on every processor.
_NUMBERS = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_open": 434, "clone3": 435, "pidfd_getfd": 438,
    "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443, "memfd_secret": 447, "process_mrelease": 448,
    "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "open_tree_attr": 467, "file_setattr": 469,
}  # fmt: skip

_CLONE_THREAD = 0x00010000
_INET = (2, 10)  # AF_INET, AF_INET6
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_SECCOMP_MODE_FILTER = 2


MISSING = "libseccomp is missing (Debian: apt-get install libseccomp2), or Python's pyseccomp (pip install pyseccomp)"


class NoFilter(Exception):
    """The filter cannot be made here; the message says what to install."""


@functools.cache
def program(network: bool, namespaces: bool) -> bytes:
    """The filter as BPF instructions. `namespaces`: the process also has its own view of processes and files.

    Raises NoFilter where pyseccomp or libseccomp is missing.
    """
    try:
        import pyseccomp  # type: ignore
    except (ImportError, OSError, RuntimeError) as error:  # it looks for libseccomp as it is imported
        raise NoFilter(MISSING) from error
    return _built(pyseccomp, network, namespaces)


def _built(library: Any, network: bool, namespaces: bool) -> bytes:
    made, refuse = library.SyscallFilter(library.ALLOW), library.ERRNO(errno.EPERM)
    for name in (_ALWAYS if namespaces else _ALWAYS + _WITHOUT_NAMESPACES).split():
        number = _number(library, name)
        if number is not None:
            made.add_rule(refuse, number)
    # Threads, but no processes. clone3 hides its flags behind a pointer; told that it does not exist, libc uses clone.
    made.add_rule(library.ERRNO(errno.ENOSYS), _NUMBERS["clone3"])
    made.add_rule(refuse, "clone", library.Arg(0, library.MASKED_EQ, _CLONE_THREAD, 0))
    # It may not outlive Groupwise, nor touch another process's limits and processors. The kernel looks at 32 bits of
    # prctl's option, a filter at 64: without the mask a high bit would slip past.
    made.add_rule(refuse, "prctl", library.Arg(0, library.MASKED_EQ, 0xFFFFFFFF, _PR_SET_PDEATHSIG))
    made.add_rule(refuse, "prlimit64", library.Arg(0, library.NE, 0))
    if not namespaces:
        made.add_rule(refuse, "sched_setaffinity", library.Arg(0, library.NE, 0))
    _refuse_sockets(library, made, network)
    import tempfile  # here: the sandboxed process reads this file too, and has no use for it

    with tempfile.TemporaryFile() as file:
        made.export_bpf(file)
        file.seek(0)
        return file.read()


def _number(library: Any, name: str) -> int | None:
    """The system call's number here; None where there is none of that name."""
    number = library.resolve_syscall(library.Arch.NATIVE, name)
    return number if number >= 0 else _NUMBERS.get(name)


def _refuse_sockets(library: Any, made: Any, network: bool) -> None:
    """No sockets at all, or only those of the internet: never Unix sockets, which are other programs' doors. asyncio's
    own pair comes from socketpair, which reaches nobody."""
    refuse = library.ERRNO(errno.EACCES)
    if not network:
        made.add_rule(refuse, "socket")
        return
    first, last = _INET
    made.add_rule(refuse, "socket", library.Arg(0, library.LT, first))
    made.add_rule(refuse, "socket", library.Arg(0, library.GT, last))
    for family in range(first + 1, last):
        made.add_rule(refuse, "socket", library.Arg(0, library.EQ, family))


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
