"""Words of the built-in world that people are offered, and that models are asked for."""

from nt2vr.negation.parse.tokens import NO_EMOJI
from nt2vr.negation.parse.typed import read_typed
from nt2vr.world.offers import offered_words
from nt2vr.world.reader import read_claim
from nt2vr.world.word_tables import synonyms


def test_synonyms_are_words_of_captions_which_can_be_read() -> None:
    words = set(offered_words())
    assert synonyms()["someone"] == "person"
    assert synonyms()["pond"] == "lake"
    assert synonyms()["🐧"] == "penguin"
    for emoji in NO_EMOJI:
        assert synonyms()[emoji] == "no"
        assert read_typed(f"🐧{emoji}🧊").text == "🐧 no 🧊"
    for word, phrase in synonyms().items():
        if phrase == "no":
            continue
        assert {token for token in phrase.split() if len(token) > 2} <= words, word
        assert read_claim(phrase) is not None
