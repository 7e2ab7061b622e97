"""Text sides that read words instead of CLIP's tokens: bag of words, word vectors and a GRU, as in W2VV++ and SEA.

A checkpoint folder has one next to open_clip's files, in WORDS; the text tower there is the base's, and is not asked.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from nt2vr.errors import CheckpointError
from nt2vr.models.card import WORDS, Card, WordsEntry
from nt2vr.models.pooling import Space, joined
from nt2vr.models.weights import filled, hash_into, loading, unfilled
from nt2vr.negation.parse.wordlists import listed

START, END, UNKNOWN = 1, 2, 3  # rows of the GRU's embedding; 0 is padding, and words follow
SPECIAL = 4
MAX_READ = 200  # words of a text
BETWEEN = re.compile("[^A-Za-z0-9]+")


def words_of(text: str) -> list[str]:
    """Split a text as W2VV++ does: in lower case, at everything but Latin letters and digits."""
    return [word for word in BETWEEN.split(text.lower()) if word][:MAX_READ]


def content_of(text: str) -> list[str]:
    """Return the words of a text without stop words, among which are no, nor, not and what is left of don't."""
    return [word for word in words_of(text) if word not in listed("stop_words")]


@dataclass(frozen=True)
class Vocabulary:
    """The words that each encoder knows; those of the bag are without stop words."""

    bow: tuple[str, ...]
    gru: tuple[str, ...]
    vectors: tuple[str, ...]  # words with a vector
    source: str = ""  # what the vectors are


class Words(nn.Module):
    """Embeds texts by three encoders, in one space (W2VV++) or in one space each (SEA).

        bow     counts of the words, without stop words
        w2v     mean of the vectors of the distinct words, without stop words; zeros if none has one
        gru     mean of a GRU's states over all words, between a start and an end
        one space     joined([S([gru, w2v, bow])]),      S: linear, tanh, dropout
        three spaces  joined([S₁(bow), S₂(w2v), S₃(gru)])

    Sources: Li et al., "W2VV++: Fully Deep Learning for Ad-hoc Video Search", ACM MM 2019; Li et al., "SEA: Sentence
    Encoder Assembly for Video Retrieval by Textual Queries", IEEE Transactions on Multimedia 2021, here without BERT.
    """

    vectors: Tensor

    def __init__(self, known: Vocabulary, vectors: Tensor, states: int, size: int, spaces: int) -> None:
        """Initialise the GRU's words by their vectors (V, W), which stay as they are, or uniformly from -1 to 1.

        The GRU has a width of `states`, and an embedding a length of `size` in each of 1 or 3 spaces.
        """
        super().__init__()
        self.known, width = known, vectors.shape[1]
        self._bow, self._gru, self._vectors = (
            {word: row for row, word in enumerate(words, first)}
            for words, first in ((known.bow, 0), (known.gru, SPECIAL), (known.vectors, 0))
        )
        self.register_buffer("vectors", vectors)
        self.embedding = nn.Embedding(SPECIAL + len(known.gru), width)
        rows = torch.empty_like(self.embedding.weight).uniform_(-1, 1)
        for word, row in self._gru.items():
            if word in self._vectors:
                rows[row] = vectors[self._vectors[word]]
        self.embedding.weight = nn.Parameter(rows)
        self.gru = nn.GRU(width, states, batch_first=True)
        widths = (len(known.bow), width, states)
        self.spaces = nn.ModuleList(Space(each, size) for each in ([sum(widths)] if spaces == 1 else widths))

    @property
    def metadata(self) -> dict[str, str]:  # of its file
        return {"vocabulary": json.dumps(asdict(self.known))}

    @property
    def embed_dim(self) -> int:
        """Length of an embedding, in all spaces."""
        return sum(len(space.weight) for space in self.spaces)  # type: ignore[misc,arg-type]

    def forward(self, texts: Sequence[str]) -> Tensor:
        """Embed texts: (N, K P), each of length 1."""
        content = [content_of(text) for text in texts]
        bow, w2v, gru = self.bag(content), self.mean_vector(content), self.mean_state(texts)
        inputs = [torch.cat([gru, w2v, bow], dim=-1)] if len(self.spaces) == 1 else [bow, w2v, gru]
        return joined([space(each) for space, each in zip(self.spaces, inputs, strict=True)])

    def bag(self, content: Sequence[Sequence[str]]) -> Tensor:
        """Count the known words of texts: (N, B)."""
        counts = self.vectors.new_zeros(len(content), len(self.known.bow))
        for row, words in enumerate(content):
            for place in (self._bow[word] for word in words if word in self._bow):
                counts[row, place] += 1
        return counts

    def mean_vector(self, content: Sequence[Iterable[str]]) -> Tensor:
        """Average the vectors of the distinct words of texts: (N, W)."""
        means = self.vectors.new_zeros(len(content), self.vectors.shape[1])
        for row, words in enumerate(content):
            if places := [self._vectors[word] for word in dict.fromkeys(words) if word in self._vectors]:
                means[row] = self.vectors[places].mean(dim=0)
        return means

    def mean_state(self, texts: Sequence[str]) -> Tensor:
        """Average the GRU's states over the words of texts: (N, S)."""
        ids = [[START, *(self._gru.get(word, UNKNOWN) for word in words_of(text)), END] for text in texts]
        lengths = torch.tensor([len(each) for each in ids])
        padded = pad_sequence([torch.tensor(each) for each in ids], batch_first=True)
        embedded = self.embedding(padded.to(self.vectors.device))
        states, _ = self.gru(pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False))
        summed = pad_packed_sequence(states, batch_first=True)[0].sum(dim=1)
        return summed / lengths.to(summed)[:, None]

    def reads(self, text: str) -> str:
        """Return what the bag of words and the word vectors read of a text; the GRU reads the rest too."""
        return " ".join(word for word in content_of(text) if word in self._bow or word in self._vectors)

    def knows(self, word: str) -> bool:
        """Return True if no part of a word is unknown to all encoders; stop words are known."""
        parts = words_of(word)
        tables = (self._bow, self._gru, self._vectors, listed("stop_words"))
        return bool(parts) and all(any(part in table for table in tables) for part in parts)


