"""Keeps which of one's own functions failed when they were tried, for whoever launches a run with them."""

import logging
import sqlite3

from groupwise.storage.library.rewards import library
from groupwise.storage.library.rewards.builder import TRACED
from groupwise.storage.registry import tried
from groupwise.storage.registry.messages.completions import Group
from groupwise.storage.registry.messages.functions import Function
from groupwise.worker.questions.workbench.words import count_failed
from groupwise.worker.sandbox import client

log = logging.getLogger("groupwise.questions")


def keep_tries(functions: list[Function], groups: list[Group], results: list[client.Result]) -> None:
    """Keep what came of each function that brought its code. Probes tell nothing: they are tried by themselves after
    the completions, and would take the place of what was found there."""
    real = [one.probe is None for group in groups for one in group.completions]
    if not any(real):
        return
    for function, result in zip(functions, results, strict=True):
        if function.code is None or function.name == TRACED:
            continue
        failed = count_failed([status for status, counts in zip(result.statuses, real, strict=True) if counts])
        error = next((one.message for one in result.failures if one.row is None or real[one.row]), "")
        digest = library.hash_of(library.with_plain_line_ends(function.code))
        try:
            tried.note_try(function.name, digest, failed, sum(real), error)
        except sqlite3.Error as reason:  # the scores are there all the same
            log.warning("what the try came to could not be kept: %s", reason)
