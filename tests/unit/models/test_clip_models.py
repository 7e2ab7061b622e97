"""Models that take whole clips, tiny and with random weights: what they are given, keys, an index that is resumed.

They need the extras st and transformers, as .ci/run installs last. No real weights were ever run
here.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers

from nt2vr import api
from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.evaluation.sources import Data
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.store import Cache
from nt2vr.models import untrusted
from nt2vr.models.acquire import acquire
from nt2vr.models.catalog import Catalog
from nt2vr.models.clip_encoder import MODEL, ClipModel
from nt2vr.models.options import AddOptions
from nt2vr.negation.parse.query import Query
from nt2vr.search.embed_clips import embed_gallery, tower_folder
from nt2vr.search.embed_query import embed_query
from nt2vr.search.references import Reference
from nt2vr.search.why import NO_FRAMES, explain
from tests.support.running import here
from trainer.config import TrainConfig, resolved

# Importing it takes seconds, which other tests need not wait for.
if find_spec("sentence_transformers") is None:
    pytest.skip("needs pip install 'nt2vr[st]'; .ci/run does so last", allow_module_level=True)
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

WORDS = "a the on and not no dog cat man beach video query : system user Represent".split()
MARKS = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }} : {% if message['content'] is string %}"
    "{{ message['content'] }}{% else %}{% for part in message['content'] %}{% if part['type'] in ('image', 'video') %}"
    "<|vision_start|><|{{ part['type'] }}_pad|><|vision_end|>{% else %} {{ part['text'] }} {% endif %}{% endfor %}"
    "{% endif %}{% endfor %}"
)
TINY: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 2}


def hf() -> Any:
    return import_module("transformers")


def sentence_transformer(*args: Any, **options: Any) -> Any:
    return import_module("sentence_transformers").SentenceTransformer(*args, **options)


def _tokenizer(marks: list[str]) -> Any:
    names = ["<pad>", "</s>", "<unk>", *marks, *WORDS]
    tokenizer = Tokenizer(
        models.WordLevel({name: row for row, name in enumerate(names)}, unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    config_values = {
        "pad_token": "<pad>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "additional_special_tokens": marks,
    }
    return hf().PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=4096, padding_side="left", **config_values
    )


def write_video_prism(folder: Path) -> None:
    vision: dict[str, Any] = {
        "num_spatial_layers": 2,
        "num_temporal_layers": 1,
        "num_auxiliary_layers": 1,
        "num_frames": 4,
    }
    vision |= {**TINY, "image_size": 36, "tubelet_size": [1, 18, 18]}
    text = {**TINY, "vocab_size": 64, "num_hidden_layers": 2, "max_position_embeddings": 64}
    config = hf().VideoPrismConfig(vision_config=vision, text_config=text)
    hf().VideoPrismClipModel(config).save_pretrained(folder)
    pieces = [
        ("<pad>", 0.0),
        ("</s>", 0.0),
        ("<unk>", 0.0),
        ("▁", -2.0),
        *((f"▁{word}", -3.0) for word in WORDS),
    ]
    tokenizer = hf().VideoPrismTokenizer(vocab=pieces, extra_ids=0)
    reader = hf().LlavaOnevisionVideoProcessor(size={"height": 36, "width": 36}, do_normalize=False)
    hf().VideoPrismProcessor(video_processor=reader, tokenizer=tokenizer).save_pretrained(folder)


def write_siglip(folder: Path) -> None:
    tower = {**TINY, "num_hidden_layers": 2}
    text = {**tower, "vocab_size": 64, "max_position_embeddings": 16, "projection_size": 32}
    vision = {**tower, "image_size": 32, "patch_size": 16}
    config = hf().SiglipConfig(text_config=text, vision_config=vision)
    plain = folder / "plain"
    hf().SiglipModel(config).save_pretrained(plain)
    reader = hf().SiglipImageProcessor(size={"height": 32, "width": 32})
    hf().SiglipProcessor(image_processor=reader, tokenizer=_tokenizer([])).save_pretrained(plain)
    sentence_transformer(str(plain), device="cpu", local_files_only=True).save_pretrained(
        str(folder)
    )


def write_qwen(folder: Path) -> None:
    tokenizer = _tokenizer(MARKS)
    names = ("vision_start_token_id", "vision_end_token_id", "image_token_id", "video_token_id")
    rope = {"mrope_section": [4, 2, 2], "rope_type": "default", "mrope_interleaved": True}
    text = {
        **TINY,
        "vocab_size": 64,
        "num_hidden_layers": 2,
        "num_key_value_heads": 2,
        "head_dim": 16,
    }
    vision: dict[str, Any] = {
        "depth": 2,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_heads": 2,
        "patch_size": 16,
    }
    vision |= {
        "out_hidden_size": 32,
        "num_position_embeddings": 64,
        "deepstack_visual_indexes": [0],
    }
    config = hf().Qwen3VLConfig(
        text_config={**text, "rope_scaling": rope, "pad_token_id": 0},
        vision_config=vision,
        **dict(zip(names, tokenizer.convert_tokens_to_ids(MARKS), strict=True)),
    )
    plain = folder / "plain"
    hf().Qwen3VLForConditionalGeneration(config).save_pretrained(plain)
    pixels = {"shortest_edge": 32 * 32, "longest_edge": 64 * 64 * 16}
    hf().Qwen3VLProcessor(
        image_processor=hf().Qwen2VLImageProcessor(
            patch_size=16, min_pixels=32 * 32, max_pixels=64 * 64
        ),
        tokenizer=tokenizer,
        video_processor=hf().Qwen3VLVideoProcessor(patch_size=16, size=pixels),
        chat_template=TEMPLATE,
    ).save_pretrained(plain)
    parts = import_module("sentence_transformers.sentence_transformer.modules")
    first = parts.Transformer(str(plain))
    modules = [first, parts.Pooling(first.get_embedding_dimension(), "lasttoken")]
    of_parts = {"modules": modules, "device": "cpu", "prompts": {"query": "Represent the query : "}}
    sentence_transformer(**of_parts).save_pretrained(str(folder))


WRITERS: dict[str, Callable[[Path], None]] = {
    "st:qwen": write_qwen,
    "hf:prism": write_video_prism,
    "st:siglip": write_siglip,
}
OPTIONS = {"st:qwen": AddOptions(frames=8, size="96x64")}


def add(folder: Path, home: Path, name: str) -> None:
    """Add a folder in this process: a child takes seconds to import the libraries."""
    options = replace(OPTIONS.get(name, AddOptions()), name=name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(untrusted, "run_limited", here)
        acquire(folder, Catalog([home]), options)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """All three, added as a person adds them."""
    home = tmp_path_factory.mktemp("data") / "models"
    monkeypatch = pytest.MonkeyPatch()
    with monkeypatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        for name, write in WRITERS.items():
            folder = tmp_path_factory.mktemp("tiny")
            write(folder)
            add(folder, home, name)
    return Catalog([home])


@pytest.fixture(scope="module", params=list(WRITERS))
def model(request: pytest.FixtureRequest, catalog: Catalog) -> ClipModel:
    loaded = catalog.load(request.param)
    assert isinstance(loaded, ClipModel)
    return loaded


def clips_for(model: ClipModel, count: int) -> NDArray[np.uint8]:
    shape = (count, model.num_frames, *model.framing.shape, 3)
    return np.random.default_rng(3).integers(0, 255, shape, np.uint8)


def test_batches_do_not_change_an_embedding(model: ClipModel) -> None:
    model.batch_size = 3
    clips = clips_for(model, 3)
    seconds = np.outer([1, 4, 0], (np.arange(model.num_frames) + 0.5) / model.num_frames).astype(
        np.float32
    )
    together = model.encode_video(clips, seconds)[:, 0]
    assert together.shape == (3, model.embed_dim) == (3, 32)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    alone = [model.encode_video(clips[[row]], seconds[[row]])[0, 0] for row in range(3)]
    np.testing.assert_allclose(together, alone, atol=1e-4)
    texts = ["a dog and not a cat", "man"]
    both = model.encode_text(texts)
    model.cached_texts = {}
    np.testing.assert_allclose(both, [model.encode_text([text])[0] for text in texts], atol=1e-4)


def test_frames_are_those_of_the_models_own_files(catalog: Catalog) -> None:
    cards = {name: catalog.card(name) for name in WRITERS}
    framings = {}
    for name, card in cards.items():
        framing = card.input_framing
        framings[name] = card.framing.frames, *framing.shape, framing.resize_mode
    assert framings == {
        "hf:prism": (4, 36, 36, "squash"),
        "st:siglip": (8, 32, 32, "squash"),
        "st:qwen": (8, 64, 96, "longest"),
    }
    settings = cards["st:qwen"].clip
    assert settings is not None
    assert (settings.fps, settings.least) == (2.0, 4)


def test_a_short_clip_has_fewer_frames_at_the_models_fps(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = catalog.load("st:qwen")
    assert isinstance(model, ClipModel)
    clips_seen: list[Any] = []

    def encode(clips: Any) -> Any:
        clips_seen.extend(clips)
        return np.ones((len(clips), 32))

    monkeypatch.setattr(model.backend, "clips", encode)
    middles = (np.arange(8) + 0.5) / 8
    model.encode_video(clips_for(model, 4), np.outer([1, 3, 30, 0], middles).astype(np.float32))
    clip_facts = [(len(clip.frames), round(clip.fps, 3), clip.is_picture) for clip in clips_seen]
    assert clip_facts == [(4, 4, False), (6, 2, False), (8, 0.267, False), (8, 2, True)]


def test_every_setting_is_part_of_the_keys(catalog: Catalog, tmp_path: Path) -> None:
    card = catalog.card("st:qwen")
    gallery = Gallery("clips", (), "clips")
    cache = Cache(tmp_path)
    settings = card.flat()["clip"]
    other_cards = [card.replace(frames=4), card.replace(image_size=32)]
    for name, value in {
        "revision": "2",
        "instruction": "Find",
        "fps": 1.0,
        "dimensions": 16,
        "least": 1,
    }.items():
        other_cards.append(card.replace(clip={**settings, name: value}))
    other_cards.append(
        card.replace(clip={**settings, "framing": {"width": 64, "resize_mode": "longest"}})
    )
    folders = {tower_folder(gallery, some_card, cache) for some_card in (card, *other_cards)}
    assert (
        len(folders)
        == len({some_card.visual_key for some_card in (card, *other_cards)})
        == 1 + len(other_cards)
    )
    assert len({other_card.text_key for other_card in other_cards[2:]}) == len(other_cards) - 2


class Killed(Exception):
    """Stands for the end of the process."""


def test_an_index_goes_on_where_it_was_killed(
    model: ClipModel,
    tmp_path: Path,
    write_video: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paths = [write_video(f"{shade}.mp4", [shade] * 12) for shade in (30, 90, 200)]
    gallery = Gallery("clips", tuple(Video(path.stem, path) for path in paths), "clips")
    monkeypatch.setattr(model, "batch_size", 1)
    encoded: list[int] = []
    encode = model.encode_video

    def counting(frames: NDArray[np.uint8], seconds: Any = None) -> NDArray[np.float32]:
        if len(encoded) == 2:
            raise Killed
        encoded.append(len(frames))
        return encode(frames, seconds)

    with Cache(tmp_path / "cache") as cache, Decoder(num_workers=1) as decoder:
        with monkeypatch.context() as patch:
            patch.setattr(model, "encode_video", counting)
            with pytest.raises(Killed):
                embed_gallery(gallery, model, decoder, cache)
        encoded.clear()
        monkeypatch.setattr(model, "encode_video", counting)
        notices: list[str] = []
        opened = embed_gallery(gallery, model, decoder, cache, announce=notices.append)
        assert [video.video_id for video in opened.gallery.videos] == ["30", "90", "200"]
        # The one that was left, and the one that is measured.
        assert sum(encoded) <= 2
        assert len(notices) <= 1
        assert opened.embeddings.shape == (3, model.embed_dim)


def test_a_model_that_can_composes_picture_and_text(catalog: Catalog) -> None:
    picture = Reference((np.full((40, 60, 3), 90, np.uint8),))
    query = Query("a dog and not a cat", ("a dog",), ("a cat",))
    for name, composes in {"st:qwen": True, "st:siglip": False}.items():
        model = catalog.load(name)
        assert isinstance(model, ClipModel)
        parts = embed_query(model, query, [picture], Any)  # type: ignore[arg-type]  # the gallery is not looked at
        assert model.capabilities.composes == composes
        if composes:
            composed_vector = model.composed(np.full((64, 96, 3), 90, np.uint8), query.text)
            assert parts.sentence == pytest.approx(composed_vector, abs=1e-4)
        assert parts.sentence is not None
        np.testing.assert_allclose(np.linalg.norm(parts.sentence), 1, atol=1e-4)


def test_the_app_searches_explains_and_evaluates_by_it(catalog: Catalog, tmp_path: Path) -> None:
    data_dir = catalog.home.parent
    name = "hf:prism"
    with api.open_searcher(data_dir, "cpu") as searcher:
        systems = [name, f"{name} rectified", f"{name} boolean", f"{name} drop"]
        answer = searcher.search("a dog and not a cat", systems=systems, k=3)
        assert [len(ranking.hits) for ranking in answer.rankings] == [3] * 4
        (why,) = explain(
            answer, answer.rankings[0].hits[0].video_id, lambda _: catalog.load(name), [0]
        )
        assert why.notice == NO_FRAMES
        assert not why.frames
        assert why.words
    evaluation = api.evaluate(Data("gallery"), systems[:2], data_dir, "cpu")
    assert f"{name} rectified" in evaluation.table


def test_training_refuses_it(catalog: Catalog) -> None:
    with pytest.raises(ConfigError, match="open_clip"):
        resolved(TrainConfig(name="mine", base=str(catalog.folder("hf:prism"))))


def test_code_and_pickles_never_enter(catalog: Catalog, tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    write_siglip(folder)
    (folder / "modeling.py").write_text("raise SystemExit")
    modules = json.loads((folder / "modules.json").read_text())
    (folder / "modules.json").write_text(json.dumps([{**modules[0], "type": "modeling.Mine"}]))
    with pytest.raises(CheckpointError):
        add(folder, tmp_path / "models", "st:mine")
    assert not list((tmp_path / "models").iterdir())
    (folder / "modules.json").write_text(json.dumps(modules))
    config = json.loads((folder / "config.json").read_text())
    for hostile in (
        {"attn_implementation": "somebody/kernels"},
        {"text_config": {"num_hidden_layers": 1_000_000}},
    ):
        (folder / "config.json").write_text(json.dumps({**config, **hostile}))
        with pytest.raises(CheckpointError):
            add(folder, tmp_path / "models", "st:mine")
    assert not list((tmp_path / "models").iterdir())
    (folder / "config.json").write_text(json.dumps(config))
    assert (catalog.folder("st:siglip") / MODEL / "modules.json").is_file()
    assert not list(catalog.folder("st:siglip").rglob("*.py"))
    for path in folder.rglob("*.safetensors"):
        path.rename(path.with_suffix(".bin"))
    with pytest.raises(CheckpointError):
        add(folder, tmp_path / "models", "st:mine")