def words_card(words: Words | None, weights: Mapping[str, Tensor] | None = None) -> WordsEntry | None:
    """Return what a card says of a text side: its word vectors, and a hash with the weights as stored."""
    if words is None:
        return None
    digest = blake2b(json.dumps(asdict(words.known)).encode(), digest_size=16)
    hash_into(digest, words.state_dict() if weights is None else weights)
    return WordsEntry(vectors=words.known.source, fingerprint=digest.hexdigest())


def read_words(folder: Path, card: Card) -> Words | None:
    """Return the text side of a checkpoint folder, None if its card has none; a CheckpointError if it is unusable."""
    if card.text.words is None:
        return None
    path = folder / WORDS
    if not path.is_file():
        raise CheckpointError(f"{folder} reads words, but has no {WORDS}. Choose a complete checkpoint.")
    with loading(path):
        with safe_open(path, "pt") as file:
            stored = json.loads((file.metadata() or {})["vocabulary"])
            weights = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118  no mapping
        bow, gru, vectors = (tuple(map(str, stored[key])) for key in ("bow", "gru", "vectors"))
        known = Vocabulary(bow, gru, vectors, str(stored["source"]))
        states, size = weights["gru.weight_hh_l0"].shape[1], len(weights["spaces.0.weight"])
        with torch.device("meta"), unfilled():
            table = torch.empty(len(vectors), weights["embedding.weight"].shape[1])
            words = Words(known, table, states, size, 3 if "spaces.1.weight" in weights else 1)
        words = filled(words, weights, "the vocabulary")
    if words_card(words) != card.text.words:
        raise CheckpointError(f"{path} holds weights that do not match the card. Write the checkpoint again.")
    return words
