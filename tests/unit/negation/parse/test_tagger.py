"""Both taggers share one tagset and tokenization; NLTK's is used only if its data is installed."""

import os
from collections.abc import Iterator
from pathlib import Path

import nltk
import pytest

from nt2vr.negation.generate.negator import caption_tagger
from nt2vr.negation.parse.tagger import VERB_TAGS, NltkTagger, Tagger, load_tagger
from tests.paths import SHARED

TAGSET = {
    "NOUN",
    "PRON",
    "DET",
    "ADJ",
    "ADV",
    "NUM",
    "ADP",
    "CONJ",
    "WH",
    "NEG",
    "TO",
    "POS",
    "PUNCT",
    "OTHER",
    *VERB_TAGS,
}
NLTK_FOLDERS = (SHARED / "nltk_data", Path(os.environ.get("NLTK_DATA", "nltk_data")))


@pytest.fixture(scope="module")
def nltk_data() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nltk.data, "path", [*map(str, NLTK_FOLDERS), *nltk.data.path])
        try:
            nltk.data.find("taggers/averaged_perceptron_tagger_eng")
        except LookupError:
            pytest.skip("NLTK's tagger data is not installed")
        yield


@pytest.fixture(scope="module", params=["HanTa", "NLTK"])
def tagger(request: pytest.FixtureRequest) -> Tagger:
    if request.param == "HanTa":
        return Tagger()
    request.getfixturevalue("nltk_data")
    return NltkTagger()


def test_without_data_hanta_is_loaded_and_nothing_is_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nltk.data, "path", [])
    monkeypatch.setattr(nltk, "download", lambda *_, **__: pytest.fail("tried to download"))
    assert type(load_tagger.__wrapped__()) is Tagger


@pytest.mark.usefixtures("nltk_data")
def test_with_data_nltk_is_loaded_but_not_for_captions() -> None:
    assert type(load_tagger.__wrapped__()) is NltkTagger  # not the one that this process uses
    assert type(caption_tagger.__wrapped__()) is Tagger


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("a man dances", "DET NOUN VBZ"),
        ("people singing to the camera", "NOUN VBG ADP DET NOUN"),
        ("an office building", "DET NOUN NOUN"),
        ("not painting", "NEG VBG"),
        ("a man surfing", "DET NOUN VBG"),
        ("he doesn't pitch a ball", "PRON VBZ NEG VB DET NOUN"),
        ("kids DONT want to run", "NOUN VBP NEG VB TO VB"),
        ("a man that sings", "DET NOUN WH VBZ"),
        ("not wine or beer", "NEG NOUN CONJ NOUN"),
        ("the girl's hat", "DET NOUN POS NOUN"),
        ("a man sings. no guitar", "DET NOUN VBZ PUNCT DET NOUN"),
        ("beach -man", "NOUN PUNCT NOUN"),
        ("a guy doesn t move", "DET NOUN VBZ NEG VB"),  # datasets drop apostrophes
        ("a man s hat", "DET NOUN POS NOUN"),
        ("a man loads a gun", "DET NOUN VBZ DET NOUN"),
        ("a dog show on tv", "DET NOUN NOUN ADP NOUN"),
        ("dogs run across a road", "NOUN VBP ADP DET NOUN"),
    ],
)
def test_words_of_captions_are_tagged(tagger: Tagger, text: str, tags: str) -> None:
    assert " ".join(token.tag for token in tagger.tag(text)) == tags


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("it s raining", "PRON VBZ VBG"),
        ("a dog thats barking", "DET NOUN WH VBZ VBG"),
        ("people dance on stage", "NOUN VBP ADP NOUN"),  # the verb of a caption that seems to have none
        ("a grey haired man interviews a girl", "DET ADJ VBP NOUN VBZ DET NOUN"),
    ],
)
def test_the_caption_tagger_handles_spellings_of_datasets(text: str, tags: str) -> None:
    assert " ".join(token.tag for token in Tagger().tag(text)) == tags


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("dogs chasing nothing", "NOUN VBG PRON"),  # not: nobody | dances
        ("cats and nobody", "NOUN CONJ PRON"),
        ("shows a trick to avoid", "VBZ DET NOUN TO VB"),  # not: avoid | shows
        ("shows them play", "VBZ PRON VB"),  # not: play | shows
    ],
)
def test_the_last_word_says_nothing_of_the_first(text: str, tags: str) -> None:
    assert " ".join(token.tag for token in Tagger().tag(text)) == tags


def test_lemmas_of_verbs_and_nouns(tagger: Tagger) -> None:
    lemmas = [token.lemma for token in tagger.tag("two dogs were riding bikes and it isn't barking")]
    assert lemmas == ["two", "dog", "be", "ride", "bike", "and", "it", "be", "not", "bark"]


@pytest.mark.parametrize("text", ["", '🐶 犬, t-shirt "quoted" \'\'mixed" don’t', "a" * 900, "İİİ nt n't"])  # noqa: RUF001
def test_tokens_match_their_positions_and_the_tagset(tagger: Tagger, text: str) -> None:
    tokens = tagger.tag(text)
    assert all(token.text == text[token.start : token.end] and token.text and token.tag in TAGSET for token in tokens)
    assert [token.start for token in tokens] == sorted(token.start for token in tokens)
