"""How a command begins, and how it ends other than well: one sentence and an exit code."""

import sys

from groupwise.storage.home import paths
from groupwise.storage.spec.words.number_words import count_words

DONE, FAILED, WRONG_INPUT, STOPPED = 0, 1, 2, 3
CANCELLED = 130  # what a shell expects of a command that Ctrl-C ended


class CommandError(Exception):
    """What a person asked cannot be done; the message is the sentence they read."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


def open_home() -> None:
    """Make the home ready. Raises HomeError or CommandError with the sentence that says why it is not."""
    from groupwise.storage.library import repair
    from groupwise.storage.registry import registry  # here, since `groupwise --help` need not wait for SQLite's tools

    paths.prepare()
    try:
        found = repair.open_or_rebuild()
    except registry.RegistryError as error:
        raise CommandError(str(error)) from error
    if found:
        print(
            f"groupwise: there was no registry; the new one has {count_words(found, 'run')}, from their folders.",
            file=sys.stderr,
        )
