"""How well a text, as an encoding of two bytes a character gives it, reads as Chinese, Japanese or Korean. Pure.

Each character costs what it tells, in nats as in usual_letters, so that the two can be compared: kana and the frequent
characters of a language little, those that it has more, what hardly anyone writes most. Bytes of another encoding that
happen to be characters in these are mostly of the last kind.
"""

from collections import Counter
from collections.abc import Callable

from groupwise.worker.data.files.usual_letters import weight

# The frequent characters of a language, which make up more than half of a text in it.
SIMPLIFIED = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么"
    "去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日者意无力它与长把机十第公此已工使情明性知全三又关点"
    "正业外将两高间由问很最重并物手应向头文体美相见被利什二等产或新己制身果加西月话合回特代内信表化老给世位次度门任常先海通教儿原东"
    "声提立及比员解水名真论处走各入几口认条平系气题活更别打女变四总何电数安少才结反目太量再做接计期市直五六七八九百千万半乘除减每"
    "答买红苹果只元米书共剩余岁倍速"
)
TRADITIONAL = (
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼"
    "去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日者意無力它與長把機十第公此已工使情明性知全三又關點"
    "正業外將兩高間由問很最重並物手應向頭文體美相見被利什二等產或新己制身果加西月話合回特代內信表化老給世位次度門任常先海通教兒原東"
    "聲提立及比員解水名真論處走各入幾口認條平系氣題活更別打女變四總何電數安少才結反目太量再做接計期市直五六七八九百千萬半乘除減每"
    "答買紅蘋果隻元米書共剩餘歲倍速"
)
JAPANESE = (
    "日一国人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語木車何南"
    "万毎白天友父会同事自社発者地業方新場員立開手力問代明動目通言理体主題意不作用度強公持以思家世多正安心界教文元重近考知道集別物使"
    "品計特私始終住真有口少料工切足起着質答字買色走数引掛割個合計全部分式値最実現表的性対関回定内平等倍面積速円何枚匹"
)
KOREAN = (
    "이다는에을가의고를은하지로도한사어서인대기리그나자시라아수있해정일들것부보전과상제만여게스장조구주었으니면동모원관년안발방성문경소"
    "내신무회생각진적계단음위선물명말분용중국세학화개합비업러트드르오미마터야우재되려식실결당행와데거두같습까몇입요십더하빼곱나누값답"
    "셋넷섯홉덟둘열간속질얼권원살줄남"
)
KANA = set(map(chr, range(0x3041, 0x30FF)))
MARKS = set("　、。，．・：；？！「」『』（）〈〉《》【】［］～—…“”‘’＋－×÷＝％¥°０１２３４５６７８９")
IDEOGRAPHS, SYLLABLES = range(0x4E00, 0xA000), range(0xAC00, 0xD7A4)

REASON = 5.0  # what has to speak for any of these, as usual_letters.REASONS says it
FREQUENT = 5.3  # 1 in 200
KANA_LETTER = 4.0
MARK = 3.0
KNOWN = 9.0  # one of the few thousand that a language uses
UNKNOWN = 14.0
MOST_A_CHARACTER = 8.5  # what costs more for each of its characters is written in none of these languages

Bytes = Callable[[bytes], bool]


def _in_rows(first: int, last: int, trail: int = 0xA1) -> Bytes:
    """Whether two bytes are a character of the rows in which an encoding has those that are used."""
    return lambda pair: len(pair) == 2 and first <= pair[0] <= last and pair[1] >= trail


# The encodings, each with the frequent characters and where the other ones that are used stand: the first level of its
# standard, in which rare ones are in another.
WRITTEN_IN_TWO: dict[str, tuple[set[str], Bytes]] = {
    "shift-jis": (set(JAPANESE), _in_rows(0x88, 0x98, 0x40)),
    "euc-jp": (set(JAPANESE), _in_rows(0xB0, 0xCF)),
    "gb18030": (set(SIMPLIFIED), _in_rows(0xB0, 0xD7)),
    "big5": (set(TRADITIONAL), _in_rows(0xA4, 0xC6, 0x40)),
    "euc-kr": (set(KOREAN), _in_rows(0xB0, 0xC8)),
}
WITH_KANA = ("shift-jis", "euc-jp")


def characters_cost(text: str, encoding: str) -> float:
    """What a text costs as it reads in one of `WRITTEN_IN_TWO`, with what has to speak for that: the less, the
    likelier."""
    counted = Counter(letter for letter in text if not letter.isascii())
    return REASON + sum(weight(times) * _character_cost(letter, encoding) for letter, times in counted.items())


def are_characters_likely(text: str, cost: float) -> bool:
    """Whether a text that costs so much is in one of the languages that are written in two bytes a character."""
    counted = Counter(letter for letter in text if not letter.isascii())
    return cost <= MOST_A_CHARACTER * sum(map(weight, counted.values())) + REASON


def _character_cost(letter: str, encoding: str) -> float:
    frequent, is_used = WRITTEN_IN_TWO[encoding]
    if letter in frequent:
        return FREQUENT
    if letter in MARKS:
        return MARK
    if letter in KANA:
        return KANA_LETTER if encoding in WITH_KANA else UNKNOWN
    is_letter = ord(letter) in IDEOGRAPHS or ord(letter) in SYLLABLES
    return KNOWN if is_letter and is_used(letter.encode(encoding)) else UNKNOWN
