"""Words, tags and lemmas of captions and queries; the faster tagger's tags are HanTa's."""

import json
from pathlib import Path

import pytest
from HanTa.HanoverTagger import HanoverTagger
from nltk.tokenize import NLTKWordTokenizer

from nt2vr.negation.parse.tagger import QuickHanta, load_tagger
from nt2vr.negation.parse.tokens import VERB_TAGS, as_tagged, word_spans

TAGSET = {*"NOUN PRON DET ADJ ADV NUM ADP CONJ WH NEG TO POS PUNCT OTHER".split(), *VERB_TAGS}
LINES = (Path(__file__).parent / "data" / "families.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("a man dances", "DET NOUN VBZ"),
        ("people singing to the camera", "NOUN VBG ADP DET NOUN"),
        ("not painting", "NEG VBG"),
        ("a man surfing", "DET NOUN VBG"),
        ("he doesn't pitch a ball", "PRON VBZ NEG VB DET NOUN"),
        ("a man that sings", "DET NOUN WH VBZ"),
        ("not wine or beer", "NEG NOUN CONJ NOUN"),
        ("a man sings. no guitar", "DET NOUN VBZ PUNCT DET NOUN"),
        ("beach -man", "NOUN PUNCT NOUN"),
        # Datasets drop apostrophes.
        ("a guy doesn t move", "DET NOUN VBZ NEG VB"),
        ("a man loads a gun", "DET NOUN VBZ DET NOUN"),
        # The verb of a caption that seems to have none.
        (
            "people dance on stage",
            "NOUN VBP ADP NOUN",
        ),
        ("cats and nobody", "NOUN CONJ PRON"),
        # Not read as: avoid | shows.
        ("shows a trick to avoid", "VBZ DET NOUN TO VB"),
    ],
)
def test_words_of_captions_are_tagged(text: str, tags: str) -> None:
    assert " ".join(token.tag for token in load_tagger().tag(text)) == tags


def test_lemmas_of_verbs_and_nouns() -> None:
    lemmas = [
        token.lemma
        for token in load_tagger().tag("two dogs were riding bikes and it isn't barking")
    ]
    assert lemmas == ["two", "dog", "be", "ride", "bike", "and", "it", "be", "not", "bark"]


@pytest.mark.parametrize(
    "text",
    ["", '🐶 犬, t-shirt "quoted" \'\'mixed" don’t', "a" * 900, "İİİ nt n't"],  # noqa: RUF001
)
def test_tokens_match_their_positions_and_the_tagset(text: str) -> None:
    tokens = load_tagger().tag(text)
    for token in tokens:
        assert token.text == text[token.start : token.end]
        assert token.text
        assert token.tag in TAGSET
    assert [token.start for token in tokens] == sorted(token.start for token in tokens)


def test_sentences_have_hantas_tags() -> None:
    quick = QuickHanta()
    hanta = HanoverTagger("morphmodel_en.pgz")
    for line in LINES[::4]:
        text = json.loads(line)["text"]
        words = [as_tagged(text[start:end]) for start, end in word_spans(text)]
        # Long compounds differ.
        if "-" not in "".join(words):
            assert quick.tag_sent(words, taglevel=0) == hanta.tag_sent(words, taglevel=0), text


def test_a_long_compound_is_tagged_by_its_last_part() -> None:
    assert QuickHanta().tag_sent(["a", "chocolate-topped", "donut"], taglevel=0)[1] == "AJ0"


def test_plain_text_is_split_as_by_nltk() -> None:
    texts = [
        "It's 10,000 dogs, isn't it? (yes)",
        "a-b c/d e_f; the girl's hats... wait -- no!",
        "we'll, I'm; 3:1",
    ]
    assert [word_spans(text) for text in texts] == [
        [*NLTKWordTokenizer().span_tokenize(text)] for text in texts
    ]


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
