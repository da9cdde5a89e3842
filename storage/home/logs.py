"""Logs that say a line once and then count: what goes on and on, as a registry that stays damaged does ten times a
second, must not fill the disk."""

import logging
import sys
import time
from collections import OrderedDict

AGAIN = 60.0  # seconds after which a line that has not come meanwhile is news again
KEPT = 1000  # lines that are remembered


class Repeats(logging.Filter):
    """Lets a line through the 1st, 10th, 100th … time that it comes, the later times with their number and without its
    traceback."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: OrderedDict[tuple[str, str, str], tuple[int, float]] = OrderedDict()

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether a line is written; it may be changed to carry its number."""
        line, now = record.getMessage(), time.monotonic()
        key = record.name, line, repr(record.exc_info[1]) if record.exc_info else ""
        count, last = self._seen.pop(key, (0, now))
        count = count + 1 if now - last < AGAIN else 1
        self._seen[key] = count, now
        while len(self._seen) > KEPT:
            self._seen.popitem(last=False)
        if count > 1:
            record.msg, record.args, record.exc_info = f"{line} (for the {count:,}th time)", (), None
        return str(count).strip("0") == "1"


def begin(form: str) -> None:
    """Print what this process logs, in this form, to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(Repeats())
    logging.basicConfig(level=logging.INFO, format=form, handlers=[handler])
