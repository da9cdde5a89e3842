"""What columns of data are usually called, by what they mean: which of those that are there was meant by a name."""

import difflib
import re
import unicodedata
from collections.abc import Collection

from groupwise.storage.spec.words.foreign_letters import without_accents

CHATS = ("messages", "prompt", "conversation", "conversations", "chat")
PROMPTS = ("question", "problem", "prompt", "instruction", "query", "input", "text", "task", "puzzle", "goal", "q",
           "frage", "aufgabe", "pregunta", "problema", "domanda", "problème", "énoncé", "pergunta", "vraag", "fråga",
           "pytanie", "soru", "câu_hỏi", "вопрос", "задача", "питання", "ερώτηση", "प्रश्न", "سؤال", "السؤال", "שאלה",
           "问题", "問題", "题目", "題目", "提问", "質問", "問い", "질문", "문제", "คำถาม")  # fmt: skip
ANSWERS = ("answer", "final_answer", "solution", "target", "label", "expected", "ground_truth", "expected_answer",
           "output", "response", "result", "completion", "a", "lösung", "loesung", "antwort", "réponse", "reponse",
           "respuesta", "risposta", "ergebnis", "resultat", "résultat", "resultado", "risultato", "solución",
           "soluzione", "solução", "resposta", "antwoord", "svar", "odpowiedź", "cevap", "yanıt", "đáp_án",
           "câu_trả_lời", "ответ", "решение", "відповідь", "απάντηση", "उत्तर", "جواب", "الجواب", "إجابة", "الإجابة",
           "תשובה", "答案", "回答", "解答", "答え", "正解", "답변", "정답", "답", "คำตอบ",
           "answers", "solutions", "targets", "labels", "groundtruth", "gold", "gold_answer", "reference",
           "reference_answer", "correct_answer", "truth")  # fmt: skip
# Columns that no reward function can get: TRL calls it with values of its own under these names, and takes `image` and
# `images` for pictures that belong to the prompt.
TRL_OWN = {"prompts", "completion", "completions", "completion_ids", "trainer_state", "log_extra", "log_metric",
           "environments", "image", "images"}  # fmt: skip
RESERVED = {"prompt", *TRL_OWN}
TESTS = ("tests", "test_cases", "unit_tests", "test_list", "testcases")
MEANINGS = (PROMPTS, ANSWERS, TESTS)
# One word in many languages: none of them is more usual than another.
SAME_WORD = (
    {"frage", "pregunta", "domanda", "pergunta", "vraag", "fråga", "pytanie", "soru", "câu_hỏi", "вопрос", "питання",
     "ερώτηση", "प्रश्न", "سؤال", "السؤال", "שאלה", "问题", "問題", "提问", "質問", "問い", "질문", "คำถาม"},
    {"antwort", "réponse", "reponse", "respuesta", "risposta", "resposta", "antwoord", "svar", "odpowiedź", "cevap",
     "yanıt", "câu_trả_lời", "ответ", "відповідь", "απάντηση", "उत्तर", "جواب", "الجواب", "إجابة", "الإجابة", "תשובה",
     "答案", "回答", "答え", "답변", "답", "คำตอบ"},
)  # fmt: skip


def find_named(wanted: Collection[str], columns: Collection[str]) -> str | None:
    """The column that has one of the names, the first of them first; among names that are one word in several
    languages, the first column that has one."""
    ranks = _rank_names(list(wanted))
    found = []
    for column in columns:
        plain = _plain(column)
        name = plain if plain in ranks else _without_unit(plain)
        if name in ranks:
            found.append(((ranks[name], name != plain), column))
    return min(found, key=lambda each: each[0])[1] if found else None


def _rank_names(wanted: list[str]) -> dict[str, int]:
    """The names by how far behind they come."""
    places = {name: place for place, name in reversed(list(enumerate(wanted)))}
    for same in SAME_WORD:
        given = same & places.keys()
        places |= dict.fromkeys(given, min(map(places.__getitem__, given), default=0))
    return places


def column_of_same_meaning(name: str, columns: Collection[str]) -> str | None:
    """The column that means the same as `name`, the most usual name first: `answer` for `solution`; None where there is
    none."""
    found = (find_named(names, columns) for names in MEANINGS if _plain(name) in names)
    return next((column for column in found if column), None)


def meant_column(name: str, columns: Collection[str]) -> str | None:
    """The column that was probably meant: one of the same meaning, else one that is spelled nearly so and does not mean
    something else (of `solution`, `answer` and never `question`); None where there is neither."""
    if same := column_of_same_meaning(name, columns):
        return same
    own = [names for names in MEANINGS if _plain(name) in names]
    others = {each for names in MEANINGS if own and names not in own for each in names}
    near = {without_accents(_plain(column)): column for column in columns if _plain(column) not in others}
    close = difflib.get_close_matches(without_accents(_plain(name)), list(near), n=1, cutoff=0.6)
    return near[close[0]] if close else None


def _without_unit(plain: str) -> str:
    """“lösung” of “lösung_(€)”."""
    return re.sub(r"_*[(\[][^()\[\]]*[)\]]$", "", plain)


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", unicodedata.normalize("NFC", name).strip().lower())


def say_columns(names: Collection[str], most: int = 0) -> str:
    """The sentence that says which columns there are; of more than `most` (0: however many) the first."""
    named = list(names)[:most] if most else list(names)
    more = f" and {len(names) - most:,} more" if most and len(names) > most else ""
    return f"The {'column is' if len(names) == 1 else 'columns are'} {', '.join(named)}{more}."
