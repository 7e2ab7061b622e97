"""Encoders of one's own: that of docs/python.md, exactly as printed there, and objects as version 0.2.0 took them."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import nt2vr
from nt2vr import api
from nt2vr.errors import ConfigError
from nt2vr.library.libraries import Libraries
from nt2vr.library.update import update_library
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.models.acquire import Added
from nt2vr.models.card import QUERY_SCORED
from nt2vr.models.catalog import Catalog
from nt2vr.models.outside import WrappedEncoder, check_encoder
from tests.support.colour_model import ColourModel
from tests.support.paths import ROOT
from tests.unit.api.conftest import write_pictures

MOST_LINES = 32


def documented_class() -> str:
    """Return the class in docs/python.md with the imports above it."""
    text = (ROOT / "docs" / "python.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    (block,) = [block for block in blocks if "(nt2vr.Encoder)" in block]
    code: str = block.partition("\n\n\nwith ")[0]
    return code


@pytest.fixture(scope="module")
def documented() -> nt2vr.Encoder:
    names: dict[str, Any] = {}
    exec(documented_class(), names)
    encoder: nt2vr.Encoder = names["Colours"]()
    return encoder


def test_the_documented_encoder_is_short() -> None:
    assert len(documented_class().splitlines()) <= MOST_LINES


def test_the_documented_encoder_indexes_and_searches_a_library(
    documented: nt2vr.Encoder, tmp_path: Path
) -> None:
    write_pictures(tmp_path / "videos")
    libraries = Libraries(tmp_path / "data" / "libraries")
    library = libraries.add("Own", "folder", tmp_path / "videos").id
    with Decoder(num_workers=1) as decoder, Cache.of(tmp_path / "data") as cache:
        update_library(libraries, library, documented, decoder, cache, previews=False)

    with nt2vr.open_searcher(tmp_path / "data", library="Own") as searcher:
        answer = searcher.search("red and not green", [documented, "Colours boolean α 1"], k=4)
        plain, boolean = answer.rankings
        # The sentence names both colours.
        assert plain.hits[0].video_id == "yellow.png"
        assert boolean.hits[0].video_id == "<i>red.png"
        assert searcher.search("red xyzzy", documented).rankings[0].unseen == ("xyzzy",)

        (why,) = searcher.explain(searcher.search("red", documented, k=4), "<i>red.png")
        assert [(part.role, part.text) for part in why.parts if part.weight] == [
            ("sentence", "red")
        ]
        assert why.parts[0].contribution == pytest.approx(why.score, abs=1e-4)


class OldModel:
    """What version 0.2.0 took: no `Encoder`, and methods of single frames."""

    name = "Old"
    num_frames = 1
    image_size = 8
    embed_dim = 4
    visual_fingerprint = text_fingerprint = "old 1"

    def __init__(self, **on_card: Any) -> None:
        self.card = nt2vr.Card(
            "Old", frames=1, image_size=8, visual_fingerprint="old 1", text_fingerprint="old 1"
        )
        self.card = self.card.replace(**on_card)
        self._colours = ColourModel()

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._colours.encode_text(texts)

    def encode_frames(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        assert frames.shape[1:] == (8, 8, 3)
        return self._colours.encode_frames(frames)

    def pool(self, frame_embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        return self._colours.pool(frame_embeddings)

    def unseen_words(self, text: str) -> tuple[str, ...]:
        return ("quokka",)


def test_an_object_of_version_0_2_0_is_adapted() -> None:
    model = OldModel()
    encoder = check_encoder(model)
    assert isinstance(encoder, WrappedEncoder)
    assert encoder.name == "Old"
    assert encoder.num_frames == 1
    assert encoder.image_size == 8
    assert encoder.embed_dim == 4
    assert encoder.stored_shape == (1, 4)
    assert encoder.unseen_words("a quokka") == ("quokka",)
    assert encoder.words_read("a quokka") == ""
    assert encoder.given_videos is None
    assert encoder.as_scored() is encoder

    frames = np.random.default_rng(0).integers(0, 255, (3, 2, 8, 8, 3), np.uint8)
    stored = encoder.encode_video(frames)
    assert stored.shape == (3, 2, 4)
    np.testing.assert_array_equal(stored[1], model.encode_frames(frames[1]))
    np.testing.assert_array_equal(encoder.pool(stored), model.pool(stored))


def test_what_an_object_can_do_is_what_its_card_says() -> None:
    assert not check_encoder(OldModel()).capabilities.weighs_frames
    assert check_encoder(OldModel(pooling=QUERY_SCORED)).capabilities.weighs_frames


def test_an_object_is_added_once_and_known_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "_ENCODERS", {})
    model: Any = OldModel()
    catalog = Catalog([tmp_path / "models"])
    assert catalog.add(model) == Added("Old")
    encoder = catalog.load("Old")
    assert catalog.add(model) == Added("Old")
    assert catalog.load("Old") is encoder

    assert nt2vr.add_model(model, data_dir=tmp_path) == "Old"
    assert nt2vr.load_model("Old", tmp_path).unseen_words("a quokka") == ("quokka",)
    with pytest.raises(ConfigError, match="object"):
        catalog.add(object())  # type: ignore[arg-type]


class Shouting:
    """A wrapper of version 0.2.0, which passes everything else on by `__getattr__`."""

    def __init__(self, base: Any) -> None:
        self.base = base
        self.name = "Shouting"
        self.card = base.card.replace(name=self.name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name)

    def encode_text(self, texts: Sequence[str]) -> Any:
        return self.base.encode_text([text.upper() for text in texts])


class Remembering(ColourModel):
    """A model with everything that an encoder may do differently."""

    cached_texts: dict[str, Any] = {}  # noqa: RUF012  a fake
    capabilities = nt2vr.Capabilities(composes=True)
    stored_shape = (1, 4)

    def composed(self, picture: Any, text: str) -> Any:
        return f"{text} composed"

    def words_read(self, text: str) -> str:
        return f"{text} read"


@pytest.mark.parametrize("wrap", [lambda model: model, nt2vr.Model])
def test_a_wrapper_passes_on_what_its_model_can_do(wrap: Any) -> None:
    base = Remembering()
    encoder = check_encoder(Shouting(wrap(base)))
    assert encoder.capabilities.composes
    assert encoder.stored_shape == (1, 4)
    assert encoder.words_read("a dog") == "a dog read"
    composed: Any = encoder.composed(np.zeros((8, 8, 3), np.uint8), "a dog")
    assert composed == "a dog composed"


def test_texts_are_prepared_as_the_wrapper_writes_them() -> None:
    base = Remembering()
    encoder = check_encoder(Shouting(base))
    base.batches.clear()
    encoder.prepare_texts(["a dog"])
    assert base.batches == [["A DOG"]]
