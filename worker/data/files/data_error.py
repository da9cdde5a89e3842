"""What is raised where data cannot be used: a sentence for a person, at the field it is about."""

import contextlib
from collections.abc import Iterable, Iterator

from groupwise.storage.spec.words.problem import Fix


class DataError(Exception):
    """The data cannot be used as the spec says; the message says where, why and what to do. `sheets`: those of a
    workbook that could be opened, of which another may be chosen."""

    def __init__(
        self,
        message: str,
        field: str = "data.source",
        fixes: tuple[Fix, ...] = (),
        sheets: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.field = field
        self.fixes = fixes
        self.sheets = sheets


@contextlib.contextmanager
def named_sheets(sheets: Iterable[str]) -> Iterator[None]:
    """Gives the sheets of the workbook that is read to a DataError about it."""
    try:
        yield
    except DataError as error:
        error.sheets = tuple(sheets)
        raise


def first_line(error: BaseException) -> str:
    """What a library says of a fault, in one line: of the error itself, or of the one that it came from."""
    return (str(error.__cause__ or error).splitlines() or [type(error).__name__])[0][:300].rstrip(".")
