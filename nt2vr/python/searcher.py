"""The searcher of `open_searcher`: one query or many, with systems by name or as objects."""

import warnings
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, MediaError, Nt2vrError, QueryError, counted, quoted
from nt2vr.files import expanded
from nt2vr.media.gallery import Video
from nt2vr.media.video_files import still
from nt2vr.models.catalog import Catalog
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.query import Query
from nt2vr.python.model import Model
from nt2vr.search.answers import Answer
from nt2vr.search.match import Match, match
from nt2vr.search.references import Reference
from nt2vr.search.searcher import Asked
from nt2vr.search.strategies import DEFAULT_ALPHA, Vector
from nt2vr.search.systems import System, check_model_name
from nt2vr.search.why import Why, explain
from nt2vr.services import Services
from nt2vr.settings import Settings

Systems = str | System | Encoder | Sequence[str | System | Encoder]
Image = NDArray[np.uint8]
THUMBNAIL_SIDE = 128  # pixels: 3 to 6 KB each
THUMBNAILS = 500  # kept
_QUERY = "A query is a sentence, an nt2vr.Query or a vector"


def refuse_text(name: str, words: Collection[str]) -> None:
    """Refuse one text where a list is asked for: its letters would be taken for words."""
    if isinstance(words, str):
        raise ConfigError(f"{name} must be a list, not {quoted(words)}.")


def named_systems(systems: Any, models: Catalog) -> list[str]:
    """Return the names of systems; a model that is an object is added to the catalog under its own."""
    names, alone = [], isinstance(systems, str | System) or not isinstance(systems, Iterable)
    each: Any
    for each in [systems] if alone else systems:
        name = each.name if isinstance(each, System) else each
        if not isinstance(name, str):
            if not hasattr(each, "encode_text"):
                raise ConfigError(f"A system is a name, an nt2vr.System or a model, not {quoted(each)}.")
            check_model_name(name := models.add(each.encoder if isinstance(each, Model) else each))
        names.append(name)
    return names


def is_one(queries: object) -> bool:
    """Whether this is one query, and not several."""
    if isinstance(queries, str | Query | None):
        return True
    if hasattr(queries, "__array__"):
        return len(getattr(queries, "shape", ())) == 1
    return not isinstance(queries, Sequence)


def one_query(query: Any) -> str | Query | Vector:
    """Return a query of one of the three forms."""
    if isinstance(query, str | Query):
        return query
    if not hasattr(query, "__array__"):
        raise QueryError(f"{_QUERY}, not {quoted(query)}.")
    try:
        vector = np.asarray(query, np.float32)
    except Exception as error:  # of any library's arrays
        raise QueryError(f"{_QUERY}; this one is on a GPU, or not of numbers. Pass it as a NumPy array.") from error
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise QueryError(f"{_QUERY} of finite numbers (D,), not {vector.shape} with {quoted(vector)}.")
    return vector


def each_query(queries: Any) -> list[str | Asked | Nt2vrError]:
    """Return several queries; one of another type is its own error."""
    if isinstance(queries, str | bytes) or not (isinstance(queries, Sequence) or hasattr(queries, "__array__")):
        raise ConfigError(f"Pass a list of queries, not {quoted(queries)}.")
    found: list[str | Asked | Nt2vrError] = []
    for query in queries:
        try:
            found.append(one_query(query))
        except Nt2vrError as error:
            found.append(error)
    return found


