"""Whether a text has lines in UTF-8 and others in Windows-1252, and which: two files were joined, or rows pasted."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from groupwise.storage.spec.rows.mixed_text import MIXED
from groupwise.storage.spec.words.problem import Fix
from groupwise.worker.data.files.text_encoding import EVIDENCE, FAR, STEP, Read, likeliest_encoding, word_around

# What people write in Western languages, in UTF-8: as Windows-1252 it would be “Ã¼”, “â‚¬”, “â€œ”.
WESTERN_UTF8 = re.compile(rb"\xc3[\x80-\xbf]|\xc2[\xa0-\xbf]|\xe2\x82\xac|\xe2\x80[\x93-\xa6]")
READ_MIXED = Fix("Read what is not UTF-8 as Windows-1252", {"data.encoding": MIXED})


@dataclass
class OddLines:
    """The lines that are not UTF-8 in a text where others are: the number of the first (from 1), how many there are as
    far as was looked, and how a word of the first reads in Windows-1252."""

    first: int = 0
    count: int = 0
    word: str = ""
    sample: bytes = field(default=b"", repr=False)


def find_odd_lines(read: Read) -> OddLines | None:
    """The lines in Windows-1252 of a text that is UTF-8 elsewhere; None where it is not mixed so."""
    odd, lines, western = OddLines(), 0, False
    for block in _blocks_of_lines(read):
        if not block.isascii():
            western = western or _has_western_utf8(block)
            if not _is_utf8(block):
                _note_odd(odd, block, lines)
        lines += block.count(b"\n")
    is_mixed = western and odd.count and likeliest_encoding(odd.sample) == "cp1252"
    return odd if is_mixed else None


def _blocks_of_lines(read: Read) -> Iterator[bytes]:
    """Whole lines, about a megabyte at a time, as far as is looked."""
    rest, done = b"", 0
    while done < FAR and (block := read(STEP)):
        done += len(block)
        whole, end, begun = (rest + block).rpartition(b"\n")
        yield whole + end
        rest = begun
    yield rest


def _has_western_utf8(block: bytes) -> bool:
    """Whether a line of it that is UTF-8 has letters as Western languages do."""
    found = WESTERN_UTF8.search(block)
    while found:
        begin, end = block.rfind(b"\n", 0, found.start()) + 1, block.find(b"\n", found.end())
        end = end if end >= 0 else len(block)
        if _is_utf8(block[begin:end]):
            return True
        found = WESTERN_UTF8.search(block, end)
    return False


def _note_odd(odd: OddLines, block: bytes, before: int) -> None:
    """Take note of the lines of a block that are not UTF-8; `before`: lines before it."""
    for number, line in enumerate(block.split(b"\n"), before + 1):
        if line.isascii() or _is_utf8(line):
            continue
        if not odd.first:
            odd.first, odd.word = number, _odd_word(line)
        odd.count += 1
        if len(odd.sample) < EVIDENCE:
            odd.sample += line[:EVIDENCE] + b"\n"


def _odd_word(line: bytes) -> str:
    """The first word of a line that is not UTF-8, as Windows-1252 has it."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        text = line.decode("cp1252", "replace")
        return text[word_around(text, error.start)].strip("\r'")
    return ""


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
