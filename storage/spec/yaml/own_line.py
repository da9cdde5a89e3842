"""Several settings in one line, as in “beta: 0.02 epsilon: 0.2”: each on a line of its own."""

import re
from collections.abc import Iterator

from groupwise.storage.spec.words.misplaced import PLACED
from groupwise.storage.spec.words.number_words import join_words
from groupwise.storage.spec.words.setting_names import ELSEWHERE, UNDER_TRAINING
from groupwise.storage.spec.yaml.plain_rows import TEXTS, shorten
from groupwise.storage.spec.yaml.repairs import Repair

SECOND = "another setting begins in this line. Each stands on a line of its own."
_OF_ENTRIES = ("name", "weight", "parameters", "timeout", "schedule", "adapt", "training")
_KNOWN = UNDER_TRAINING | ELSEWHERE.keys() | PLACED | set(_OF_ENTRIES)
_FIRST = re.compile(r"(\s*(?:- +)?)([A-Za-z_]\w*): +(?=[^\s'\"{\[|>#])")
_NEXT = re.compile(r"(?:[,;]\s*|\s+)(?=([A-Za-z_]\w*):\s+\S)")


def settings_apart(at: int, line: str) -> Iterator[Repair]:
    """A line in which settings follow each other, as a line for each."""
    found = _FIRST.match(line)
    if found is None or found[2] in TEXTS:
        return
    pieces, begin = [], found.end(1)
    for hit in _NEXT.finditer(line, found.end()):
        if hit[1] in _KNOWN or "_" in hit[1]:
            pieces.append(line[begin : hit.start()])
            begin = hit.end()
    if not pieces:
        return
    pieces.append(line[begin:].rstrip())
    pad = " " * len(found[1])
    put = found[1] + f"\n{pad}".join(pieces)
    others = join_words([f"“{shorten(one)}”" for one in pieces[1:]])
    own = "its own line" if len(pieces) == 2 else "lines of their own"
    yield Repair(at, [found[1] + pieces[0]], f"Put {others} on {own}", SECOND, put=put)
