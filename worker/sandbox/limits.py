"""How much of the machine one sandboxed process may take."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """memory: bytes of address space. file: bytes of one file it writes. temporary: bytes of all of /tmp, which is
    memory too. threads: how many it may have. load: seconds that reading a function's code and its imports may take.
    output: bytes of what it prints that are kept, of one call."""

    memory: int = 4 << 30
    file: int = 64 << 20
    temporary: int = 64 << 20
    threads: int = 64
    load: float = 60.0
    output: int = 64 << 10
