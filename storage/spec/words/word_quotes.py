"""Quotation marks as a word processor writes them, which YAML takes for letters of a text: “t12”. Pure."""

from groupwise.storage.spec.words.odd_spaces import trim_spaces

SIGNS = "“”„‟‘’‚‛«»‹›＂「」"
QUOTES_ARE_LETTERS = "the quotation marks around it are a word processor's: in YAML they are part of the text."


def inside_quotes(text: str) -> str:
    """What stands between such marks; of a text that has none at both ends, the text."""
    plain = trim_spaces(text)
    if len(plain) < 3 or plain[0] not in SIGNS or plain[-1] not in SIGNS:
        return text
    return trim_spaces(plain[1:-1])
