"""A number and its noun, in words that agree. Pure."""


def count_words(n: int, noun: str, many: str = "") -> str:
    """1 row, 2,000 rows; `many` where the plural is not the noun with an s."""
    return f"{n:,} {noun if n == 1 else many or f'{noun}s'}"


def are_words(n: int) -> str:
    """Gives “is” of one, “are” of any other number."""
    return "is" if n == 1 else "are"
