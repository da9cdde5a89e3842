"""What is said of a backup once it is made, or restored."""

from dataclasses import dataclass, field


@dataclass
class Told:
    """What is in a backup, and what is not. `size`: bytes of its files, unpacked. `training`: runs that trained, which
    are interrupted in it. `left_out`: what does not belong there, in words; `unread`: what should be there."""

    runs: int = 0
    files: int = 0
    size: int = 0
    training: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


@dataclass
class Restored:
    """What a home that was made of a backup has. `made`: when that was, in words; `interrupted`: runs that trained
    then; `damaged`: what is wrong with some runs' records, in words."""

    runs: int
    made: str
    interrupted: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
