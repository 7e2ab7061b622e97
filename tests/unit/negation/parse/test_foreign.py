"""The notice for queries in another language."""

import json
from pathlib import Path

import pytest

from nt2vr.negation.parse.foreign import NOTICE, notice_of
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer
from nt2vr.ui.search.query_view import understood_view
from nt2vr.ui.search.state import SearchState

DATA = Path(__file__).parent / "data" / "families.jsonl"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "kein Hund am Strand",
            "un homme sans chapeau",
            "pies bez smyczy na plaży",
            "köpek olmayan bir adam",
        ),
        *(
            "собака без поводка",
            "pas de chat",
            "không có chó",
            "dog aber keine cat",
            "犬が海辺を走る",
        ),
        *("koira ilman hihnaa", "anjing tanpa tali"),
    ],
)
def test_a_query_in_another_language_gets_a_notice(text: str) -> None:
    assert notice_of(text) == NOTICE


def test_english_queries_names_and_loan_words_get_no_notice() -> None:
    texts = [json.loads(line)["text"] for line in DATA.read_text(encoding="utf-8").splitlines()]
    texts += [
        "beach sans people",
        "a beach in Rio de Janeiro",
        "La La Land",
        "pas de deux ballet",
        "crème brûlée",
    ]
    texts += ["a sin city poster", "horse eating hay", "doggo zoomies", "messi ronaldo"]
    assert [text for text in texts if notice_of(text)] == []


def test_the_notice_reaches_the_page_and_the_api() -> None:
    answer = Answer(Query("ein Hund ohne Leine"), ())
    assert (
        understood_view(answer, SearchState(), answer.query, "")["notice"],
        answer.as_dict()["query"]["notice"],
    ) == (NOTICE, NOTICE)
    assert "notice" not in Answer(Query("a dog"), ()).as_dict()["query"]
