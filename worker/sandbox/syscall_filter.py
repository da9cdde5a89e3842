"""The system calls that reward code is refused, as a seccomp filter: made here, put on by the process it binds."""

import errno
import functools
import json
import os
import platform
import tempfile
from pathlib import Path
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
# owners and times, and before Linux 6.2 not their length. openat2 hides its flags behind a pointer; nobody needs it.
_WITHOUT_NAMESPACES = """
    kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal
    setpriority ioprio_set sched_setscheduler sched_setparam sched_setattr migrate_pages move_pages
    chmod fchmod fchmodat fchmodat2 chown fchown fchownat lchown truncate
    setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat file_setattr
    utime utimes futimesat utimensat inotify_init inotify_init1 mknod mknodat openat2 bind listen
"""

# Newer than some libseccomp in use. From 424 on a system call has the same number on every processor.
_NUMBERS = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_open": 434, "clone3": 435, "pidfd_getfd": 438,
    "openat2": 437, "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443, "memfd_secret": 447,
    "process_mrelease": 448, "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "open_tree_attr": 467,
    "file_setattr": 469,
}  # fmt: skip

# fcntl(2): what has the kernel send a signal of one's choice to any process (F_SETOWN, F_SETSIG, F_SETOWN_EX), which
# Landlock knows of only since Linux 6.12; and what makes others wait who open a file (F_SETLEASE, F_SETDELEG) or tells
# what they do with it (F_NOTIFY).
_REFUSED_FCNTL = (8, 10, 15, 1024, 1040, 1026)
_REFUSED_IOCTL = (0x8901, 0x8902)  # FIOSETOWN, SIOCSPGRP: F_SETOWN for sockets
# The bit of ioctls that hand something over, as those that change a file's flags: a descriptor for reading is enough.
_IOC_WRITE = 0x40000000
_32_BITS = 0xFFFFFFFF  # of what the kernel takes for an int, a filter sees 64: without this a high bit would slip past

_CLONE_THREAD = 0x00010000
_AF_INET, _IPPROTO_TCP = 2, 6
_MSG_FASTOPEN = 0x20000000
_SOCK_STREAM, _SOCK_TYPES = 1, 0xF  # the bits of a socket's type; above them are flags
_PR_SET_PDEATHSIG = 1

MISSING = "libseccomp is missing (Debian: apt-get install libseccomp2), or Python's pyseccomp (pip install pyseccomp)"


# Filters made before, of this and that processor: beside a plain script, which runs where there may be no pyseccomp.
CARRIED = "filters.json"


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
        made = _carried_program(namespaces) if not network else None
        if made is None:
            raise NoFilter(MISSING) from error
        return made
    return _build_program(pyseccomp, network, namespaces)


def to_carry() -> str:
    """The filters without network for this machine's processor, as the text of the file CARRIED. Raises NoFilter."""
    return json.dumps({platform.machine(): {str(way): program(False, way).hex() for way in (True, False)}})


def _carried_program(namespaces: bool) -> bytes | None:
    """What `to_carry` made, where it lies beside this file and is for this processor; else None."""
    try:
        made = json.loads(Path(__file__).with_name(CARRIED).read_text(encoding="utf-8"))
        return bytes.fromhex(made[platform.machine()][str(namespaces)])
    except (OSError, LookupError):
        return None


def _build_program(library: Any, network: bool, namespaces: bool) -> bytes:
    made, refuse = library.SyscallFilter(library.ALLOW), library.ERRNO(errno.EPERM)
    for name in (_ALWAYS if namespaces else _ALWAYS + _WITHOUT_NAMESPACES).split():
        number = _number(library, name)
        if number is not None:
            made.add_rule(refuse, number)
    # Threads, but no processes. clone3 hides its flags behind a pointer; told that it does not exist, libc uses clone.
    made.add_rule(library.ERRNO(errno.ENOSYS), _NUMBERS["clone3"])
    made.add_rule(refuse, "clone", library.Arg(0, library.MASKED_EQ, _CLONE_THREAD, 0))
    # It may not outlive Groupwise, nor touch another process's limits and processors.
    made.add_rule(refuse, "prctl", library.Arg(0, library.MASKED_EQ, _32_BITS, _PR_SET_PDEATHSIG))
    made.add_rule(refuse, "prlimit64", library.Arg(0, library.NE, 0))
    for name, refused in (("fcntl", _REFUSED_FCNTL), ("ioctl", _REFUSED_IOCTL)):
        for request in refused:
            made.add_rule(refuse, name, library.Arg(1, library.MASKED_EQ, _32_BITS, request))
    if not namespaces:
        _refuse_others_files(library, made)
    _refuse_sockets(library, made, network)
    with tempfile.TemporaryFile() as file:
        made.export_bpf(file)
        file.seek(0)
        return file.read()


def _number(library: Any, name: str) -> int | None:
    """The system call's number here; None where there is none of that name."""
    number = library.resolve_syscall(library.Arch.NATIVE, name)
    return number if number >= 0 else _NUMBERS.get(name)


def _refuse_others_files(library: Any, made: Any) -> None:
    """What Landlock, or an older one, lets someone do who may read a file: cut it (Linux asks Landlock for no right to
    write when O_TRUNC comes with O_RDONLY, nor with 3, which is neither), or change its flags. And another process's
    processors."""
    refuse = library.ERRNO(errno.EPERM)
    made.add_rule(refuse, "sched_setaffinity", library.Arg(0, library.NE, 0))
    made.add_rule(refuse, "ioctl", library.Arg(1, library.MASKED_EQ, _IOC_WRITE, _IOC_WRITE))
    for name, at in (("open", 1), ("openat", 2)):
        if _number(library, name) is not None:
            made.add_rule(refuse, name, library.Arg(at, library.MASKED_EQ, os.O_TRUNC | os.O_ACCMODE, os.O_TRUNC))
            made.add_rule(refuse, name, library.Arg(at, library.MASKED_EQ, os.O_ACCMODE, os.O_ACCMODE))


def _refuse_sockets(library: Any, made: Any, network: bool) -> None:
    """No sockets at all, or only TCP: the proxy speaks nothing else. Never Unix sockets, which are other programs'
    doors; asyncio's own pair comes from socketpair, which reaches nobody as long as it is of streams: any other kind
    can be sent from, or connected, to whom one names. Nor the kinds of TCP that Landlock does not know (MPTCP), nor a
    connection that begins with its first data (TCP Fast Open), of which it is not asked."""
    refuse = library.ERRNO(errno.EACCES)
    for kind in range(_SOCK_TYPES + 1):
        if kind != _SOCK_STREAM:
            made.add_rule(refuse, "socketpair", library.Arg(1, library.MASKED_EQ, _SOCK_TYPES, kind))
    if not network:
        made.add_rule(refuse, "socket")
        return
    made.add_rule(refuse, "socket", library.Arg(0, library.NE, _AF_INET))
    for kind in range(_SOCK_TYPES + 1):
        if kind != _SOCK_STREAM:
            made.add_rule(refuse, "socket", library.Arg(1, library.MASKED_EQ, _SOCK_TYPES, kind))
    made.add_rule(refuse, "socket", library.Arg(2, library.GT, _IPPROTO_TCP))
    for protocol in range(1, _IPPROTO_TCP):
        made.add_rule(refuse, "socket", library.Arg(2, library.EQ, protocol))
    for name, at in (("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3)):
        made.add_rule(refuse, name, library.Arg(at, library.MASKED_EQ, _MSG_FASTOPEN, _MSG_FASTOPEN))
