"""The text side of W2VV++ and SEA: bag of words, word vectors and a GRU. It reads words instead of CLIP's tokens."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from nt2vr.errors import ConfigError
from nt2vr.models.text_side import TextSide
from nt2vr.models.weights import filled
from nt2vr.negation.parse.wordlists import listed
from nt2vr.papers.sea.poolings import Space, join_spaces
from nt2vr.papers.sea.settings import TextSideSettings
from nt2vr.papers.sea.vectors import ppmi_vectors, read_vectors
from nt2vr.papers.sea.vocabulary import Vocabulary, content_of, words_of
from nt2vr.settings import resolve_path

if TYPE_CHECKING:
    from trainer.config import TrainConfig
    from trainer.data.clips import Clips

START, END, UNKNOWN = 1, 2, 3  # rows of the GRU's embedding; 0 is padding, and words follow
SPECIAL = 4
DRAWS = 4  # captions per clip of the built-in world that are counted
MAX_OWN = 8_000  # words with vectors made of the captions: a matrix of 256 MB


class Words(TextSide):
    """Embeds texts by three encoders, in one space (W2VV++) or in one space each (SEA).

        bow     counts of the words, without stop words
        w2v     mean of the vectors of the distinct words, without stop words; zeros if none has one
        gru     mean of a GRU's states over all words, between a start and an end
        one space     join_spaces([S([gru, w2v, bow])]),      S: linear, tanh, dropout
        three spaces  join_spaces([S₁(bow), S₂(w2v), S₃(gru)])

    Sources: Li et al., "W2VV++: Fully Deep Learning for Ad-hoc Video Search", ACM MM 2019; Li et
    al., "SEA: Sentence Encoder Assembly for Video Retrieval by Textual Queries", IEEE Transactions
    on Multimedia 2021, here without BERT.
    """

    name = "words"
    vectors: Tensor

    def __init__(
        self, known: Vocabulary, vectors: Tensor, states: int, size: int, spaces: int
    ) -> None:
        """Initialise the GRU's words by their vectors (V, W), which stay as they are, or uniformly from -1 to 1.

        The GRU has a width of `states`, and an embedding a length of `size` in each of 1 or 3
        spaces.
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
        self.spaces = nn.ModuleList(
            Space(each, size) for each in ([sum(widths)] if spaces == 1 else widths)
        )

    @classmethod
    def for_training(cls, config: "TrainConfig", clips: "Clips") -> Self:
        """Build the text side that a config asks for, which knows the words of the captions."""
        settings = config.section(TextSideSettings).word_settings
        assert settings is not None, "a config without them trains the text tower"
        texts = list(map(words_of, _captions(clips, config.run.seed)))
        counts = Counter(chain.from_iterable(texts))
        frequent = [word for word, count in counts.most_common() if count >= settings.least]
        bow = [word for word in frequent if word not in listed("stop_words")]
        if not bow:
            raise ConfigError(
                f"No word occurs {settings.least} times in the captions. Lower words.least."
            )
        if settings.vectors:
            path = resolve_path(settings.vectors)
            vectors = read_vectors(path, counts)
            source = path.name
        else:
            vectors = ppmi_vectors(texts, frequent[:MAX_OWN], settings.vector_size)
            source = f"PPMI by SVD over {len(texts):,} captions"
        known = Vocabulary(tuple(bow), tuple(frequent), tuple(vectors), source)
        rows = torch.from_numpy(np.stack(list(vectors.values())))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.run.seed)
            return cls(known, rows, settings.states, settings.size, settings.number)

    @classmethod
    def read(cls, metadata: Mapping[str, str], weights: Mapping[str, Tensor]) -> Self:
        stored = json.loads(metadata["vocabulary"])
        bow, gru, vectors = (tuple(map(str, stored[key])) for key in ("bow", "gru", "vectors"))
        known = Vocabulary(bow, gru, vectors, str(stored["source"]))
        states = weights["gru.weight_hh_l0"].shape[1]
        size = len(weights["spaces.0.weight"])
        spaces = 3 if "spaces.1.weight" in weights else 1
        table = torch.empty(len(vectors), weights["embedding.weight"].shape[1])
        return filled(cls(known, table, states, size, spaces), weights, "the vocabulary")

    @property
    def metadata(self) -> dict[str, str]:
        return {"vocabulary": json.dumps(asdict(self.known))}

    @property
    def description(self) -> dict[str, str]:
        return {"vectors": self.known.source}

    @property
    def num_spaces(self) -> int:
        return len(self.spaces)

    @property
    def embed_dim(self) -> int:
        """Length of an embedding, in all spaces."""
        return sum(len(space.weight) for space in self.spaces)  # type: ignore[misc,arg-type]

    def forward(self, texts: Sequence[str]) -> Tensor:
        """Embed texts: (N, K P), each of length 1."""
        content = [content_of(text) for text in texts]
        bow, w2v, gru = self.bag(content), self.mean_vector(content), self.mean_state(texts)
        inputs = [torch.cat([gru, w2v, bow], dim=-1)] if len(self.spaces) == 1 else [bow, w2v, gru]
        return join_spaces([space(each) for space, each in zip(self.spaces, inputs, strict=True)])

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
            if places := [
                self._vectors[word] for word in dict.fromkeys(words) if word in self._vectors
            ]:
                means[row] = self.vectors[places].mean(dim=0)
        return means

    def mean_state(self, texts: Sequence[str]) -> Tensor:
        """Average the GRU's states over the words of texts: (N, S)."""
        ids = [
            [START, *(self._gru.get(word, UNKNOWN) for word in words_of(text)), END]
            for text in texts
        ]
        lengths = torch.tensor([len(each) for each in ids])
        padded = pad_sequence([torch.tensor(each) for each in ids], batch_first=True)
        embedded = self.embedding(padded.to(self.vectors.device))
        states, _ = self.gru(
            pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        )
        summed = pad_packed_sequence(states, batch_first=True)[0].sum(dim=1)
        return summed / lengths.to(summed)[:, None]

    def reads(self, text: str) -> str:
        """Return what the bag of words and the word vectors read of a text; the GRU reads the rest too."""
        return " ".join(
            word for word in content_of(text) if word in self._bow or word in self._vectors
        )

    def knows(self, word: str) -> bool:
        """Return True if no part of a word is unknown to all encoders; stop words are known."""
        parts = words_of(word)
        tables = (self._bow, self._gru, self._vectors, listed("stop_words"))
        return bool(parts) and all(any(part in table for table in tables) for part in parts)


def _captions(clips: "Clips", seed: int) -> Iterable[str]:
    """Return all captions; where they are generated, some of each clip."""
    captions = clips.all_captions(range(len(clips)))
    if captions:
        return captions
    return chain.from_iterable(clips.captions(f"{seed} words {draw}") for draw in range(DRAWS))
