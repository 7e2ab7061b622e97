"""The notice for queries in another language."""

import json
from pathlib import Path

import pytest

from nt2vr.negation.parse.foreign import NOTICE, notice_of
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer
from nt2vr.ui.search.state import SearchState
from nt2vr.ui.search.view import understood_view

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize(
    "text",
    [
        "kein Hund am Strand",
        "un homme sans chapeau",
        "no hay perros en la playa",
        "um homem sem chapéu",
        "uomo senza cappello",
        "een man zonder hoed",
        "pies bez smyczy na plaży",
        "köpek olmayan bir adam",
        "собака без поводка",
        "ni perros ni gatos",
        "alle außer der Braut",
        "pas de chat",
        "sans musique",
        "sin lluvia en la calle",
        "pigen danser ikke",
        "ranta ilman ihmisiä",
        "muž bez klobouku",
        "fără câini",
        "tidak ada anjing",
        "không có chó",
        "żadnych psów",
        "kutya nélkül",
        "dog aber keine cat",
        "walang aso",
        "犬が海辺を走る",
    ],
)
def test_a_query_in_another_language_gets_a_notice(text: str) -> None:
    assert notice_of(text) == NOTICE


@pytest.mark.parametrize(
    "text",
    [
        "",
        "🐶",
        "dog",
        "beach sans people",
        "a beach in Rio de Janeiro",
        "Las Vegas at night",
        "La La Land",
        "Das Boot",
        "Leonardo da Vinci",
        "Ludwig van Beethoven",
        "Tour de France",
        "pas de deux ballet",
        "Cirque du Soleil",
        "crème brûlée",
        "paso doble",
        "a sin city poster",
        "a man in a bar",
        "El Clásico",
        "José González playing guitar",
        "horse eating hay",
        "MIT robot",
    ],
)
def test_names_and_loan_words_get_none(text: str) -> None:
    assert notice_of(text) == ""


@pytest.mark.parametrize("name", ["typed_queries", "queries_of_every_kind"])
def test_no_english_test_query_gets_one(name: str) -> None:
    texts = [json.loads(line)["text"] for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [text for text in texts if notice_of(text)] == []


def test_the_notice_reaches_the_page_and_the_api() -> None:
    answer = Answer(Query("ein Hund ohne Leine"), ())
    assert (
        understood_view(answer, SearchState(), {}, answer.query)["notice"],
        answer.as_dict()["query"]["notice"],
    ) == (NOTICE, NOTICE)
    assert "notice" not in Answer(Query("a dog"), ()).as_dict()["query"]
