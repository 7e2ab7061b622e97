"""Tokenizers: open_clip's CLIP tokenizer, and those of SigLIP, CLIPA and MetaCLIP 2, stored in a checkpoint folder.

open_clip's `HFTokenizer` reads the latter with transformers; this module does the same with
`tokenizers` alone.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nt2vr.errors import CheckpointError, ConfigError, quoted, reason_of

if TYPE_CHECKING:
    from torch import Tensor

TOKENIZER, TOKENIZER_CONFIG = (
    "tokenizer.json",
    "tokenizer_config.json",
)  # as Hugging Face names them
PADS = ("[PAD]", "<pad>")  # the padding of tokenizers whose TOKENIZER_CONFIG names none
SEPARATOR = "[SEP]"  # likewise
CLEANINGS = ("canonicalize", "lower", "whitespace")  # open_clip's
OPTIONS = {
    "clean",
    "strip_sep_token",
}  # of open_clip's HFTokenizer; the others change transformers' own tokenizers
CONTEXT, VOCABULARY = 77, 49408  # open_clip's defaults


class FileTokenizer:
    def __init__(self, files: Mapping[str, bytes], text_cfg: Mapping[str, Any]) -> None:
        from open_clip.tokenizer import get_clean_fn  # noqa: PLC0415  the page is up before open_clip is
        from tokenizers import Tokenizer  # noqa: PLC0415

        options = text_cfg.get("tokenizer_kwargs", {})
        clean = options.get("clean", "whitespace")
        if any((set(options) - OPTIONS, clean not in CLEANINGS, text_cfg.get("tokenizer_mode"))):
            raise CheckpointError(
                f"The tokenizer's options {quoted(options)} need transformers. Choose another model."
            )
        self.files, digest = dict(files), blake2b(digest_size=16)
        for name, content in sorted(files.items()):
            digest.update(f"{name} {len(content)} ".encode() + content)
        self.digest = digest.hexdigest()
        self._clean = get_clean_fn(clean)
        self._length = text_cfg.get("context_length", CONTEXT)
        self._vocabulary = text_cfg.get("vocab_size", VOCABULARY)
        try:
            told = json.loads(files.get(TOKENIZER_CONFIG, b"{}"))
            pad, separator = (
                _content(told.get("pad_token")),
                _content(told.get("sep_token")) or SEPARATOR,
            )
            self._tokenizer = Tokenizer.from_buffer(files[TOKENIZER])
            pad = pad or next(
                (each for each in PADS if self._tokenizer.token_to_id(each) is not None), ""
            )
            self._pad = self._known(pad, "padding")
            self._dropped = (
                self._known(separator, "separator") if options.get("strip_sep_token") else None
            )
            sides = told.get("truncation_side", "right"), told.get("padding_side", "right")
            self._tokenizer.enable_truncation(self._length, direction=sides[0])
            padding = {"pad_id": self._pad, "pad_token": pad, "length": self._length}
            self._tokenizer.enable_padding(direction=sides[1], **padding)
            self([""])
        except Exception as error:  # tokenizers raises nothing more specific
            raise CheckpointError(
                f"{TOKENIZER} cannot be used ({reason_of(error)}). Choose another model."
            ) from error

    def __call__(self, texts: Sequence[str]) -> "Tensor":
        """Tokenize texts: (N, context length), truncated and padded."""
        import torch  # noqa: PLC0415  the page is up before torch is

        encodings = self._tokenizer.encode_batch([self._clean(text) for text in texts])
        tokens = torch.tensor([each.ids for each in encodings], dtype=torch.long).reshape(
            len(texts), self._length
        )
        tokens[tokens >= self._vocabulary] = (
            self._pad
        )  # typed special tokens beyond the model's table
        if self._dropped is not None:
            tokens[tokens == self._dropped] = 0  # as open_clip does, whatever the padding is
        return tokens

    def encode(self, text: str) -> list[int]:
        """Tokenize a text without special tokens and padding; one too long is truncated."""
        encoding = self._tokenizer.encode(self._clean(text))
        pairs = zip(encoding.ids, encoding.special_tokens_mask, strict=True)
        return [token for token, special in pairs if not special and token < self._vocabulary]

    def _known(self, token: str, kind: str) -> int:
        found: int | None = self._tokenizer.token_to_id(token)
        if found is None or found >= self._vocabulary:
            raise ValueError(f"it has no {kind} token {quoted(token)}")
        return found


def _content(token: Any) -> str:
    """Return the text of a special token, which TOKENIZER_CONFIG gives as text or with its properties."""
    return str(token.get("content", "")) if isinstance(token, dict) else str(token or "")


def needs_file(text_cfg: Mapping[str, Any]) -> bool:
    return bool(text_cfg.get("hf_tokenizer_name"))


def load_tokenizer(folder: Path | None, text_cfg: Mapping[str, Any]) -> Any:
    """Return the tokenizer of a text tower: CLIP's own from open_clip, any other from a folder."""
    if not needs_file(text_cfg):
        return _built((), json.dumps(text_cfg))
    if folder is None:
        name = quoted(text_cfg["hf_tokenizer_name"])
        raise ConfigError(
            f"The model needs the tokenizer {name}, which only a base brings along. Name a base."
        )
    if not (folder / TOKENIZER).is_file():
        raise CheckpointError(
            f"{folder} has no {TOKENIZER}, which its text tower needs. Choose another."
        )
    files = (folder / name for name in (TOKENIZER, TOKENIZER_CONFIG))
    return _built(
        tuple((file.name, file.read_bytes()) for file in files if file.is_file()),
        json.dumps(text_cfg),
    )


@lru_cache(maxsize=8)
def _built(files: tuple[tuple[str, bytes], ...], text_cfg: str) -> Any:
    """Build a tokenizer; cached, as CLIP's vocabulary takes 0.1 s to read, and one of 256,000 tokens seconds."""
    from open_clip import SimpleTokenizer  # noqa: PLC0415  the page is up before open_clip is

    told = json.loads(text_cfg)
    if files:
        return FileTokenizer(dict(files), told)
    return SimpleTokenizer(
        context_length=told.get("context_length", CONTEXT), **told.get("tokenizer_kwargs", {})
    )


def digest_of(tokenizer: Any) -> str:
    """Hash a tokenizer; empty for CLIP's own, which every open_clip has."""
    return tokenizer.digest if isinstance(tokenizer, FileTokenizer) else ""


def files_of(tokenizer: Any, text_cfg: Mapping[str, Any]) -> Mapping[str, bytes]:
    """Return the files of a tokenizer by name; none for CLIP's own."""
    if needs_file(text_cfg) != isinstance(tokenizer, FileTokenizer):
        raise CheckpointError(
            "The tokenizer does not belong to the model. Write the checkpoint with its own."
        )
    return tokenizer.files if isinstance(tokenizer, FileTokenizer) else {}


def special_ids(tokenizer: Any) -> tuple[int, ...]:
    """Return the tokens that a tokenizer adds to a text, and that its embedding depends on."""
    if isinstance(tokenizer, FileTokenizer):
        return tuple(sorted(set(tokenizer([""])[0].tolist())))
    return tokenizer.sot_token_id, tokenizer.eot_token_id
