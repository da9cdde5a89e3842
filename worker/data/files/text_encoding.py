"""Which encoding a text file is in, by the bytes of it that say so. The same bytes always give the same answer."""

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from groupwise.storage.spec.rows.file_format import Encoding
from groupwise.storage.spec.rows.mixed_text import MIXED
from groupwise.storage.spec.rows.text_kinds import binary_words, decodes, is_binary
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.data.files.usual_characters import WRITTEN_IN_TWO, are_characters_likely, characters_cost
from groupwise.worker.data.files.usual_letters import LATIN, WRITTEN, is_likely, reading_cost
from groupwise.worker.data.files.zero_bytes import find_utf16

HEAD = 256 * 1024  # bytes that are always looked at
FAR = 64 * 2**20  # bytes in which the first letter that is not ASCII is looked for
STEP = 2**20
EVIDENCE = 32 * 1024  # bytes from that letter on that are weighed
CLEAR = 4.0  # nats by which the best has to be ahead of what reads otherwise, or a person is told of both
BESIDE = 0.3  # share of letters beyond ASCII that stand beside plain ones, in Latin script
BESIDE_PLAIN = re.compile(rb"(?<=[A-Za-z])[\x80-\xff]|[\x80-\xff](?=[A-Za-z])")
BREAKS, WORD = '\n\t ;,|":', 40  # around a word that is shown; characters of it
BREAK = re.compile(f"[{BREAKS}]")
MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
# UTF-8 that was read as Windows-1252 and saved: “Ã¼” for “ü”, “â‚¬” for “€”.
MOJIBAKE = re.compile("Ã[\u0080-¿ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|â‚¬|â€[œž“”™˜¦\u009d]|Â[\u00a0-¿]|�")

Read = Callable[[int], bytes]  # reads on so many bytes; fewer only at the end


@dataclass(frozen=True)
class Encoded:
    """The encoding of a text by its name in a spec. `rival`: another that fits about as well ("": none does), with a
    word as the two of them read it."""

    name: str
    rival: str = ""
    word: str = ""
    rival_word: str = ""


def find_encoding(read: Read, name: str) -> Encoded:
    """The encoding of the text that `read` gives. Raises DataError for what is no text."""
    head = read(HEAD)
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)) and not head.startswith(b"\xff\xfe\0\0\0"):
        raise DataError(f"{name} is in UTF-32. Save it as UTF-8 text.")
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return Encoded(encoding)
    if b"\0" in head:
        return Encoded(find_utf16(head, name))
    if is_binary(head):
        raise DataError(binary_words(name))
    return _find_by_letters(_evidence(head, read))


def _evidence(head: bytes, read: Read) -> bytes:
    """The bytes from the first line on that is not all ASCII; empty where all that is looked at is."""
    block, done = head, len(head)
    while block.isascii():
        block = read(STEP) if done < FAR else b""
        done += len(block)
        if not block:
            return b""
    at = next(n for n in range(0, len(block), 4096) if not block[n : n + 4096].isascii())
    return block[block.rfind(b"\n", 0, at) + 1 :][: EVIDENCE + 4096]


def _find_by_letters(evidence: bytes) -> Encoded:
    if decodes(evidence, "utf-8"):
        return Encoded("utf-8")
    kept = evidence.decode("utf-8", "ignore")
    lost = len(evidence) - len(kept.encode())
    if not kept.isascii() and sum(not letter.isascii() for letter in kept) > 2 * lost:
        return Encoded("utf-8")  # with a damaged place, which is said where it is
    return _likeliest(evidence)


def likeliest_encoding(evidence: bytes) -> str:
    """The encoding other than UTF-8 in which the bytes read best, by its name in a spec."""
    return _likeliest(evidence).name


def _likeliest(evidence: bytes) -> Encoded:
    """The encoding in which the bytes read best: in one byte a letter, or in two where they are characters that
    languages have, as the bytes of another encoding are hardly ever by chance."""
    read = {name: _as_read(evidence, name) for name in (*WRITTEN, *WRITTEN_IN_TWO) if decodes(evidence, name)}
    costs = {name: reading_cost(read[name], name) for name in WRITTEN if name in read}
    in_two = {name: characters_cost(read[name], name) for name in WRITTEN_IN_TWO if name in read}
    known = {name: cost for name, cost in in_two.items() if are_characters_likely(read[name], cost)}
    likeliest = min(costs, key=costs.__getitem__, default="")
    if likeliest and _is_known(evidence, read[likeliest], likeliest, costs[likeliest], alone=not known):
        known |= costs
    if not known:
        return Encoded(_find_by_language(evidence, likeliest or "latin-1"))
    best, *others = sorted(known, key=known.__getitem__)
    rival = next((name for name in others if read[name] != read[best]), "")
    if not rival or known[rival] - known[best] > CLEAR:
        return Encoded(best)
    return Encoded(best, rival, *_differing_word(read[best], read[rival]))


def _as_read(evidence: bytes, encoding: str) -> str:
    """The text in an encoding in which it is text, without what it ends within."""
    return evidence.decode(encoding, "ignore")


def _is_known(evidence: bytes, text: str, encoding: str, cost: float, *, alone: bool) -> bool:
    """Whether these are letters as a known language has them, or, in Latin script, at least among plain ones, where it
    reads so `alone`: of two bytes that are a character the second may be a plain letter."""
    beyond = sum(byte > 127 for byte in evidence)
    among = alone and encoding in LATIN and len(BESIDE_PLAIN.findall(evidence)) >= BESIDE * beyond
    return among or is_likely(text, cost)


def _differing_word(here: str, there: str) -> tuple[str, str]:
    """The first word that two encodings read differently, as both read it, or as much of it as is shown."""
    words = zip(BREAK.split(here), BREAK.split(there), strict=False)
    one, other = next((pair for pair in words if pair[0] != pair[1]), ("", ""))
    return one[:WORD].strip("\r'"), other[:WORD].strip("\r'")


def word_around(text: str, at: int) -> slice:
    """Where the word around a place of a text stands, or as much of it as is shown."""
    begin = max(text.rfind(mark, 0, at) for mark in BREAKS) + 1
    end = min((found for mark in BREAKS if (found := text.find(mark, at)) >= 0), default=len(text))
    return slice(begin, min(end, begin + WORD))


def _find_by_language(evidence: bytes, likeliest: str) -> str:
    """What charset-normalizer takes it for, of those that a spec can say; the likeliest where it has no idea."""
    from charset_normalizer import from_bytes

    names = {codecs.lookup(name).name: name for name in get_args(Encoding) if not name.startswith("utf")}
    named = [name for name in get_args(Encoding) if name != MIXED]
    best = from_bytes(evidence, cp_isolation=named).best()
    found = names.get(codecs.lookup(best.encoding).name) if best is not None else None
    return found or likeliest


def misread_letters(texts: list[str]) -> str:
    """An example of text that looks decoded wrongly; "" where none does."""
    for text in texts:
        found = MOJIBAKE.search(text)
        if found:
            return " ".join(text[max(found.start() - 20, 0) : found.end() + 20].split())
    return ""
