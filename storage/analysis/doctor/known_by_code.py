"""What is known of a run's reward functions by their code, which is read and never run."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from groupwise.storage.analysis.doctor.evidence import Function
from groupwise.storage.library import right
from groupwise.storage.record import group_metrics


def with_known(functions: Mapping[str, Function], rewards: Path, chats: bool) -> dict[str, Function]:
    """These, each with it. `rewards`: the folder of the run's reward code; `chats`: whether its prompts are messages,
    and so completions, too."""
    return {
        name: replace(
            told,
            tells_right=right.tells_right((name, group_metrics.SOLVED), rewards),
            reads_no_column=right.reads_no_column(name, rewards),
            takes_messages_for_text=chats and right.takes_messages(name, rewards),
        )
        for name, told in functions.items()
    }
