"""What TRL logs with a dict of its own arguments, said in words instead: the dict has the whole row, columns that only
this dashboard knows, and a completion."""

import logging
import re

from groupwise.worker.data.source_rows import ROW, row_words

LOGGER = "trl.trainer.grpo_trainer"
UNSCORED = "All reward functions returned None for the following kwargs:"
PLACE = re.compile(rf"'{ROW}': (?:[\w.]+\()?(\d{{1,15}})")


class UnscoredInWords(logging.Filter):
    """Says of a completion that no function scored at which row of the data it is: 1, 2, 4, 8 … times, as failures of
    functions are (failures.py)."""

    def __init__(self) -> None:
        super().__init__()
        self._times = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is to be logged, which has our words by then."""
        said = record.getMessage()
        if UNSCORED not in said:
            return True
        self._times += 1
        times = self._times
        place = PLACE.search(said)
        at = f"at {row_words(int(place[1]))}" if place else ""
        words = "Warning: all reward functions gave a completion no score"
        if times > 2:
            words += f"; the last of {times} such completions was {at}" if at else f"; {times} such completions so far"
        elif at:
            words += f", {at}"
        record.msg, record.args = f"{words}.", ()
        return times & (times - 1) == 0


_in_words = UnscoredInWords()


def keep_dicts_out() -> None:
    """From now on, in this process."""
    logging.getLogger(LOGGER).addFilter(_in_words)
