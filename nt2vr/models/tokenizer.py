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
from nt2vr.models.framing import Config

if TYPE_CHECKING:
    from torch import Tensor

# As Hugging Face names them.
TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
# The padding and the separator of tokenizers whose TOKENIZER_CONFIG names none.
PADS = ("[PAD]", "<pad>")
SEPARATOR = "[SEP]"
# Ways of open_clip's to clean a text.
CLEANINGS = ("canonicalize", "lower", "whitespace")
# Of open_clip's HFTokenizer; the others change transformers' own tokenizers.
OPTIONS = {"clean", "strip_sep_token"}
# open_clip's defaults.
CONTEXT = 77
VOCABULARY = 49408


class FileTokenizer:
    """A tokenizer in Hugging Face's files.

    Attributes:
        files: their contents by name.
        digest: hash of them.
    """

    def __init__(self, files: Mapping[str, bytes], text_cfg: Config) -> None:
        from open_clip.tokenizer import get_clean_fn  # noqa: PLC0415  the page is up before open_clip is

        options = text_cfg.get("tokenizer_kwargs", {})
        clean = options.get("clean", "whitespace")
        if set(options) - OPTIONS or clean not in CLEANINGS or text_cfg.get("tokenizer_mode"):
            raise CheckpointError(
                f"The tokenizer's options {quoted(options)} need transformers. Choose another model."
            )
        digest = blake2b(digest_size=16)
        for name, content in sorted(files.items()):
            digest.update(f"{name} {len(content)} ".encode() + content)
        self.files = dict(files)
        self.digest = digest.hexdigest()
        self._clean = get_clean_fn(clean)
        self._length = text_cfg.get("context_length", CONTEXT)
        self._vocabulary = text_cfg.get("vocab_size", VOCABULARY)
        try:
            self._load(drops_separator=options.get("strip_sep_token"))
            self([""])
        # tokenizers raises nothing more specific.
        except Exception as error:
            raise CheckpointError(
                f"{TOKENIZER} cannot be used ({reason_of(error)}). Choose another model."
            ) from error

    def _load(self, drops_separator: bool) -> None:
        from tokenizers import Tokenizer  # noqa: PLC0415  only models with such a tokenizer need it

        config = json.loads(self.files.get(TOKENIZER_CONFIG, b"{}"))
        pad = _content(config.get("pad_token"))
        separator = _content(config.get("sep_token")) or SEPARATOR
        self._tokenizer = Tokenizer.from_buffer(self.files[TOKENIZER])
        if not pad:
            usual = (token for token in PADS if self._tokenizer.token_to_id(token) is not None)
            pad = next(usual, "")
        self._pad = self._id_of(pad, "padding")
        self._dropped = self._id_of(separator, "separator") if drops_separator else None
        self._tokenizer.enable_truncation(
            self._length, direction=config.get("truncation_side", "right")
        )
        self._tokenizer.enable_padding(
            direction=config.get("padding_side", "right"),
            pad_id=self._pad,
            pad_token=pad,
            length=self._length,
        )

    def __call__(self, texts: Sequence[str]) -> "Tensor":
        """Tokenize texts: (N, context length), truncated and padded."""
        import torch  # noqa: PLC0415  the page is up before torch is

        encodings = self._tokenizer.encode_batch([self._clean(text) for text in texts])
        ids = [encoding.ids for encoding in encodings]
        tokens = torch.tensor(ids, dtype=torch.long)
        # Without texts, it has no second dimension.
        tokens = tokens.reshape(len(texts), self._length)
        # Special tokens that somebody typed may lie beyond the model's table.
        tokens[tokens >= self._vocabulary] = self._pad
        if self._dropped is not None:
            # As open_clip does, whatever the padding is.
            tokens[tokens == self._dropped] = 0
        return tokens

    def encode(self, text: str) -> list[int]:
        """Tokenize a text without special tokens and padding; one too long is truncated."""
        encoding = self._tokenizer.encode(self._clean(text))
        pairs = zip(encoding.ids, encoding.special_tokens_mask, strict=True)
        return [token for token, special in pairs if not special and token < self._vocabulary]

    def _id_of(self, token: str, kind: str) -> int:
        number: int | None = self._tokenizer.token_to_id(token)
        if number is None or number >= self._vocabulary:
            raise ValueError(f"it has no {kind} token {quoted(token)}")
        return number


def _content(token: Any) -> str:
    """Return the text of a special token, which TOKENIZER_CONFIG gives as text or with its properties."""
    if isinstance(token, dict):
        token = token.get("content")
    return str(token or "")


def needs_file(text_cfg: Config) -> bool:
    return bool(text_cfg.get("hf_tokenizer_name"))


def load_tokenizer(folder: Path | None, text_cfg: Config) -> Any:
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
    contents = []
    for name in (TOKENIZER, TOKENIZER_CONFIG):
        if (folder / name).is_file():
            contents.append((name, (folder / name).read_bytes()))
    return _built(tuple(contents), json.dumps(text_cfg))


# CLIP's vocabulary takes 0.1 s to read, and one of 256,000 tokens seconds.
@lru_cache(maxsize=8)
def _built(contents: tuple[tuple[str, bytes], ...], config: str) -> Any:
    """Build the tokenizer of the files with these names and contents; none are CLIP's."""
    from open_clip import SimpleTokenizer  # noqa: PLC0415  the page is up before open_clip is

    text_cfg = json.loads(config)
    if contents:
        return FileTokenizer(dict(contents), text_cfg)
    length = text_cfg.get("context_length", CONTEXT)
    return SimpleTokenizer(context_length=length, **text_cfg.get("tokenizer_kwargs", {}))


def digest_of(tokenizer: Any) -> str:
    """Hash a tokenizer; empty for CLIP's own, which every open_clip has."""
    return tokenizer.digest if isinstance(tokenizer, FileTokenizer) else ""


def files_of(tokenizer: Any, text_cfg: Config) -> Mapping[str, bytes]:
    """Return the files of a tokenizer by name; none for CLIP's own."""
    if needs_file(text_cfg) != isinstance(tokenizer, FileTokenizer):
        raise CheckpointError(
            "The tokenizer does not belong to the model. Write the checkpoint with its own."
        )
    return tokenizer.files if isinstance(tokenizer, FileTokenizer) else {}


def special_ids(tokenizer: Any) -> tuple[int, ...]:
    """Return the tokens that a tokenizer adds to a text, and that its embedding depends on."""
    if isinstance(tokenizer, FileTokenizer):
        (tokens,) = tokenizer([""])
        return tuple(sorted(set(tokens.tolist())))
    return tokenizer.sot_token_id, tokenizer.eot_token_id
