"""How well a text, as an encoding gives it, reads as one of the languages that are written in that encoding. Pure.

Each letter beyond ASCII costs what it tells (in nats): little where a language is full of it, more where none has it,
most where it stands as no one writes: a sign between letters, a capital after a small letter, two scripts in a word.
"""

import math
import re
from collections import Counter

# The letters beyond ASCII that are frequent in a language. Rare ones are left out: they tell little.
WESTERN = (
    "äöüßé", "éèàçêùâîôûëïœ", "áéíóúñü¿¡", "ãõáéíóúâêôàç", "àèéìòù", "åäöé", "åæøé", "ëïéèü", "áéíóúýðþæö", "äöõü",
    "àèéíïóòúüç",
)  # fmt: skip
CENTRAL = (
    "ąćęłńóśźż", "áíéěščřžýůúňť", "áéíýúčšžťľňô", "áéíóöőúüű", "čćđšž", "ăâîşţ", "äöüßé",
)  # fmt: skip
TURKISH = ("çğıöşüİ",)
BALTIC = ("ąčęėįšųūž", "āčēģīķļņšūž", "äöõüšž")
# Other scripts, the most frequent letters first.
CYRILLIC = ("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё", "оанивтрелскдмупзьягбйчхіїшжєюцщфґ", "аоеиунтрсјвклдмпгзбшчхжцћљњђфџ")
GREEK = ("ατοιενσρκπμλςήίόάυέηγωδχθύφώβξζψ",)
HEBREW = ("יוהלאמרתבשנכדחפעםקטגזסצןךףץ",)
# The encodings of one byte a letter that are weighed, and what is written in them.
WRITTEN = {
    "cp1252": WESTERN, "mac-roman": WESTERN, "cp850": WESTERN, "cp1250": CENTRAL, "iso8859-2": CENTRAL,
    "cp1254": TURKISH, "cp1257": BALTIC, "cp1251": CYRILLIC, "koi8-r": CYRILLIC[:1], "cp1253": GREEK, "cp1255": HEBREW,
}  # fmt: skip
LATIN = ("cp1252", "mac-roman", "cp850", "cp1250", "iso8859-2", "cp1254", "cp1257")
# Signs that people use beside letters, in any of them.
SIGNS = set("€„“”‚‘’–—…«»‹›°§²³µ·×÷±½¼¾£¥©®™•º¡¿№\u00a0")
USUAL_SIGNS = set("’“”„–—€°")  # those that fill whole files: what English has beside ASCII
AMONG_LETTERS = set("’‘–—\u00a0")  # those that may stand between two of them
# What has to speak for an encoding, in nats: the rarer files in it are, the more. Excel saves in Windows-1252.
REASONS = {"cp1252": 0.0, "cp1250": 3.0, "cp1254": 3.5, "iso8859-2": 5.0, "cp1257": 5.0, "cp1251": 5.0}
USUAL_REASON = 3.5

MOST_A_LETTER = 4.0  # what costs more for each of its letters is written in none of these languages
LONG = 24  # letters: a script of its own, of which the first half makes five of six letters
OF_ANOTHER = 5.3  # a letter that another language of this encoding has: 1 in 200
RARE = 8.0  # any other letter
SIGN = 2.5
USUAL_SIGN = 1.5
NO_TEXT = 8.0  # what is neither a letter nor a usual sign
SIDE_BY_SIDE = 2.5  # two letters beyond ASCII together, in Latin script
AMID = 6.0  # a sign between two letters, or one that opens after a letter
LONE = 2.5  # a letter beyond ASCII that is a word
CAPITAL = 5.0  # after a small letter
TWO_SCRIPTS = 12.0  # in one word
PAIR = re.compile(r"(?=([^\W\d_])([^\W\d_]))")
LONE_LETTER = re.compile(r"(?<!\w)[^\W\x00-\x7f](?!\w)")
SIGN_AMID = re.compile(r"(?<=[^\W\d_])([„‚¿¡]|(?:[^\w\s\x00-\x7f]|[ˆµ])+(?=[^\W\d_]))|[€©®](?=[^\W\d_])")


def reading_cost(text: str, encoding: str) -> float:
    """What a text costs as it reads in one of `WRITTEN`, by the language that fits best, with what has to speak for the
    encoding: the less, the likelier."""
    letters = Counter(letter for letter in text if not letter.isascii())
    known = set("".join(WRITTEN[encoding]))
    by_language = (
        sum(weight(times) * _letter_cost(letter, language, known) for letter, times in letters.items())
        for language in WRITTEN[encoding]
    )
    return REASONS.get(encoding, USUAL_REASON) + min(by_language) + _misplaced(text, encoding in LATIN)


def is_likely(text: str, cost: float) -> bool:
    """Whether a text that costs so much is in one of the languages that are weighed."""
    letters = Counter(letter for letter in text if not letter.isascii())
    return cost <= MOST_A_LETTER * sum(map(weight, letters.values())) + USUAL_REASON


def weight(times: int) -> float:
    """What the same thing tells that is seen so often: its second time is no second reason."""
    return 1 + math.log(times)


def _letter_cost(letter: str, language: str, known: set[str]) -> float:
    small = letter.lower() if letter != "İ" else letter
    if small in language:
        half = -0.5 if language.index(small) < len(language) / 2 else 1.0
        return math.log(len(language)) + (half if len(language) > LONG else 0.1)
    if small in known:
        return OF_ANOTHER
    if letter in SIGNS:
        return USUAL_SIGN if letter in USUAL_SIGNS else SIGN
    return RARE if letter.isalpha() else NO_TEXT


def _misplaced(text: str, latin: bool) -> float:
    """What letters and signs cost that stand where they should not."""
    signs = Counter(found[0] for found in SIGN_AMID.finditer(text) if set(found[0]) - AMONG_LETTERS)
    cost = AMID * sum(map(weight, signs.values()))
    for (left, right), times in Counter(PAIR.findall(text)).items():
        if left.isascii() and right.isascii():
            continue
        cost += weight(times) * CAPITAL * (left.islower() and right.isupper())
        both = not left.isascii() and not right.isascii()
        cost += weight(times) * (SIDE_BY_SIDE * latin if both else TWO_SCRIPTS * (not latin))
    return cost + LONE * latin * sum(map(weight, Counter(LONE_LETTER.findall(text)).values()))
