"""Galleries embedded by one model, and the search for their nearest clips."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.media.gallery import Gallery
from nt2vr.models.encoder import Vectors
from nt2vr.search.exclusion import CHUNK, Exclusion, focused, scores_of
from nt2vr.search.index import ExactIndex, Index, best_rows
from nt2vr.search.index.exact import Scores

Numbers = NDArray[np.int64]
ScoredRows = tuple[Scores, Numbers]
# Clips of an index that are scored with an exclusion.
SHORTLIST = 10_000
# Largest gallery whose frames are all weighted by a query: 0.5 GB of 12 frames of 512 numbers.
MAX_FOCUSED = 20_000
# First clips that a shortlist must not miss.
NUM_SURE = 10
# Nearest clips of which an index misses hardly any.
NUM_RELIABLE = 100
EVERY_ROW = slice(None)


@dataclass(frozen=True)
class EmbeddedGallery:
    """A gallery with its embeddings, unaffected by what is written to their file later.

    Attributes:
        embeddings: (V, D), pooled by the encoder; row i belongs to `gallery.videos[i]`, as in all
            arrays of V rows.
        index: over `embeddings`; its `recall` is 1 unless it is approximate.
        skipped: ids of the clips that are missing, and why.
        all_frames: (N, F, D), as the encoder returned them, in the order of the file.
        frame_rows: (V,), the clips' rows in `all_frames`.
        project_frames: makes the frames (F, D) of a clip comparable with a query: (F, P); None if
            they are.
        contents: (V,), ids of contents, if the index answers with those.
        refused: why the index that was asked for is not used; empty if it is.
    """

    gallery: Gallery
    embeddings: Vectors
    index: Index
    skipped: tuple[tuple[str, str], ...]
    all_frames: Vectors = field(repr=False)
    frame_rows: Numbers = field(repr=False)
    project_frames: Callable[[Vectors], Vectors] | None = field(default=None, repr=False)
    contents: Numbers | None = field(default=None, repr=False)
    refused: str = ""

    @property
    def notice(self) -> str:
        """Why clips are not found by the index that was asked for."""
        # Not every `Index` has a notice.
        return self.refused or getattr(self.index, "notice", "")

    @cached_property
    def row_of(self) -> dict[str, int]:
        return {video.video_id: row for row, video in enumerate(self.gallery.videos)}

    @cached_property
    def _rows_by_content(self) -> tuple[Numbers, Numbers]:
        assert self.contents is not None, "otherwise ids are rows"
        rows = np.argsort(self.contents, kind="stable")
        return self.contents[rows], rows

    def search(self, vector: Vectors, k: int, exclusion: Exclusion | None = None) -> ScoredRows:
        """Return scores and rows of the best k clips, best first; ties by row.

        An approximate index gives an exclusion the SHORTLIST clips nearest to the vector. All are
        scored if the first ten might lack better ones: an exclusion only takes, and the index is
        reliable for the nearest hundred. Of more than MAX_FOCUSED clips, a query that weighs frames is
        compared with the SHORTLIST nearest to the vector only.
        """
        if exclusion is None:
            return self._nearest(vector, k)

        if self._has_shortlist(exclusion):
            products, rows = self._nearest(vector, max(k, SHORTLIST))
            scores, best = self._best_of(k, vector, exclusion, np.sort(rows))
            if exclusion.focus is not None:
                return scores, best
            # Clips outside the shortlist have smaller products, and an exclusion only lowers them.
            if len(scores) and scores[:NUM_SURE][-1] >= products[:NUM_RELIABLE][-1]:
                return scores, best
        return self._best_of(k, vector, exclusion)

    def _has_shortlist(self, exclusion: Exclusion) -> bool:
        """Return whether the index chooses the clips that are scored with an exclusion."""
        if exclusion.focus is not None:
            return len(self.embeddings) > MAX_FOCUSED
        # Only an approximate index answers with contents.
        return self.contents is not None

    def _best_of(
        self, k: int, vector: Vectors, exclusion: Exclusion, rows: Numbers | slice = EVERY_ROW
    ) -> ScoredRows:
        """Return scores and rows of the best k clips: of some rows, which ascend, or of all."""
        scores = scores_of(self.clips(exclusion, rows), vector, exclusion)
        # Numbers ascend, so their positions break ties in the same order.
        best = best_rows(scores, np.arange(len(scores)), min(k, len(scores)))
        if isinstance(rows, slice):
            return scores[best], best
        return scores[best], rows[best]

    def clips(
        self, exclusion: Exclusion | None = None, rows: Sequence[int] | Numbers | slice = EVERY_ROW
    ) -> Vectors:
        """Return the clips of some rows, or all, as a query sees them: (n, D).

        They are pooled again if the query weighs frames.
        """
        if exclusion is None or exclusion.focus is None:
            return self.embeddings[rows]
        frame_rows = self.frame_rows[rows]
        pooled = [self.embeddings[:0]]
        for start in range(0, len(frame_rows), CHUNK):
            frames = self.all_frames[frame_rows[start : start + CHUNK]]
            pooled.append(focused(frames, exclusion.focus))
        return np.concatenate(pooled)

    def _nearest(self, vector: Vectors, k: int) -> ScoredRows:
        """Return inner products and rows of the k clips with the largest ones."""
        (products,), (ids,) = self.index.search(vector[None], k)
        if self.contents is None:
            return products, ids

        # Several clips may have one content.
        rows, num_clips = self._rows_of_contents(ids)
        products = np.repeat(products, num_clips)
        best = np.lexsort((rows, -products))[:k]
        return products[best], rows[best]

    def _rows_of_contents(self, ids: Numbers) -> tuple[Numbers, Numbers]:
        """Return the rows of the clips with these contents, and how many clips each content has."""
        contents, rows_by_content = self._rows_by_content
        starts = np.searchsorted(contents, ids)
        ends = np.searchsorted(contents, ids, side="right")
        rows = [np.empty(0, np.int64)]
        for start, end in zip(starts, ends, strict=True):
            rows.append(rows_by_content[start:end])
        return np.concatenate(rows), ends - starts

    def frame_embeddings(self, row: int) -> Vectors:
        """Read the embeddings of a clip's frames, as if each were a clip: (F, P), L2-normalised."""
        frames = np.array(self.all_frames[self.frame_rows[row]])
        if self.project_frames is None:
            return frames
        return self.project_frames(frames)

    def excerpt(self, video_ids: Sequence[str]) -> "Excerpt":
        """Return some of the clips, as a gallery that can be pickled."""
        rows = np.array([self.row_of[video_id] for video_id in video_ids], np.int64)
        videos = tuple(self.gallery.videos[row] for row in rows)
        embeddings = self.embeddings[rows]
        all_frames = self.all_frames[self.frame_rows[rows]]
        compared_frames = all_frames
        if self.project_frames is not None and len(rows):
            compared_frames = np.stack([self.frame_embeddings(row) for row in rows])

        index = ExactIndex(embeddings.shape[1])
        index.add(np.arange(len(rows)), embeddings)
        index.recall = self.index.recall
        return Excerpt(
            gallery=replace(self.gallery, videos=videos),
            embeddings=embeddings,
            index=index,
            skipped=(),
            all_frames=all_frames,
            frame_rows=np.arange(len(rows)),
            refused=self.notice,
            compared_frames=compared_frames,
        )


