"""What is raised where data cannot be used: a sentence for a person, at the field it is about."""

from groupwise.storage.spec.words.problem import Fix


class DataError(Exception):
    """The data cannot be used as the spec says; the message says where, why and what to do."""

    def __init__(self, message: str, field: str = "data.source", fixes: tuple[Fix, ...] = ()) -> None:
        super().__init__(message)
        self.field = field
        self.fixes = fixes


def first_line(error: BaseException) -> str:
    """What a library says of a fault, in one line: of the error itself, or of the one that it came from."""
    return (str(error.__cause__ or error).splitlines() or [type(error).__name__])[0][:300].rstrip(".")
