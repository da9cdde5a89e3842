"""Which row of its source each row of the data is, through filter and shuffle: a fault can be found in the file."""

from typing import Any

import numpy as np

ROW = "groupwise_row"  # a column beside the source's own, counted from 0


def number_rows(rows: Any) -> Any:
    """The rows of a Dataset with their numbers; a stream as it is: its rows have no places to go back to."""
    if not hasattr(rows, "__len__") or ROW in (rows.column_names or []):
        return rows
    return rows.add_column(ROW, np.arange(len(rows)))


def row_words(number: int) -> str:
    """“row 17 of the data”, as the preview counts them."""
    return f"row {number + 1:,} of the data"
