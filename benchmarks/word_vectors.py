"""A base whose text tower reads WordPieces with the vectors of a real sentence encoder.

Each of all-MiniLM-L6-v2's 30,522 word pieces is embedded by itself, as the text "piece"; the
vectors are centred, reduced by PCA to the tower's width, and scaled. Nothing else is taken
from MiniLM: the transformer, positions and projection start from random weights, as does the visual
tower unless it comes from a checkpoint. In a training with `keep_tokens`, the vectors do not change,
so words that no caption has stay near similar words.

    python -m benchmarks.word_vectors FOLDER [--visual assets/models/clip | --visual-width 24] [--layers 3]
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.harness import arguments
from benchmarks.minilm import VOCABULARY, load_minilm
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import read_model, write_checkpoint
from nt2vr.models.open_clip_model import build_model
from nt2vr.models.tokenizer import FileTokenizer
from trainer.config import SMALL_MODEL

# The ids of [CLS] and [SEP].
CLS = 101
SEP = 102
PIECES_AT_ONCE = 1024


def text_cfg(
    width: int = 192, layers: int = 3, heads: int = 4, context: int = 48
) -> dict[str, Any]:
    """Return open_clip's configuration of a causal text tower whose embedding is taken at [SEP]."""
    return {
        "context_length": context,
        "vocab_size": VOCABULARY,
        "hf_tokenizer_name": "sentence-transformers/all-MiniLM-L6-v2",
        "width": width,
        "heads": heads,
        "layers": layers,
        "pool_type": "eos",
        "eos_id": SEP,
    }


def embedded_pieces() -> Tensor:
    """Embed every word piece by itself: (30522, 384), in float64."""
    model, _ = load_minilm()
    embedded = []
    with torch.inference_mode():
        for start in range(0, VOCABULARY, PIECES_AT_ONCE):
            pieces = torch.arange(start, min(start + PIECES_AT_ONCE, VOCABULARY))
            starts = torch.full_like(pieces, CLS)
            ends = torch.full_like(pieces, SEP)
            embedded.append(model.encode_text(torch.stack([starts, pieces, ends], dim=1)))
    return torch.cat(embedded).double()


def piece_vectors(width: int) -> Tensor:
    """Return the vectors of all word pieces in `width` dimensions: (30522, width), unit variance overall."""
    vectors = embedded_pieces()
    vectors -= vectors.mean(dim=0)
    _, _, directions = torch.linalg.svd(vectors, full_matrices=False)
    reduced = vectors @ directions[:width].T
    scaled: Tensor = reduced / reduced.std()
    return scaled.float()


def write_base(folder: Path, visual: Path | None, layers: int, width: int) -> None:
    """Write the checkpoint folder; `width` is that of a random visual tower."""
    cfg = text_cfg(layers=layers)
    vision_cfg = SMALL_MODEL["vision_cfg"]
    if visual is None:
        vision_cfg = {**vision_cfg, "width": width}
    model_cfg = {**SMALL_MODEL, "vision_cfg": vision_cfg, "text_cfg": cfg}
    card = Card("Word vectors")
    preprocess: dict[str, Any] = {}
    torch.manual_seed(0)
    _, tokenizer = load_minilm()
    tokenizer = FileTokenizer(tokenizer.files, cfg)
    model = build_model(model_cfg, preprocess)
    if visual:
        donor, _, card = read_model(visual)
        model.visual.load_state_dict(donor.visual.state_dict())
        model.logit_scale.data.copy_(donor.logit_scale.data)
        card = Card("Word vectors", frames=card.framing.frames)
    with torch.no_grad():
        model.token_embedding.weight.copy_(piece_vectors(cfg["width"]))
    write_checkpoint(folder, model, model_cfg, preprocess, card, tokenizer=tokenizer)


def main(argv: Sequence[str] | None = None) -> None:
    """Write a base."""
    parser = arguments("word_vectors", __doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--visual", type=Path, help="checkpoint whose visual tower and temperature are taken"
    )
    parser.add_argument(
        "--visual-width", type=int, default=16, help="of a visual tower from random weights"
    )
    parser.add_argument("--layers", type=int, default=3)
    args = parser.parse_args(argv)
    write_base(args.folder, args.visual, args.layers, args.visual_width)


if __name__ == "__main__":
    main()
