"""Trial of an untrusted checkpoint in a limited child process. It must load, match its card, and encode."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from nt2vr.errors import CheckpointError, Nt2vrError, reason_of
from nt2vr.files import parse_json
from nt2vr.models.card import CARD, CONFIG, Card, are_numbers, read_card, write_card
from nt2vr.models.checkpoint import WEIGHTS, identified, read_checkpoint, read_model
from nt2vr.models.foreign import MAX_FRAMES
from nt2vr.models.spawn import run_limited
from nt2vr.models.tokenizer import TOKENIZER, TOKENIZER_CONFIG
from nt2vr.progress import Progress, silent

SMALL_BYTES = 1 << 20  # of each JSON file
MAX_IMAGE_SIZE = 1024  # pixels
BASE_BYTES = 2 << 30  # of memory, for the libraries
BYTES_PER_WEIGHT_BYTE = 6  # half precision in the file, single in the model, and copies while it is read
BASE_S, BYTES_PER_S = 180, 10_000_000  # the time a trial may take: to import torch, and then by size
STAGES = ("normalizer", "pre_tokenizer")  # of a tokenizer: what happens to a text before the vocabulary does
MAX_STEPS = 20  # in all stages
MAX_SPECIAL = 8  # tokens that a template adds to a text: the families supported add up to two
KINDS = ("a dog on the grass, ", "1234567890", "x", "\n", "'s!?…", "狗在草地上", "Ünïcödé ", "🎸", "<s> [CLS] ")
TRIED = ["a dog", *((kind * 1000)[:1000] for kind in KINDS)]  # texts; a query may have 1,000 characters
MAX_TOKEN_CHARS = 1_000
PATTERNS = {" ", " {2,}", r"\s+"}  # a blank for those that are no regular expression
TIMM_NAME = re.compile(r"[\w.]+")  # of timm's own: a name with ":" or "/" would be fetched from the Hub


def verify(folder: Path, name: str) -> None:
    """Try a checkpoint folder, and write its card if it has none or another name."""
    size = (folder / WEIGHTS).stat().st_size
    try:
        card: Card = run_limited(
            try_out,
            folder.absolute(),
            memory_bytes=BASE_BYTES + BYTES_PER_WEIGHT_BYTE * size,
            timeout_s=BASE_S + size / BYTES_PER_S,
            progress=silent,
        )
    except (MemoryError, TimeoutError):
        raise CheckpointError(
            "The checkpoint cannot be used: loading it takes too much memory or time. Choose another."
        ) from None
    except Nt2vrError as error:
        place = str(folder.absolute())
        raise CheckpointError(str(error).replace(f"{place}/", "").replace(place, "The checkpoint")) from None
    except Exception as error:  # hostile files fail in more ways than can be listed
        raise CheckpointError(f"The checkpoint cannot be used ({reason_of(error)}). Choose another.") from None
    if card.name != name:
        write_card(folder, replace(card, name=name))


def try_out(folder: Path, progress: Progress) -> Card:
    """Try a folder in this process, and return its card; see `verify`."""
    import huggingface_hub.constants  # noqa: PLC0415  see below
    import numpy as np  # noqa: PLC0415

    huggingface_hub.constants.HF_HUB_OFFLINE = True  # nothing in a configuration may fetch more
    for file in (CONFIG, CARD, TOKENIZER_CONFIG):
        if (folder / file).exists() and (folder / file).stat().st_size > SMALL_BYTES:
            raise CheckpointError(f"{file} has more than 1 MB. Choose another repository.")
    _check_config(parse_json((folder / CONFIG).read_text(encoding="utf-8")))
    if (folder / TOKENIZER).exists():
        _check_tokenizer(folder)
    if not (folder / CARD).exists():
        write_card(folder, Card("unnamed", objective="contrastive"))
        model, tokenizer, card = read_model(folder)
        write_card(folder, identified(card, model, tokenizer))
    encoder = read_checkpoint(folder, verify=True)
    _check_card(read_card(folder), encoder.image_size)
    side = encoder.image_size
    frames = np.zeros((1, encoder.frame_dim), np.float32)
    if not encoder.card.features:
        frames = encoder.encode_frames(np.zeros((1, side, side, 3), np.uint8))
    if not all(np.isfinite(each).all() for each in (encoder.encode_text(TRIED), encoder.pool(frames[None]))):
        raise CheckpointError("The model computes values that are not numbers. Choose another repository.")
    return encoder.card


def _check_config(config: Any) -> None:
    """Refuse a configuration that names files or code elsewhere."""
    model = config["model_cfg"]
    vision, text = model["vision_cfg"], model["text_cfg"]
    if not all(isinstance(each, dict) for each in (model, vision, text, config.get("preprocess_cfg", {}))):
        raise CheckpointError(f"{CONFIG} is not a configuration of open_clip. Choose another repository.")
    timm = vision.get("timm_model_name", "timm")
    if not (isinstance(timm, str) and TIMM_NAME.fullmatch(timm)) or "bpe_path" in text.get("tokenizer_kwargs", {}):
        raise CheckpointError(f"{CONFIG} names files outside the repository. Choose another repository.")


def _check_tokenizer(folder: Path) -> None:
    """Refuse a tokenizer that could take long, or much memory, for a text; its parts are those of usual tokenizers."""
    for file in (TOKENIZER, TOKENIZER_CONFIG):
        data = parse_json((folder / file).read_text(encoding="utf-8")) if (folder / file).exists() else {}
        if not isinstance(data, dict) or "auto_map" in data:  # of code elsewhere, for transformers
            raise CheckpointError(f"{file} is not a tokenizer's. Choose another repository.")
        steps = [part for stage in STAGES for part in _parts(data.get(stage))]
        patterns = [part["pattern"].get("Regex", " ") for part in steps if isinstance(part.get("pattern"), dict)]
        texts = [part.get(key, "") for part in steps for key in ("content", "prepend", "replacement")]
        templates = _parts(data.get("post_processor"))
        if (
            len(steps) + len(templates) > MAX_STEPS
            or set(patterns) - PATTERNS
            or any(len(text) > 1 for text in texts)
            or not all(map(_is_plain, templates))
            or max(map(len, _tokens(data)), default=0) > MAX_TOKEN_CHARS
        ):
            raise CheckpointError(f"{file} changes texts in a way that is not supported. Choose another repository.")


def _parts(stage: Any) -> list[dict[str, Any]]:
    """List a stage of a tokenizer and all stages within it."""
    if not isinstance(stage, dict):
        return []
    inner = [each for key in ("normalizers", "pretokenizers", "processors") for each in stage.get(key) or ()]
    return [stage, *(part for each in inner for part in _parts(each))]


def _tokens(data: Mapping[str, Any]) -> list[str]:
    """List the vocabulary, which tokenizers keeps in tries: freeing one of a million levels overflows the stack."""
    vocabulary = data.get("model", {}).get("vocab", ())
    known = vocabulary if isinstance(vocabulary, dict) else [token for token, _ in vocabulary]
    return [*known, *(token["content"] for token in data.get("added_tokens", ()))]


def _is_plain(template: Mapping[str, Any]) -> bool:
    """Return True if a template has the text at most once, as tokenizers repeats what was cut off with it."""
    single, special = template.get("single", []), template.get("special_tokens", {})
    added = [special[piece["SpecialToken"]["id"]]["ids"] for piece in single if "SpecialToken" in piece]
    return sum("Sequence" in piece for piece in single) <= 1 and sum(map(len, added)) <= MAX_SPECIAL


def _check_card(card: Card, image_size: int) -> None:
    """Refuse a card whose values the page and the searches cannot use."""
    is_small = card.frames <= MAX_FRAMES and card.image_size == image_size <= MAX_IMAGE_SIZE
    if not (is_small and are_numbers(card.metrics)):
        raise CheckpointError(f"{CARD} has values that cannot be used. Choose another repository.")
