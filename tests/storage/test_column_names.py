"""Which column was meant: by what names mean first, and only then by how they are spelled."""

from __future__ import annotations

import pytest

from groupwise.storage.spec.rows.column_names import meant_column, say_columns


@pytest.mark.parametrize(
    ("name", "columns", "meant"),
    [
        ("solution", ["question", "answer"], "answer"),
        ("solution", ["question", "ground-truth"], "ground-truth"),
        ("solution", ["question", "metadata"], None),
        ("problem", ["Frage", "Antwort"], "Frage"),
        ("ground_truth", ["prompt", "label"], "label"),
        ("anser", ["question", "answer"], "answer"),
        ("anwser_text", ["answer_text", "question"], "answer_text"),
        ("metadta", ["question", "metadata"], "metadata"),
        ("tests", ["question", "answer"], None),
        ("level", [], None),
        ("answer", ["Frage", "Lösung (€)"], "Lösung (€)"),
        ("answer", ["Nr", "Ergebnis [kg]"], "Ergebnis [kg]"),
        ("answer", ["answer (old)", "answer"], "answer"),
        ("question", ["编号", "问题", "答案"], "问题"),
        ("question", ["问题", "答案", "السؤال"], "问题"),
        ("answer", ["السؤال", "答案", "الجواب"], "答案"),
        ("question", ["Aufgabe", "Frage"], "Frage"),
        ("question", ["Frage", "Prompt", "Question"], "Question"),
        ("answer", ["編號", "問題", "答案"], "答案"),
        ("answer", ["番号", "質問", "回答"], "回答"),
        ("question", ["번호", "질문", "답변"], "질문"),
        ("question", ["№", "Вопрос", "Ответ"], "Вопрос"),
        ("answer", ["№", "Вопрос", "Ответ"], "Ответ"),
        ("question", ["الرقم", "السؤال", "الجواب"], "السؤال"),
        ("answer", ["Nº", "Pregunta", "Respuesta"], "Respuesta"),
        ("question", ["N", "Énoncé", "Réponse"], "Énoncé"),
        ("answer", ["N", "E\u0301nonce\u0301", "Re\u0301ponse"], "Re\u0301ponse"),
    ],
)
def test_the_column_that_was_meant(name: str, columns: list[str], meant: str | None) -> None:
    assert meant_column(name, columns) == meant


def test_one_column_is_no_several() -> None:
    assert say_columns(["question"]) == "The column is question."
    assert say_columns(["a", "b"]) == "The columns are a, b."
    assert say_columns(["a", "b", "c"], 2) == "The columns are a, b and 1 more."
