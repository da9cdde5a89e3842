"""Which encoding sentences are found to be in: many letters and few, in each language and what people save it in."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from groupwise.storage.home import paths
from groupwise.storage.spec.rows.file_format import ENCODING_WORDS
from groupwise.storage.spec.rows.mixed_text import MIXED
from groupwise.storage.spec.rows.text_kinds import is_binary
from groupwise.storage.spec.spec import DataSpec, ModelSpec
from groupwise.worker.data import preview
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.data.files.text_encoding import Encoded, find_encoding

WEST, CENTRAL = ["cp1252", "mac-roman", "cp850"], ["cp1250", "iso8859-2"]
# Language: (sentences, the encodings that people save them in).
SENTENCES = {
    "German": ("Wie groß ist die Fläche? Übrig bleiben fünf Äpfel, „süß“ für 3 €", ["cp1252", "mac-roman"]),
    "German DOS": ("Wie groß ist die Fläche? Übrig bleiben fünf Äpfel, süß", ["cp850"]),
    "French": ("Où est l’élève ? Ça coûte très cher, là-bas, à 5 € le mètre…", ["cp1252", "mac-roman"]),
    "French DOS": ("Où est l'élève ? Ça coûte très cher, là-bas, à la mairie", ["cp850"]),
    "Spanish": ("¿Cuántos niños más? Mañana él dirá: ¡sí! El número está aquí, según Ángel", WEST),
    "Portuguese": ("Quantas maçãs são? Não há lições, só três questões, é óbvio que já está", WEST),
    "Italian": ("Quanto è la metà? Perché così più grande, però già la città va giù", WEST),
    "Danish": ("Hvor mange æbler får Søren på én dag? Åse køber øl", ["cp1252", "mac-roman"]),
    "Swedish": ("Hur många äpplen är det på bordet? Åsa köper två öl", WEST),
    "English": ("It’s “about 5 °C” – she doesn’t know… 3 € each—or more", ["cp1252", "mac-roman"]),
    "Polish": ("Ile jabłek ma Ania? Łącznie są trzy, więc pięć mniej. Żółć, źle, oś", CENTRAL),
    "Czech": ("Kolik jablek má Petr? Čtyři, šest a tři žluté. Příště dům, něco, těší", CENTRAL),
    "Slovak": ("Koľko jabĺk má Ján? Štyri, päť a šesť. Čaká ho ťažká úloha, môže ísť, vôňa žitá", CENTRAL),
    "Hungarian": ("Hány alma van összesen? Öt szőlő, hűtő, tíz körte; kettőször több fiú ült ott, újra", CENTRAL),
    "Croatian": ("Koliko ima čaša i šoljica? Đak čita, žaba skače, noć će doći", CENTRAL),
    "Russian": ("Сколько яблок у Маши? Ответ: три, а у Пети ещё пять", ["cp1251", "koi8-r"]),
    "Ukrainian": ("Скільки яблук є у Марії? П’ять, а їх шість", ["cp1251"]),
    "Greek": ("Πόσα μήλα έχει η Μαρία; Έχει πέντε και τρία", ["cp1253"]),
    "Turkish": ("Ayşe’nin kaç elması var? Beş kırmızı, üç yeşil; ağaç güneşte, öğle, ışık", ["cp1254"]),
    "Lithuanian": ("Kiek obuolių turi Ąžuolas? Šeši, ačiū. Žalių yra trys, jį ėmė", ["cp1257"]),
    "Latvian": ("Cik ābolu ir Jānim? Četri, šeši; ļoti zaļi, ķirsis, dzīve, ģimene, būs", ["cp1257"]),
    "Hebrew": ("כמה תפוחים יש לדני בבית", ["cp1255"]),
    "Arabic": ("كم عدد التفاحات عند أحمد", ["cp1256"]),
    "Chinese": ("小明有三个苹果,小红给了他两个,现在一共有多少个?", ["gb18030"]),
    "Japanese": ("こんにちは世界,はい。りんごはいくつありますか", ["shift-jis", "euc-jp"]),
    "Korean": ("사과가 몇 개 있습니까? 세 개", ["euc-kr"]),
}  # fmt: skip
SAVED = [(language, encoding) for language, (_, encodings) in SENTENCES.items() for encoding in encodings]


def found_in(content: bytes) -> Encoded:
    parts = iter([content])
    return find_encoding(lambda _: next(parts, b""), "a.csv")


@pytest.mark.parametrize("times", [1, 40])
@pytest.mark.parametrize(("language", "encoding"), SAVED, ids=[" ".join(each) for each in SAVED])
def test_a_sentence_of_each_language_is_read_as_it_was_written(language: str, encoding: str, times: int) -> None:
    text = f"no,sentence\n{'1,' + SENTENCES[language][0]}\n" * times
    found = found_in(text.encode(encoding))
    assert text.encode(encoding).decode(found.name) == text, found


# A question of each language with more digits than letters, in which an encoding has few different letters to go by.
QUESTIONS = [
    ("質問,答え", "{n}足す{n}はいくつですか？", ["shift-jis", "euc-jp"]),
    ("question,answer", "りんごが{n}個とみかんが{n}個", ["shift-jis", "euc-jp"]),
    ("question,answer", "データ{n}", ["shift-jis", "euc-jp"]),
    ("问题,答案", "{n}加{n}等于多少？", ["gb18030"]),
    ("question,answer", "一本书{n}元", ["gb18030"]),
    ("問題,答案", "{n}加{n}等於多少？", ["big5"]),
    ("question,answer", "小明有{n}個蘋果", ["big5"]),
    ("질문,정답", "{n} 더하기 {n}는 얼마입니까?", ["euc-kr"]),
    ("question,answer", "사과가 {n}개 있다", ["euc-kr"]),
    ("вопрос,ответ", "Сколько будет {n} плюс {n}?", ["cp1251", "koi8-r"]),
    ("question,answer", "СКОЛЬКО БУДЕТ {n}+{n}?", ["cp1251", "koi8-r"]),
    ("question,answer", "Übrig bleiben {n} Äpfel für {n} Kinder", ["cp1252", "mac-roman", "cp850"]),
    ("question,answer", "¿Cuántos son {n} más {n}?", ["cp1252", "mac-roman"]),
    ("question,answer", "L’élève reçoit {n} pièces à {n} €", ["cp1252", "mac-roman"]),
    ("question,answer", "Ile to {n} dodać {n}? Łącznie są więc", ["cp1250"]),
    ("question,answer", "Πόσο κάνει {n} συν {n};", ["cp1253"]),
]  # fmt: skip
ASKED = [(heading, asked, encoding) for heading, asked, encodings in QUESTIONS for encoding in encodings]


@pytest.mark.parametrize("rows", [10, 29, 1000])
@pytest.mark.parametrize(("heading", "asked", "encoding"), ASKED, ids=[f"{e} {a}" for _, a, e in ASKED])
def test_a_short_file_of_questions_full_of_digits_is_read_as_it_was_written(
    heading: str, asked: str, encoding: str, rows: int
) -> None:
    text = heading + "\n" + "".join(f"{asked.format(n=n)},{2 * n}\n" for n in range(1, rows + 1))
    found = found_in(text.encode(encoding))
    assert text.encode(encoding).decode(found.name) == text, found


def test_where_few_characters_of_two_bytes_may_be_letters_both_readings_are_shown() -> None:
    found = found_in("q,a\n分数,1\n".encode("shift-jis"))
    assert found == Encoded("shift-jis", "cp1251", "分数", "•Єђ”")


def test_a_long_text_in_two_bytes_a_character_is_no_latin_one() -> None:
    signs = [*"我們在學校裡學習數學的方法是一個很好的", *map(chr, range(0x4E00, 0x4F80))]
    known = [sign for sign in signs if b"\xa4" <= sign.encode("big5", "ignore")[:1] <= b"\xc6"]
    pick = random.Random(1).choice
    text = "q,a\n" + "".join(f"{''.join(pick(known) for _ in range(30))},1\n" for _ in range(200))
    assert found_in(text.encode("big5")) == Encoded("big5")


FEW = [
    ("cp1252", "Größe"), ("cp1252", "café"), ("cp1252", "¿Qué tal?"), ("cp1252", "Fläche (m²)"), ("cp1252", "5 °C"),
    ("cp1252", "3 €"), ("cp1252", "don’t"), ("cp1252", "Straße 1–3"), ("cp1252", "größer\nöfter\n“sic”"),
    ("mac-roman", "Größe"), ("mac-roman", "café"), ("mac-roman", "für"), ("mac-roman", "élève"),
    ("cp850", "Größe"), ("cp850", "café"), ("cp850", "für"), ("cp850", "mañana"),
    ("cp1250", "są jabłka"), ("cp1250", "źdźbło"), ("cp1250", "příští šťáva"), ("cp1250", "Łódź"),
    ("cp1251", "привет"), ("cp1251", "Сколько"), ("koi8-r", "Сколько"), ("koi8-r", "привет как дела"),
]  # fmt: skip


@pytest.mark.parametrize(("encoding", "text"), FEW, ids=[f"{e} {t}" for e, t in FEW])
def test_a_word_may_do(encoding: str, text: str) -> None:
    content = f"question,answer\n{text},1\n".encode(encoding)
    found = found_in(content)
    assert content.decode(found.name) == content.decode(encoding), found


@pytest.mark.parametrize("more", ["w“w", "c“w\nd“e", "a€b"])
def test_a_sign_amid_a_word_does_not_outweigh_what_all_others_say(more: str) -> None:
    content = "Lösung,Größe\n".encode("cp1252") + f"{more},1\n".encode("cp1252") * 9
    assert found_in(content).name == "cp1252"


def test_where_two_encodings_fit_windows_1252_is_taken_and_both_readings_are_shown(registry_home: Path) -> None:
    assert found_in("question,answer\nmère,1\n".encode("cp1252")) == Encoded("cp1252", "cp1250", "mère", "mčre")
    path = paths.data_folder() / "a.csv"
    path.write_bytes("question,answer\nmère,1\n".encode("cp1252"))
    asked = DataSpec(source="file:a.csv")
    (said,) = [each for each in preview.preview(asked, ModelSpec(), 0).problems if each.field == "data.encoding"]
    assert said.level == "advice" and said.message == (
        f"read as Windows-1252, judged by few letters: “mère” would be “mčre” in {ENCODING_WORDS['cp1250']}. If it "
        "looks wrong, change the encoding."
    )
    assert said.fixes[0].settings == {"data.encoding": "cp1250"}
    chosen = preview.preview(asked.model_copy(update={"encoding": "cp1252"}), ModelSpec(), 0)
    assert "data.encoding" not in [each.field for each in chosen.problems]  # a person said it
    path.write_bytes("question,answer\nmère élève,à ça\n".encode("cp1252"))
    assert "data.encoding" not in [each.field for each in preview.preview(asked, ModelSpec(), 0).problems]


NOISE = random.Random(1).randbytes(5000)
NOISES = {
    "all": NOISE,
    "no control": bytes(byte for byte in NOISE if byte >= 32 or byte == 10),
    "no ASCII": NOISE.translate(None, bytes(range(128))),
}


@pytest.mark.parametrize("said", [None, "latin-1", "cp437", "koi8-r", "gb18030"])
@pytest.mark.parametrize("content", NOISES.values(), ids=NOISES)
def test_noise_is_no_text_whatever_encoding_is_chosen(registry_home: Path, content: bytes, said: str | None) -> None:
    (paths.data_folder() / "a.csv").write_bytes(content)
    with pytest.raises(DataError, match="a.csv is not text: it is binary. Choose another file, or export"):
        preview.preview(DataSpec(source="file:a.csv", encoding=said), ModelSpec(), 0)


@pytest.mark.parametrize("encoding", ["gb18030", "shift-jis", "big5", "euc-jp", "utf-8"])
def test_a_list_of_all_characters_is_text(encoding: str) -> None:
    signs = random.Random(1).sample([chr(n) for n in range(0x4E00, 0x9FA0)], 20_000)
    assert not is_binary("".join(f"{sign},1\n" for sign in ["q", *signs]).encode(encoding, "ignore"))


@pytest.mark.parametrize(("encoding", "text"), [("utf-16-le", "小明有三个苹果"), ("cp1252", "Größe")])
def test_an_encoding_that_is_chosen_is_used(registry_home: Path, encoding: str, text: str) -> None:
    (paths.data_folder() / "a.csv").write_bytes("".join(["q,a\n", *[f"{text},2\n"] * 40]).encode(encoding))
    (row, *_) = preview.preview_source.table_of(DataSpec(source="file:a.csv", encoding=encoding)).rows()
    assert text in row.values()


WESTERN = "question,answer\n" + "".join(f"Größe {n} süß?,„über {n}“ €\n" for n in range(30))
PLAIN = "question,answer\n" + "what,1\n" * 200_000


def reading_told(content: bytes, **said: str) -> list[str]:
    (paths.data_folder() / "a.csv").write_bytes(content)
    found = preview.preview(DataSpec(source="file:a.csv", **said), ModelSpec(), 0).problems
    return [each.message.replace(",", "") for each in found if each.field == "data.encoding"]


def test_lines_in_two_encodings_are_each_read_as_what_they_are_and_it_is_said(registry_home: Path) -> None:
    first = WESTERN.encode() + WESTERN.partition("\n")[2].encode("cp1252")
    (told,) = reading_told(first)
    assert told.startswith("30 lines of a.csv line 32 first are not in UTF-8 as the rest is: read as Windows-1252")
    assert "“Größe 0 süß?”" not in told and "“Größe” is in line 32" in told
    late = PLAIN.encode() + "süß,1\n".encode() + "größer,2\n".encode("cp1252")
    assert reading_told(late)[0].startswith("line 200003 of a.csv is not in UTF-8 as the rest is")
    assert reading_told("question,answer\nÜber?,1\n".encode("cp1252") + "süß,2\n".encode())[0].startswith("line 2 of")
    table = preview.preview_source.table_of(DataSpec(source="file:a.csv"))
    assert [row["question"] for row in table.rows()] == ["Über?", "süß"]
    assert reading_told(first, encoding=MIXED) == []  # a person said it


@pytest.mark.parametrize("text", ["Der Spaß“ war,größer\nüber,1", "Сколько яблок,привет", "Fläche (m²),5 °C"])
def test_a_text_in_one_encoding_is_not_taken_for_two(registry_home: Path, text: str) -> None:
    for encoding in ("utf-8", "cp1251" if "я" in text else "cp1252"):
        assert reading_told(f"question,answer\n{text}\n".encode(encoding) * 3) == []