class GallerySearcher(AbstractContextManager["GallerySearcher"]):
    """Searches a gallery; a `with` block or `close` ends its decoder processes."""

    def __init__(self, settings: Settings, library: str = "") -> None:
        self._services = Services(settings)
        self._is_open = True
        self._thumbnail = lru_cache(THUMBNAILS)(self._decoded)
        try:
            self._searcher = self._services.galleries.searcher(library)
        except Nt2vrError:
            self.close()
            raise

    @property
    def system_names(self) -> list[str]:
        """Names of all systems: each model with each strategy."""
        return self._searcher.system_names()

    @property
    def video_ids(self) -> list[str]:
        """Ids of the gallery's clips, in the order of the columns of `scores`."""
        return [video.video_id for video in self._searcher.gallery.videos]

    def search(
        self,
        query: Any,
        systems: Systems | None = None,
        k: int | None = 8,
        image: str | Path | Image | None = None,
        alpha: float = DEFAULT_ALPHA,
        literal: Collection[str] = (),
        references: Sequence[Reference] = (),
    ) -> Any:
        """Rank the gallery's videos with each system; adjacent windows of a long video are one hit with `moments`.

        Args:
            query: a sentence, one split by `understand`, or a vector (D,) to be searched as it is; a list of these, or
                vectors (Q, D).
            systems: one or more, by name ("CLIP", "CLIP boolean α 0.5"), or models of one's own, see `nt2vr.Encoder`.
                Default: CLIP-neg, or in a library a model that knows real videos; `rectified` if the query denies
                something.
            k: number of hits per system, at most 100; None ranks everything.
            image: reference picture of weight 0.5, a file or (H, W, 3) uint8 RGB; the query says what to change.
            alpha: weight of the unwanted part in `boolean` systems that fix none.
            literal: words to take as typed; other words that a model does not know are substituted (`read_as`).
            references: further pictures, or clips of the gallery, wanted or not.

        Returns:
            An answer; for several queries, a list with an answer, or the Nt2vrError of a bad one, for each.

        Raises:
            QueryError, ConfigError, MediaError: if a query, another argument or the picture cannot be used.
            NotIndexedError: if a model has not indexed the library; see `nt2vr library update`.
        """
        refuse_text("literal", literal)
        if image is not None:
            references = [Reference((self._picture(image),)), *references]
        rest: Any = k, references, {"boolean": float(alpha)}, literal
        one = is_one(query)
        listed = [one_query(query)] if one else each_query(query)
        if systems is None:
            found = [self._answered(each, rest) for each in listed]
        else:
            found = self._searcher.search_all(listed, self._searcher.panel(self._names(systems), *rest))
        shown = [each.with_thumbnails(self._thumbnail) if isinstance(each, Answer) else each for each in found]
        if one and isinstance(shown[0], Nt2vrError):
            raise shown[0]
        return shown[0] if one else shown

    def _answered(self, query: str | Asked | Nt2vrError, rest: Any) -> Answer | Nt2vrError:
        """Answer with the system that suits the query."""
        try:
            if isinstance(query, Nt2vrError):
                return query
            asked = self._searcher.checked(query, rest[1])
            parsed = asked if isinstance(asked, Query) else Query("")  # a vector denies nothing
            names = self._services.galleries.answering(self._searcher.key, parsed)
            return self._searcher.answer(asked, self._searcher.panel(names, *rest))
        except Nt2vrError as error:
            return error

    def scores(
        self,
        queries: str | Query | Sequence[str | Query | NDArray[Any]] | NDArray[Any],
        systems: Systems,
        alpha: float = DEFAULT_ALPHA,
        literal: Collection[str] = (),
    ) -> dict[str, NDArray[np.float32]]:
        """Return each system's scores (Q, N): a row per query, a column per clip of `video_ids`.

        NaN is the score of a clip that a model has not indexed, and of every clip for a query that leaves the system
        nothing to search for. A bad query is NaN as well, and a warning says what is the matter.
        """
        refuse_text("literal", literal)
        panel = self._searcher.panel(self._names(systems), None, (), {"boolean": float(alpha)}, literal)
        listed = each_query([queries] if is_one(queries) else queries)
        scores, errors = self._searcher.score_all(listed, panel)
        bad = [(row, error) for row, error in enumerate(errors) if error is not None]
        if bad:
            row, error = bad[0]
            warnings.warn(f"No scores for {counted(len(bad), 'query', 'queries')}; row {row}: {error}", stacklevel=2)
        return scores

    def match(
        self,
        shown: str | Path | Image,
        lines: Sequence[str],
        systems: Systems,
        alpha: float = DEFAULT_ALPHA,
        literal: Collection[str] = (),
    ) -> Match:
        """Score 2 to 8 captions for one clip of the gallery, or for a picture of one's own; errors as of `search`.

        Args:
            shown: the clip's `video_id`, or a picture: a file or (H, W, 3) uint8 RGB.
            systems: as for `search`; `alpha` and `literal` likewise.
        """
        refuse_text("literal", literal)
        refuse_text("lines", lines)
        is_clip = isinstance(shown, str) and shown in self.video_ids
        if isinstance(shown, str) and not is_clip and not expanded(shown).exists():
            raise ConfigError(
                f"{quoted(shown)} is neither a clip of this gallery nor a file. Name a clip or a picture."
            )
        reference = Reference(video_id=str(shown)) if is_clip else Reference((self._picture(shown),))
        return match(self._searcher, reference, lines, self._names(systems), {"boolean": float(alpha)}, literal)

    def _names(self, systems: Systems) -> list[str]:
        names = named_systems(systems, self._services.models)
        self._searcher.live.refresh_outside()
        return names

    def _decoded(self, video_id: str) -> bytes | None:
        try:
            if self._is_open:
                return still(self._services.decoder, self._searcher.video(video_id), 0, 1, THUMBNAIL_SIDE)
        except MediaError:
            pass
        return None

    def _picture(self, image: str | Path | Image) -> Image:
        if isinstance(image, str | Path):
            return self._services.decoder.picture(expanded(image))
        if not isinstance(image, np.ndarray):
            raise ConfigError(f"A picture must be a file or an array, not {quoted(image)}.")
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
            raise ConfigError(f"A picture must be (H, W, 3) uint8, not {image.shape} {image.dtype}. Convert it.")
        return image

    def explain(self, answer: Answer, video_id: str) -> tuple[Why, ...]:
        """Explain a clip's scores in an answer, per system: by its frames, the query's parts, and its words."""
        return explain(answer, video_id, self._searcher.live.encoder)

    def video(self, video_id: str) -> Video:
        """Return a video of the gallery: its file and captions."""
        return self._searcher.video(video_id)

    def close(self) -> None:
        """End the decoder processes and close the cache."""
        self._is_open = False
        self._services.close()

    def __exit__(self, *error: object) -> None:
        self.close()
