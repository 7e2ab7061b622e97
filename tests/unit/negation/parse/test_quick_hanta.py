"""The faster tagger is HanTa; the tokenizer is NLTK's but for what it splits further."""

import json
from pathlib import Path

import pytest
from HanTa.HanoverTagger import HanoverTagger
from nltk.tokenize import NLTKWordTokenizer

from nt2vr.negation.parse.tagger import QuickHanta
from nt2vr.negation.parse.tokens import as_tagged, word_spans

DATA = Path(__file__).parent / "data"
TEXTS = [
    json.loads(line)["text"]
    for name in ("typed_queries", "queries_of_every_kind")
    for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.fixture(scope="module")
def hanta() -> HanoverTagger:
    return HanoverTagger("morphmodel_en.pgz")


@pytest.fixture(scope="module")
def quick() -> QuickHanta:
    return QuickHanta()


def test_sentences_have_hantas_tags(hanta: HanoverTagger, quick: QuickHanta) -> None:
    sentences = [[as_tagged(text[start:end]) for start, end in word_spans(text)] for text in TEXTS]
    assert [quick.tag_sent(words, taglevel=0) for words in sentences] == [
        hanta.tag_sent(words, taglevel=0) for words in sentences
    ]


def test_a_long_compound_is_an_adjective_or_what_its_last_part_is(quick: QuickHanta) -> None:
    assert quick.tag_sent(["a", "chocolate-topped", "donut"], taglevel=0)[1] == "AJ0"
    assert quick.tag_sent(["the", "merry-go-round"], taglevel=0)[1] == "NN1"


def test_plain_text_is_split_as_by_nltk() -> None:
    treebank = NLTKWordTokenizer()
    texts = [
        "It's 10,000 dogs, isn't it? (yes)",
        "a-b c/d e_f; the girl's hats... wait -- no!",
        "we'll, I'm; they've 3:1",
    ]
    assert [word_spans(text) for text in texts] == [[*treebank.span_tokenize(text)] for text in texts]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("dont don t isnt", ["do", "nt", "do", "n t", "is", "nt"]),
        ("a car-free street", ["a", "car", "-free", "street"]),
        ('pasta -"tomato sauce"', ["pasta", '-"', "tomato sauce"]),
        ("Mr. Bean sings. no hat.", ["Mr.", "Bean", "sings", ".", "no", "hat", "."]),
        ("a 'no parking' sign", ["a", "'", "no", "parking", "'", "sign"]),
    ],
)
def test_further_splits(text: str, words: list[str]) -> None:
    assert [text[start:end] for start, end in word_spans(text)] == words
