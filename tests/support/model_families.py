"""Models with tokenizers of their own, shrunken: open_clip's configurations with few and narrow layers.

Their tokenizers are stand-ins, trained on a few words, of the same form as the real ones: the same
kind of vocabulary, normalisation, special tokens and template. Weights are random.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import open_clip
import torch
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from nt2vr.models.card import Card
from nt2vr.models.checkpoint import write_checkpoint
from nt2vr.models.open_clip_model import build_model
from nt2vr.models.tokenizer import TOKENIZER, TOKENIZER_CONFIG, load_tokenizer

CORPUS = [
    "a man is running on the beach and not singing",
    "two women play football without a ball",
    "a dog barks at a cat",
    "nobody isn't dancing in the kitchen; the girl doesn't laugh",
]
VOCABULARY = 400  # tokens at most


def _template(tokenizer: Tokenizer, single: str, *special: str) -> None:
    pairs = [(token, tokenizer.token_to_id(token)) for token in special]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=None, special_tokens=pairs
    )


def _t5() -> Tokenizer:
    """SigLIP's: SentencePiece's unigrams, as in T5."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    special = ["<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=VOCABULARY, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    _template(tokenizer, "$A </s>", "</s>")
    return tokenizer


def _gemma() -> Tokenizer:
    """SigLIP 2's: SentencePiece's byte pairs with single bytes for what is unknown, as in Gemma."""
    special = [AddedToken(token, special=True) for token in ("<pad>", "<eos>", "<bos>", "<unk>")]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - 256, special_tokens=special, show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    data = json.loads(tokenizer.to_str())
    vocabulary = data["model"]["vocab"]
    vocabulary |= {f"<0x{byte:02X}>": len(vocabulary) + byte for byte in range(256)}
    data["model"]["byte_fallback"] = True
    tokenizer = Tokenizer.from_str(json.dumps(data))
    _template(tokenizer, "$A <eos>", "<eos>")
    return tokenizer


def _bert() -> Tokenizer:
    """CLIPA's: WordPiece, as in BERT."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(
        vocab_size=VOCABULARY, special_tokens=special, show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    _template(tokenizer, "[CLS] $A [SEP]", "[CLS]", "[SEP]")
    return tokenizer


def _xlm() -> Tokenizer:
    """MetaCLIP 2's: SentencePiece's unigrams, as in XLM-R."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=VOCABULARY, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    _template(tokenizer, "<s> $A </s>", "<s>", "</s>")
    return tokenizer


@dataclass(frozen=True)
class Family:
    """What its models have in common.

    Attributes:
        architecture: one of them, in open_clip.
        tag: its weights.
        build: returns the stand-in for its tokenizer.
        tokenizer_settings: the part of TOKENIZER_CONFIG that matters; None leaves the file out.
        pad: id of the padding.
        start: ids before a text.
        end: ids after it.
    """

    architecture: str
    tag: str
    build: Callable[[], Tokenizer]
    tokenizer_settings: dict[str, Any] | None
    pad: int
    start: tuple[int, ...]
    end: tuple[int, ...]

    @property
    def model_cfg(self) -> dict[str, Any]:
        config: dict[str, Any] = open_clip.get_model_config(self.architecture)
        config["embed_dim"] = 64
        if "timm_model_name" in config["vision_cfg"]:
            config["vision_cfg"] |= {"timm_model_name": "test_vit", "image_size": 160}
        else:
            config["vision_cfg"] |= {
                "image_size": 56,
                "width": 64,
                "layers": 1,
                "head_width": 32,
                "patch_size": 14,
            }
        config["text_cfg"] |= {"width": 64, "heads": 2, "layers": 1, "vocab_size": VOCABULARY}
        return config

    @property
    def preprocess_cfg(self) -> dict[str, Any]:
        pretrained = open_clip.get_pretrained_cfg(self.architecture, self.tag)
        return {key: pretrained[key] for key in ("mean", "std", "interpolation", "resize_mode")}


FAMILIES = {
    "SigLIP": Family(
        "ViT-B-16-SigLIP", "webli", _t5, {"pad_token": "</s>", "extra_ids": 0}, 1, (), (1,)
    ),
    "SigLIP 2": Family(
        "ViT-B-16-SigLIP2",
        "webli",
        _gemma,
        {"pad_token": {"content": "<pad>"}, "padding_side": "right"},
        0,
        (),
        (1,),
    ),
    # [SEP] is replaced by 0.
    "CLIPA": Family("ViT-L-14-CLIPA", "datacomp1b", _bert, None, 0, (2,), (0,)),
    "MetaCLIP 2": Family(
        "ViT-H-14-worldwide", "metaclip2_worldwide", _xlm, {"pad_token": "<pad>"}, 1, (0,), (2,)
    ),
}


@cache
def _built(build: Callable[[], Tokenizer]) -> str:
    """Build a stand-in once: training it again breaks ties in another way."""
    return str(build().to_str())


def write_tokenizer(folder: Path, family: Family) -> None:
    """Write the stand-in as its family's repositories have it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / TOKENIZER).write_text(_built(family.build))
    if family.tokenizer_settings is not None:
        (folder / TOKENIZER_CONFIG).write_text(json.dumps(family.tokenizer_settings))


def family_model(family: Family, seed: int = 0) -> Any:
    """Build a shrunken model with random weights."""
    torch.manual_seed(seed)
    return build_model(family.model_cfg, family.preprocess_cfg)


def write_family(folder: Path, name: str, seed: int = 0) -> Card:
    """Write a shrunken model of a family as a checkpoint folder."""
    family = FAMILIES[name]
    tokenizer_folder = folder.with_name(f".{folder.name}.tokenizer")
    write_tokenizer(tokenizer_folder, family)
    tokenizer = load_tokenizer(tokenizer_folder, family.model_cfg["text_cfg"])
    return write_checkpoint(
        folder,
        family_model(family, seed),
        family.model_cfg,
        family.preprocess_cfg,
        Card(name, frames=2),
        tokenizer=tokenizer,
    )
