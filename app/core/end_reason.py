"""Why a run did not end as planned, in short, for its own page and for lists of runs. Pure."""

import re

from groupwise.app.core import format
from groupwise.app.core.field_labels import place_label
from groupwise.storage.record import states
from groupwise.storage.registry.registry import Run

SHOWN = 120  # characters of why a run ended so that are shown in a list
TOLD = (states.FAILED, states.KILLED, states.INTERRUPTED)
SENTENCE = re.compile(r"(.+?[.!?])\s+(?=[A-Z“])", re.DOTALL)
PREFIX = re.compile(r"(Failed at step \d+|Could not be started): ")
PLACE = re.compile(r"^[a-z_]+(\.\w+)*(, line \d+)?: (?=there is no )")  # in a YAML that is not in sight there
# A setting that does not pass the checks, as Problem writes it, at its dotted path.
SETTING = re.compile(
    r"(?P<path>(?:name|model|data|training|lora|rewards|stages|kl|launch)(?:\.\w+)*)(?P<line>, line \d+)?: (?=\S)"
)
# What a reward function did that ended it, and its own words, which are no headline; what to do, a button says. “scored
# nothing” is how runs of older versions have it.
NO_SCORES = re.compile(
    r"(the reward function “.+” (?:failed|scored nothing) in .+ in a row): (.+?)( Fix it under Rewards.*)?", re.DOTALL
)
RAW = re.compile(r"[A-Za-z_][\w.]*(Error|Exception|Exit|Interrupt|Warning)\b")  # Python's words: no headline


def reason_of(run: Run) -> str:
    """Why a run that failed, was killed or interrupted ended so, or never started; "" of any other."""
    is_told = run.state in TOLD or (run.state == states.STOPPED and run.sentence == states.UNSTARTED)
    headline, rest = headline_and_rest(run.sentence) if is_told else ("", "")
    return f"{headline}: {rest}" if RAW.match(rest) or headline.endswith("in a row") else headline


def shorten_reason(reason: str) -> str:
    """Why a run ended so as lists of runs have it; all of it is in the title there."""
    return format.shorten_sentence(reason, SHOWN)


def headline_and_rest(sentence: str) -> tuple[str, str]:
    """The first of some sentences, as a headline, and the rest. What a library said is no headline: it stands below
    one."""
    said = _with_plain_place(PLACE.sub("", PREFIX.sub("", sentence)))
    if RAW.match(said):
        return "An unexpected error ended it", said
    first = SENTENCE.match(said)
    headline, rest = (first[1], said[first.end() :]) if first else (said, "")
    if scored := NO_SCORES.fullmatch(said):
        headline, rest = scored[1], scored[2]
    return f"{headline[:1].upper()}{headline[1:]}".rstrip("."), rest


def _with_plain_place(said: str) -> str:
    """What is wrong with a setting, after what New run calls it and its path: “Reward 3” (rewards.2.name, line 15)."""
    found = SETTING.match(said)
    if not found:
        return said
    path, line = found["path"], found["line"] or ""
    return f"“{place_label(path)}” ({path}{line}): {said[found.end() :]}"
