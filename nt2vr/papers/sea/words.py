"""The text side of W2VV++ and SEA: bag of words, word vectors and a GRU. It reads words instead of CLIP's tokens.

In shapes, N texts are embedded. The bag of words knows B words, V words have a vector of length W, and
the GRU has S states. There are K spaces of length P.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from nt2vr.errors import ConfigError
from nt2vr.evaluation.queries import row_numbers
from nt2vr.models.text_side import TextSide
from nt2vr.models.weights import Weights, filled
from nt2vr.negation.parse.wordlists import listed
from nt2vr.papers.sea.poolings import Space, join_spaces
from nt2vr.papers.sea.settings import TextSideSettings, WordSettings
from nt2vr.papers.sea.vectors import WordVectors, ppmi_vectors, read_vectors
from nt2vr.papers.sea.vocabulary import TextWords, Vocabulary, content_of, words_of
from nt2vr.settings import resolve_path

if TYPE_CHECKING:
    from trainer.config import TrainConfig
    from trainer.data.clips import Clips

# Rows of the GRU's embedding. Words follow.
PADDING = 0
START = 1
END = 2
UNKNOWN = 3
NUM_SPECIAL = 4

# Captions of each clip of the built-in world, which are generated, from which words are learned.
CAPTIONS_PER_CLIP = 4

# Words that get vectors made of the captions, the most frequent ones: a matrix of 256 MB.
MAX_OWN_VECTORS = 8_000


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
        self, vocabulary: Vocabulary, vectors: Tensor, states: int, size: int, spaces: int
    ) -> None:
        """Build the encoders. The GRU's words start as their vectors, or uniformly from -1 to 1.

        Args:
            vocabulary: the words that each encoder knows.
            vectors: (V, W), which stay as they are.
            states: width of the GRU.
            size: length of an embedding in a space.
            spaces: 1 or 3.
        """
        super().__init__()
        self.vocabulary = vocabulary
        self._bow_rows = row_numbers(vocabulary.bow)
        self._gru_rows = {word: row for row, word in enumerate(vocabulary.gru, NUM_SPECIAL)}
        self._vector_rows = row_numbers(vocabulary.vectors)
        read_words = chain(vocabulary.bow, vocabulary.gru, vocabulary.vectors)
        self._known_words = listed("stop_words").union(read_words)

        width = vectors.shape[1]
        self.register_buffer("vectors", vectors)
        self.embedding = nn.Embedding(NUM_SPECIAL + len(vocabulary.gru), width)
        self.embedding.weight = nn.Parameter(self._initial_embedding())
        self.gru = nn.GRU(width, states, batch_first=True)

        widths = [len(vocabulary.bow), width, states]
        if spaces == 1:
            widths = [sum(widths)]
        self.spaces = nn.ModuleList(Space(space_width, size) for space_width in widths)

    def _initial_embedding(self) -> Tensor:
        """Return what the GRU's words start with: (4 + words, W)."""
        rows = torch.empty_like(self.embedding.weight).uniform_(-1, 1)
        for word, row in self._gru_rows.items():
            if word in self._vector_rows:
                rows[row] = self.vectors[self._vector_rows[word]]
        return rows

    @classmethod
    def for_training(cls, config: "TrainConfig", clips: "Clips") -> Self:
        """Build the text side that a config asks for, which knows the words of the captions."""
        settings = config.section(TextSideSettings).word_settings
        assert settings is not None, "a config without them trains the text tower"
        captions = _captions(clips, config.run.seed)
        texts = list(map(words_of, captions))
        counts = Counter(chain.from_iterable(texts))
        frequent = [word for word, count in counts.most_common() if count >= settings.least]
        bow = [word for word in frequent if word not in listed("stop_words")]
        if not bow:
            raise ConfigError(
                f"No word occurs {settings.least} times in the captions. Lower words.least."
            )

        vectors, source = _vectors_and_source(settings, texts, counts, frequent)
        rows = torch.from_numpy(np.stack(list(vectors.values())))
        vocabulary = Vocabulary(
            bow=tuple(bow),
            gru=tuple(frequent),
            vectors=tuple(vectors),
            source=source,
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.run.seed)
            return cls(
                vocabulary=vocabulary,
                vectors=rows,
                states=settings.states,
                size=settings.size,
                spaces=settings.number,
            )

    @classmethod
    def read(cls, metadata: Mapping[str, str], weights: Weights) -> Self:
        stored = json.loads(metadata["vocabulary"])
        encoders = ("bow", "gru", "vectors")
        words = {encoder: tuple(map(str, stored[encoder])) for encoder in encoders}
        vocabulary = Vocabulary(**words, source=str(stored["source"]))
        width = weights["embedding.weight"].shape[1]
        spaces = 3 if "spaces.1.weight" in weights else 1
        text_side = cls(
            vocabulary=vocabulary,
            vectors=torch.empty(len(vocabulary.vectors), width),
            states=weights["gru.weight_hh_l0"].shape[1],
            size=len(weights["spaces.0.weight"]),
            spaces=spaces,
        )
        return filled(text_side, weights, "the vocabulary")

    @property
    def metadata(self) -> dict[str, str]:
        return {"vocabulary": json.dumps(asdict(self.vocabulary))}

    @property
    def description(self) -> dict[str, str]:
        return {"vectors": self.vocabulary.source}

    @property
    def num_spaces(self) -> int:
        return len(self.spaces)

    @property
    def embed_dim(self) -> int:
        """Length of an embedding, in all spaces."""
        return sum(len(space.weight) for space in self.spaces)  # type: ignore[misc,arg-type]

    def forward(self, texts: Sequence[str]) -> Tensor:
        """Embed texts: (N, K P), each of length 1."""
        content = list(map(content_of, texts))
        bow = self.bag(content)  # (N, B)
        w2v = self.mean_vector(content)  # (N, W)
        gru = self.mean_state(texts)  # (N, S)
        if self.num_spaces == 1:
            encodings = [torch.cat([gru, w2v, bow], dim=-1)]
        else:
            encodings = [bow, w2v, gru]
        pairs = zip(self.spaces, encodings, strict=True)
        return join_spaces([space(encoding) for space, encoding in pairs])

    def bag(self, content: TextWords) -> Tensor:
        """Count the known words of texts: (N, B)."""
        counts = self.vectors.new_zeros(len(content), len(self.vocabulary.bow))
        for text_row, words in enumerate(content):
            for row in _known_rows(words, self._bow_rows):
                counts[text_row, row] += 1
        return counts

    def mean_vector(self, content: Sequence[Iterable[str]]) -> Tensor:
        """Average the vectors of the distinct words of texts: (N, W)."""
        means = self.vectors.new_zeros(len(content), self.vectors.shape[1])
        for text_row, words in enumerate(content):
            rows = _known_rows(dict.fromkeys(words), self._vector_rows)
            if rows:
                means[text_row] = self.vectors[rows].mean(dim=0)
        return means

    def mean_state(self, texts: Sequence[str]) -> Tensor:
        """Average the GRU's states over the words of texts: (N, S)."""
        ids = list(map(self._gru_ids, texts))
        lengths = torch.tensor(list(map(len, ids)))  # (N,)
        padded = pad_sequence(ids, batch_first=True, padding_value=PADDING)  # (N, L)
        embedded = self.embedding(padded.to(self.vectors.device))  # (N, L, W)
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        packed_states, _ = self.gru(packed)
        states, _ = pad_packed_sequence(packed_states, batch_first=True)  # (N, L, S), 0 at padding
        sums = states.sum(dim=1)  # (N, S)
        return sums / lengths.to(sums)[:, None]

    def _gru_ids(self, text: str) -> Tensor:
        """Return the rows in the GRU's embedding of a text's words, between a start and an end."""
        rows = [self._gru_rows.get(word, UNKNOWN) for word in words_of(text)]
        return torch.tensor([START, *rows, END])

    def reads(self, text: str) -> str:
        """Return what the bag of words and the word vectors read of a text; the GRU reads the rest too."""
        known_words = []
        for word in content_of(text):
            if word in self._bow_rows or word in self._vector_rows:
                known_words.append(word)
        return " ".join(known_words)

    def knows(self, word: str) -> bool:
        """Return True if no part of a word is unknown to all encoders; stop words are known."""
        parts = words_of(word)
        return bool(parts) and self._known_words.issuperset(parts)


def _vectors_and_source(
    settings: WordSettings,
    texts: TextWords,
    words: Collection[str],
    frequent: Sequence[str],
) -> tuple[WordVectors, str]:
    """Read the vectors of words, or make them of the captions; also say what they are."""
    if settings.vectors:
        path = resolve_path(settings.vectors)
        return read_vectors(path, words), path.name
    vectors = ppmi_vectors(texts, frequent[:MAX_OWN_VECTORS], settings.vector_size)
    return vectors, f"PPMI by SVD over {len(texts):,} captions"


def _known_rows(words: Iterable[str], row_of: Mapping[str, int]) -> list[int]:
    return [row_of[word] for word in words if word in row_of]


def _captions(clips: "Clips", seed: int) -> Iterable[str]:
    """Return all captions; where they are generated, some of each clip."""
    captions = clips.all_captions(range(len(clips)))
    if captions:
        return captions
    drawn = []
    for draw in range(CAPTIONS_PER_CLIP):
        drawn += clips.captions(f"{seed} words {draw}")
    return drawn