class SearchedClip(NamedTuple):
    """A clip of a gallery, and what a system searched for."""

    gallery: EmbeddedGallery
    row: int
    vector: Vectors  # (D,)
    exclusion: Exclusion | None

    @property
    def embedding(self) -> Vectors:
        """The clip as the query sees it, (D,)."""
        embedding: Vectors = self.gallery.clips(self.exclusion, [self.row])[0]
        return embedding

    @property
    def score(self) -> float:
        return float(scores_of(self.embedding, self.vector, self.exclusion))

    @property
    def frame_scores(self) -> Vectors:
        """The score of each frame as if it were a clip: (F,)."""
        frames = self.gallery.frame_embeddings(self.row)
        return scores_of(frames, self.vector, self.exclusion)


@dataclass(frozen=True)
class Excerpt(EmbeddedGallery):
    """A few clips of a gallery, without its model.

    `index.recall` is that of the whole gallery's index.
    A whole gallery may have gigabytes of embeddings, and its index a connection to a database.
    """

    compared_frames: Vectors = field(kw_only=True, repr=False)  # (V, F, P), L2-normalised

    def frame_embeddings(self, row: int) -> Vectors:
        """Return the embeddings of a clip's frames, as if each were a clip: (F, P)."""
        frames: Vectors = self.compared_frames[row]
        return frames
