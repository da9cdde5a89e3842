"""Text with lines in UTF-8 and others in Windows-1252, as where two files were joined. Pure; a run's plain script has
this very code."""

import codecs

MIXED = "utf-8+cp1252"  # as a spec names it
HANDLER = "as cp1252"  # of the bytes that are not UTF-8


def bytes_as_cp1252(error: UnicodeError) -> tuple[str, int]:
    """What is not UTF-8 is read as Windows-1252."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error(HANDLER, bytes_as_cp1252)


def new_decoder(encoding: str, errors: str = "strict") -> codecs.IncrementalDecoder:
    """What decodes a text piece by piece, in an encoding as a spec names it."""
    if encoding == MIXED:
        encoding, errors = "utf-8", HANDLER
    return codecs.getincrementaldecoder(encoding)(errors)
