"""How a run ended, in a state and a sentence: a pure function of what was left behind."""

import re
import signal
from typing import Any

from groupwise.storage.record import states

FINISHED, STOPPED, FAILED = "finished", "stopped", "failed"  # the outcomes an exit record can claim

RESUMES = re.compile(r" Resume continues from step \d+\.")


def ending(
    record: dict[str, Any] | None, code: int | None, *, step: int, saved: int | None, killed_on_request: bool,
    stopping: bool,
) -> tuple[str, str]:  # fmt: skip
    """How a run ended: (state, sentence).

    `record` is the attempt's exit.json, if it wrote one; `code` the exit code (negative: a signal), None where the
    process was not our child; `step` the last acknowledged, `saved` the newest checkpoint's; `stopping`, whether a
    stop was under way.
    """
    resume = resume_words(saved)
    if record is not None:
        return _by_record(record, step, resume)
    if killed_on_request:
        return states.STOPPED, f"Stopped at once at step {step}, as asked, without saving. {resume}"
    if stopping and (code is None or code < 0):
        return (states.STOPPED, f"It did not stop in time and was ended at step {step} without saving. {resume}")
    if code is None:
        gone = f"Its process disappeared after step {step}: somebody ended it, memory ran out, or the machine"
        return states.INTERRUPTED, f"{gone}, or its container, was restarted. {resume}"
    if code == -signal.SIGKILL:
        killed = f"Killed at step {step} (SIGKILL), which Groupwise did not send"
        return states.KILLED, f"{killed}: by hand, or by the system because memory ran out. {resume}"
    if code < 0:
        return (
            states.KILLED,
            f"Killed at step {step} by {signal.Signals(-code).name}, which Groupwise did not send. {resume}",
        )
    return (
        states.FAILED,
        f"The training process ended at step {step} without a reason (exit code {code}); see the log.",
    )


def end_words(state: str, sentence: str) -> str:
    """A state and the sentence on it, where they stand alone: the state's word is said once."""
    label = states.LABELS[state]
    return sentence if sentence.startswith(label) else f"{label}. {sentence}"


def with_resume(sentence: str, saved: int | None) -> str:
    """The sentence on an end, where what a resume would begin from is another checkpoint by now."""
    return RESUMES.sub(f" {resume_words(saved)}", sentence)


def in_a_copy(saved: int | None) -> str:
    """The sentence of a run whose process lives, but in another folder: this one is a copy of it."""
    return (
        "This folder is a copy, made while the run trained. Training goes on in the original; nothing trains here. "
        f"{resume_words(saved)}"
    )


def in_a_backup(when: str, step: int, saved: int | None) -> str:
    """The sentence of a run that trained while a backup was made of it, at this time in words and after this step."""
    did = f"training, at step {step}," if step else "starting"
    return f"It was {did} when the backup of {when} was made. {resume_words(saved)}"


def without_files(sentence: str) -> str:
    """The sentence on an end, where checkpoints and the trained model were left out of a backup."""
    return with_resume(sentence, None).replace(
        " The trained model is in final/.", " The trained model was left out of the backup."
    )


def resume_words(saved: int | None) -> str:
    """What a resume would begin from: the step of the newest checkpoint, if there is one."""
    return (
        f"Resume continues from step {saved}."
        if saved
        else "There is no checkpoint: it would start from the beginning."
    )


def _by_record(record: dict[str, Any], step: int, resume: str) -> tuple[str, str]:
    outcome, planned = record.get("outcome"), record.get("planned")
    resume += _lost_steps_words(record.get("unrecorded"))
    if outcome == FINISHED and record.get("step") == planned:
        return states.FINISHED, f"Done: step {planned} of {planned}. The trained model is in final/."
    if outcome == STOPPED:
        return states.STOPPED, f"Stopped at step {record.get('step')}, as asked. {resume}"
    reason = record.get("reason") or f"it ended at step {record.get('step')} of {planned} but reported success"
    return states.FAILED, f"Failed at step {step}: {reason}{_lost_steps_words(record.get('unrecorded'))}"


def _lost_steps_words(steps: object) -> str:
    return f" The record of {steps} of its steps is lost: the disk was full to the end." if steps else ""
