"""Landlock: the kernel's own way for a process to give up files and the network, without namespaces or privileges."""

import ctypes
import errno
import os
import struct
from collections.abc import Iterable

# The same numbers on every processor (see <linux/landlock.h> for these and all below).
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH, _NET_PORT = 1, 1, 2

_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_FILE_RIGHTS_OF = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # ABI → how many rights on files it knows; 16 from there on
TCP = 4  # the ABI from which on it knows of TCP
_BIND, _CONNECT = 0b01, 0b10
_SCOPES = 0b11  # abstract Unix sockets and signals, from ABI 6 on


def abi() -> int:
    """The version of Landlock that this kernel offers; 0 where it has none or it is switched off."""
    answer = _libc().syscall(ctypes.c_long(CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint(_VERSION))
    return max(0, int(answer))


def restrict(version: int, readable: Iterable[str], writable: Iterable[str], port: int | None) -> None:
    """From here on this thread, and those it starts, read only what lies under `readable` and write only to the files
    `writable`; what does not exist is left out. Of TCP they connect to `port` only, of whatever address: the rule knows
    none. `version` is what `abi` said. Needs no_new_privs. Raises OSError.

    Landlock does not hide that a file is there, how long it is and when it was changed.
    """
    libc = _libc()
    known = (1 << _FILE_RIGHTS_OF.get(version, 16)) - 1
    tcp = _BIND | _CONNECT if version >= TCP else 0
    if port is not None and not tcp:
        raise OSError(errno.ENOSYS, "This version of Landlock does not support TCP")
    attributes = struct.pack("QQQ", known, tcp, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= TCP else 8
    ruleset = _check_result(
        libc.syscall(ctypes.c_long(CREATE_RULESET), attributes, ctypes.c_size_t(size), ctypes.c_uint(0))
    )
    try:
        for path in readable:
            _allow(libc, ruleset, path, _READ_FILE | _READ_DIR)
        for path in writable:
            _allow(libc, ruleset, path, _READ_FILE | _WRITE_FILE)
        if port is not None:
            _add_rule(libc, ruleset, _NET_PORT, struct.pack("QQ", _CONNECT, port))
        _check_result(libc.syscall(ctypes.c_long(RESTRICT_SELF), ctypes.c_int(ruleset), ctypes.c_uint(0)))
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):
            rights &= ~_READ_DIR  # the kernel refuses a right that makes no sense for a file
        _add_rule(libc, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, place))
    finally:
        os.close(place)


def _add_rule(libc: ctypes.CDLL, ruleset: int, kind: int, rule: bytes) -> None:
    arguments = (ctypes.c_int(ruleset), ctypes.c_int(kind), rule, ctypes.c_uint(0))
    _check_result(libc.syscall(ctypes.c_long(ADD_RULE), *arguments))


def drop_capabilities() -> None:
    """Give up root's powers, as root; without exec, which is refused later, they do not come back. Raises OSError."""
    header = struct.pack("=Ii", 0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this thread
    _check_result(_libc().capset(header, bytes(24)))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check_result(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock: {os.strerror(number)}")
    return answer
