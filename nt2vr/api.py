"""Python API for notebooks, as exposed by `import nt2vr`: search, models and evaluation without the page or torch."""

import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from nt2vr.datasets.load import register_dataset as register_dataset
from nt2vr.errors import ConfigError, MediaError, Nt2vrError, QueryError, counted, quoted
from nt2vr.evaluation.differences import Difference as Difference
from nt2vr.evaluation.remarks import remarks_of
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.sources import Data as Data
from nt2vr.evaluation.stored_reports import load_report as read_report
from nt2vr.evaluation.tables import (
    DIFFERENCE_HEADS,
    aligned,
    difference_markdown,
    difference_rows,
    markdown,
    size_of,
    tables_of,
    write_tables,
)
from nt2vr.files import expanded
from nt2vr.media.clip_frames import still
from nt2vr.media.decode import Decoder, ahead
from nt2vr.media.gallery import Video
from nt2vr.models.capabilities import Capabilities as Capabilities
from nt2vr.models.card import CARD
from nt2vr.models.card import Card as Card
from nt2vr.models.catalog import Catalog
from nt2vr.models.device import as_tensor
from nt2vr.models.encoder import Encoder as Encoder
from nt2vr.models.options import AddOptions
from nt2vr.models.outside import WrappedEncoder
from nt2vr.negation.parse.query import Query as Query
from nt2vr.negation.parse.query import understand as understand_tagged
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.notebook import data_frame, joined, table
from nt2vr.progress import Progress, ShouldStop, silent, stoppable
from nt2vr.search.answers import Answer as Answer
from nt2vr.search.answers import Match as Match
from nt2vr.search.embedded_gallery import Excerpt
from nt2vr.search.references import Reference as Reference
from nt2vr.search.searcher import Asked
from nt2vr.search.strategies import DEFAULT_ALPHA, STRATEGIES, Vector, check_model_name
from nt2vr.search.strategies import Parts as Parts
from nt2vr.search.strategies import System as System
from nt2vr.search.why import Why, explain
from nt2vr.services import Services
from nt2vr.settings import Settings, prepare_environment
from nt2vr.training import Training as Training
from nt2vr.training import teach as teach
from nt2vr.training import train as train

Form = Literal["numpy", "torch"]
AHEAD = 16  # files that are decoded while one is encoded
Systems = str | System | Encoder | Sequence[str | System | Encoder]
Image = NDArray[np.uint8]
THUMBNAIL_SIDE = 128  # pixels: 3 to 6 KB each
THUMBNAILS = 500  # kept
_ENCODERS: dict[
    str, Encoder
] = {}  # by name: models from outside that `add_model` has added, in this process
_QUERY = "A query is a sentence, an nt2vr.Query or a vector"


class Model(WrappedEncoder):
    """A model; also an `Encoder`, so that it can be searched and evaluated with.

    Embeddings are unit vectors, so inner products are cosines. With `convert_to="torch"` they are
    tensors on the CPU.
    """

    def encode_text(self, texts: str | Sequence[str], convert_to: Form = "numpy") -> Any:
        """Embed texts: (N, D); one text: (D,)."""
        listed = [texts] if isinstance(texts, str) else texts
        found = self.encoder.encode_text(list(listed))
        return _converted(found[0] if isinstance(texts, str) else found, convert_to)

    def encode_frames(self, frames: NDArray[np.uint8], convert_to: Form = "numpy") -> Any:
        """Embed (N, S, S, 3) uint8 RGB frames, S being `image_size`: (N, D)."""
        takes_whole_clips = self.capabilities.sees_files and not self.capabilities.scores_frames
        if takes_whole_clips:
            raise ConfigError(f"{self.name} has no embeddings of single frames. Use encode_videos.")
        side = self.image_size
        found = getattr(frames, "dtype", None), getattr(frames, "shape", ())
        if found[0] != np.uint8 or len(found[1]) != 4 or tuple(found[1][1:]) != (side, side, 3):
            raise ConfigError(
                f"frames must be (N, {side}, {side}, 3) uint8, not {tuple(found[1])} {found[0]}."
            )
        clips = np.asarray(frames)[:, None]
        return _converted(self.encode_video(clips)[:, 0], convert_to)

    def encode_videos(
        self, files: str | Path | Sequence[str | Path], convert_to: Form = "numpy"
    ) -> Any:
        """Embed video or picture files, decoded in child processes: (N, D); one file: (D,). A MediaError names it."""
        one = isinstance(files, str | Path)
        listed: Any = [files] if one else files
        rows = [np.empty((0, self.embed_dim), np.float32)]
        with Decoder() as decoder:
            decoding = (
                decoder.frames(expanded(file), self.num_frames, self.framing) for file in listed
            )
            for decoded in ahead(decoding, AHEAD):
                stored = self.encode_video(decoded.result()[None])
                rows.append(self.pool(stored))
        embeddings = np.concatenate(rows)
        return _converted(embeddings[0] if one else embeddings, convert_to)


def _converted(array: NDArray[np.float32], form: Form) -> Any:
    if form not in ("numpy", "torch"):
        raise ConfigError(f"convert_to must be numpy or torch, not {quoted(form)}.")
    return as_tensor(array) if form == "torch" else array


def _refuse_text(name: str, words: Collection[str]) -> None:
    """Refuse one text where a list is asked for: its letters would be taken for words."""
    if isinstance(words, str):
        raise ConfigError(f"{name} must be a list, not {quoted(words)}.")


def _named_systems(systems: Any, models: Catalog) -> list[str]:
    """Return the names of systems; a model that is an object is added to the catalog under its own."""
    names, alone = [], isinstance(systems, str | System) or not isinstance(systems, Iterable)
    each: Any
    for each in [systems] if alone else systems:
        name = each.name if isinstance(each, System) else each
        if not isinstance(name, str):
            if not hasattr(each, "encode_text"):
                raise ConfigError(
                    f"A system is a name, an nt2vr.System or a model, not {quoted(each)}."
                )
            encoder = each.encoder if isinstance(each, Model) else each
            name = models.add(encoder, check_name=check_model_name).name
        names.append(name)
    return names


def _is_one(queries: object) -> bool:
    """Whether this is one query, and not several."""
    if isinstance(queries, str | Query | None):
        return True
    if hasattr(queries, "__array__"):
        return len(getattr(queries, "shape", ())) == 1
    return not isinstance(queries, Sequence)


def _one_query(query: Any) -> str | Query | Vector:
    """Return a query of one of the three forms."""
    if isinstance(query, str | Query):
        return query
    if not hasattr(query, "__array__"):
        raise QueryError(f"{_QUERY}, not {quoted(query)}.")
    try:
        vector = np.asarray(query, np.float32)
    except Exception as error:  # of any library's arrays
        raise QueryError(
            f"{_QUERY}; this one is on a GPU, or not of numbers. Pass it as a NumPy array."
        ) from error
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise QueryError(
            f"{_QUERY} of finite numbers (D,), not {vector.shape} with {quoted(vector)}."
        )
    return vector


def _each_query(queries: Any) -> list[str | Asked | Nt2vrError]:
    """Return several queries; one of another type is its own error."""
    if isinstance(queries, str | bytes) or not (
        isinstance(queries, Sequence) or hasattr(queries, "__array__")
    ):
        raise ConfigError(f"Pass a list of queries, not {quoted(queries)}.")
    found: list[str | Asked | Nt2vrError] = []
    for query in queries:
        try:
            found.append(_one_query(query))
        except Nt2vrError as error:
            found.append(error)
    return found


class GallerySearcher(AbstractContextManager["GallerySearcher"]):
    """Searches a gallery; a `with` block or `close` ends its decoder processes."""

    def __init__(self, settings: Settings, library: str = "") -> None:
        self._services = _services(settings)
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
            query: a sentence, one split by `understand`, or a vector (D,) to be searched as it is;
                a list of these, or vectors (Q, D).
            systems: one or more, by name ("CLIP", "CLIP boolean α 0.5"), or models of one's own,
                see `nt2vr.Encoder`. Default: CLIP-neg, or in a library a model that knows real
                videos; `rectified` if the query denies something.
            k: number of hits per system, at most 100; None ranks everything.
            image: reference picture of weight 0.5, a file or (H, W, 3) uint8 RGB; the query says
                what to change.
            alpha: weight of the unwanted part in `boolean` systems that fix none.
            literal: words to take as typed; other words that a model does not know are substituted
                (`read_as`).
            references: further pictures, or clips of the gallery, wanted or not.

        Returns:
            An answer; for several queries, a list with an answer, or the Nt2vrError of a bad one,
            for each.

        Raises:
            QueryError, ConfigError, MediaError: if a query, another argument or the picture cannot
                be used.
            NotIndexedError: if a model has not indexed the library; see `nt2vr library update`.
        """
        _refuse_text("literal", literal)
        if image is not None:
            references = [Reference((self._picture(image),)), *references]
        rest: Any = k, references, {"boolean": float(alpha)}, literal
        one = _is_one(query)
        listed = [_one_query(query)] if one else _each_query(query)
        if systems is None:
            found = [self._answered(each, rest) for each in listed]
        else:
            panel = self._searcher.panel(self._names(systems), *rest)
            found = self._searcher.each(
                listed, panel, lambda query: self._searcher.answer(query, panel)
            )
        shown = [
            each.with_thumbnails(self._thumbnail) if isinstance(each, Answer) else each
            for each in found
        ]
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

        NaN is the score of a clip that a model has not indexed, and of every clip for a query that
        leaves the system nothing to search for. A bad query is NaN as well, and a warning says what
        is the matter.
        """
        _refuse_text("literal", literal)
        panel = self._searcher.panel(
            self._names(systems), None, (), {"boolean": float(alpha)}, literal
        )
        listed = _each_query([queries] if _is_one(queries) else queries)
        scores, errors = self._searcher.score_all(listed, panel)
        bad = [(row, error) for row, error in enumerate(errors) if error is not None]
        if bad:
            row, error = bad[0]
            warnings.warn(
                f"No scores for {counted(len(bad), 'query', 'queries')}; row {row}: {error}",
                stacklevel=2,
            )
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
        _refuse_text("literal", literal)
        _refuse_text("lines", lines)
        is_clip = isinstance(shown, str) and shown in self.video_ids
        if isinstance(shown, str) and not is_clip and not expanded(shown).exists():
            problem = "is neither a clip of this gallery nor a file. Name a clip or a picture."
            raise ConfigError(f"{quoted(shown)} {problem}")
        reference = (
            Reference(video_id=str(shown)) if is_clip else Reference((self._picture(shown),))
        )
        return self._searcher.match(
            reference, lines, self._names(systems), {"boolean": float(alpha)}, literal
        )

    def _names(self, systems: Systems) -> list[str]:
        names = _named_systems(systems, self._services.models)
        self._searcher.live.refresh_outside()
        return names

    def _decoded(self, video_id: str) -> bytes | None:
        try:
            if self._is_open:
                return still(
                    self._services.decoder, self._searcher.video(video_id), 0, 1, THUMBNAIL_SIDE
                )
        except MediaError:
            pass
        return None

    def _picture(self, image: str | Path | Image) -> Image:
        if isinstance(image, str | Path):
            return self._services.decoder.picture(expanded(image))
        if not isinstance(image, np.ndarray):
            raise ConfigError(f"A picture must be a file or an array, not {quoted(image)}.")
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
            raise ConfigError(
                f"A picture must be (H, W, 3) uint8, not {image.shape} {image.dtype}. Convert it."
            )
        return image

    def explain(self, answer: Answer, video_id: str) -> tuple[Why, ...]:
        """Explain a clip's scores in an answer, per system: by its frames, the query's parts, and its words."""
        return explain(self._with_galleries(answer), video_id, self._searcher.live.encoder)

    def _with_galleries(self, answer: Answer) -> Answer:
        """Give an unpickled answer of this gallery the embeddings of all clips again."""
        if answer.gallery != self._searcher.key:
            return answer
        rankings = []
        for ranking in answer.rankings:
            if isinstance(ranking.gallery, Excerpt):
                model = self._searcher.live.get(ranking.system.model, self._searcher)
                ranking = replace(ranking, gallery=model.view(self._searcher))
            rankings.append(ranking)
        return replace(answer, rankings=tuple(rankings))

    def video(self, video_id: str) -> Video:
        """Return a video of the gallery: its file and captions."""
        return self._searcher.video(video_id)

    def close(self) -> None:
        """End the decoder processes and close the cache."""
        self._is_open = False
        self._services.close()

    def __exit__(self, *error: object) -> None:
        self.close()


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Two systems of an evaluation compared query by query; notebooks display it as a table.

    Attributes:
        first, second: names of the systems.
        differences: one per measure, with `measure`, `num_queries`, the means `first` and `second`,
            their `difference` (second minus first), its 95 % `interval` (`low`, `high`; None where
            all queries differ by as much), `p` of a sign-flip test, and `is_noise`.
    """

    first: str
    second: str
    differences: tuple[Difference, ...]
    report: Report

    def __getitem__(self, measure: str) -> Difference:
        """Return the difference by one measure, such as "composed/hard_pairs"."""
        for difference in self.differences:
            if difference.measure == measure:
                return difference
        known = ", ".join(difference.measure for difference in self.differences) or "none"
        raise ConfigError(
            f"{self.first} and {self.second} have no {quoted(measure)}. Choose one of: {known}."
        )

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with a row per measure; low and high are the ends of the interval, or NaN."""
        rows = []
        for result in self.differences:
            low, high = result.interval or (None, None)
            figures = (
                result.measure,
                result.num_queries,
                result.first,
                result.second,
                result.difference,
            )
            rows.append((*figures, low, high, result.p, result.is_noise))
        columns = (
            "measure",
            "queries",
            "first",
            "second",
            "difference",
            "low",
            "high",
            "p",
            "within_noise",
        )
        return data_frame(rows, columns)

    def __str__(self) -> str:
        return aligned(difference_markdown(self.report, self.first, self.second))

    def __repr__(self) -> str:
        return f"<Comparison of {self.first} and {self.second}, {counted(len(self.differences), 'measure')}>"

    def _repr_html_(self) -> str:
        rows = [row for _, *row in difference_rows(self.report, self.differences)]
        return str(table(("", self.first, self.second, *DIFFERENCE_HEADS), rows))


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """A finished evaluation; `print` and notebooks show its tables."""

    report: Report

    @property
    def metrics(self) -> dict[str, dict[str, float]]:
        """Measures by system and name: `metrics["CLIP"]["original/R@1"]`."""
        return self.report.metrics

    @property
    def remarks(self) -> list[str]:
        """What is to be known of the data: videos left out, the split that was taken, kinds without queries."""
        return remarks_of(self.report)

    @property
    def table(self) -> str:
        """The paper's table, the further measures and the differences of systems, as Markdown."""
        return markdown(self.report)

    def compare(self, first: str | System = "", second: str | System = "") -> Comparison:
        """Compare two systems by every measure, query by query, with intervals and tests.

        Args:
            first: name of a system of this evaluation, in any letter case; default, with `second`:
                the two that were named, or the best one and its base.
            second: likewise.

        Raises:
            ConfigError: if a system is unknown, or the measures are not means over queries
                (pictures plus texts).
        """
        pair = (
            tuple(self._system(each) for each in (first, second) if each)
            or self.report.telling_pair
        )
        if len(pair) != 2:
            raise ConfigError("Name two systems to compare, or none.")
        return Comparison(*pair, self.report.compare(*pair), self.report)

    def _system(self, system: str | System) -> str:
        name = system.name if isinstance(system, System) else str(system)
        matches = [known for known in self.metrics if known.casefold() == name.casefold()]
        return matches[0] if matches else name

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with one row per system and measure: system, measure, value, low, high.

        The last two are the ends of the 95 % interval; NaN where all queries agree.
        """
        rows = []
        for system, metrics in self.metrics.items():
            intervals = self.report.intervals[system]
            for measure, value in metrics.items():
                low, high = intervals.get(measure, (None, None))
                rows.append((system, measure, value, low, high))
        return data_frame(rows, ("system", "measure", "value", "low", "high"))

    def save(self, folder: str | Path) -> None:
        """Write the report folder, with the tables as Markdown, CSV and LaTeX."""
        self.report.save(expanded(folder))
        write_tables(self.report, expanded(folder))

    def __str__(self) -> str:
        return "\n".join([aligned(self.table), *self.remarks])

    def __repr__(self) -> str:
        systems = counted(len(self.metrics), "system")
        return (
            f"<Evaluation of {systems} on {self.report.name}: {size_of(self.report).rstrip('.')}>"
        )

    def _repr_html_(self) -> str:
        parts = [
            table((), (), heading) for heading in self.report.presentation.headings(self.report)
        ]
        for shown in tables_of(self.report):
            heads, *rows = shown.texts(self.report)
            parts.append(table(heads, rows))
        for first, second in self.report.differences:
            parts.append(Markup(self.compare(first, second)._repr_html_()))
        parts += [table((), (), remark) for remark in self.remarks]
        return str(joined(parts))


def understand(text: str, editing: bool = False) -> Query:
    """Split a sentence into its wanted and unwanted parts.

    With `editing`, edits are understood as well, as next to a reference picture: "replace the dog
    by a cat".
    """
    return understand_tagged(text, load_tagger(), editing)


def register_strategy(name: str, function: Callable[[Parts], Vector | None]) -> None:
    """Add a strategy for this process: "CLIP mine" then searches with it, as `evaluate` does.

    Args:
        name: lower-case; a built-in strategy's name is refused, an own one's is replaced.
        function: turns a query's `Parts` (unit vectors) into one vector, or None if there is
            nothing to search for.
    """
    STRATEGIES.register(name, function)


def register_loss(name: str, loss: type) -> None:
    """Add a loss for this process: configs then take "losses": {"NAME": {"weight": 1.0}}, as `train` does.

    Args:
        name: lower-case; a built-in loss's name is refused, an own one's is replaced.
        loss: a dataclass whose fields, its hyperparameters, have defaults; `inputs` names classes
            of `trainer.inputs`, or `Input`s of one's own, and `__call__` turns an `EmbeddedBatch`
            with these into a scalar.
    """
    from trainer.losses import LOSSES  # noqa: PLC0415  imports torch

    LOSSES.register(name, loss)


def add_model(
    source: str | Path | Encoder,
    name: str = "",
    data_dir: str | Path | None = None,
    progress: Progress = silent,
    **options: Any,
) -> str:
    """Add a model, and return its name.

    Args:
        source: a checkpoint file, the folder of a model, an .npz file of embeddings, a model of
            open_clip's ("ViT-B-32/openai"), or a repository on the Hugging Face Hub
            ("hf:OWNER/NAME", "st:OWNER/NAME"); it joins the models of the data folder. An
            `Encoder`, or an object with its methods, is known in this process alone, by its own
            name.
        name: of the model; default: the source's.
        data_dir: as for `load_model`.
        progress: called with bytes done, their total, and a description; 0 of 0 where there are
            none to count.
        options: the flags of `nt2vr models add`: model, key, frames, activation, pooling,
            positions, fps, size, instruction, dimensions.

    Raises:
        Nt2vrError: if the source cannot be used, an option does not belong to it, or the name is
            taken.
    """
    models = _services(_settings(data_dir, None)).models
    if not isinstance(source, str | Path):
        if name or options:
            raise ConfigError(
                "A model that is an object has a name and settings of its own. Pass it alone."
            )
        encoder = source.encoder if isinstance(source, Model) else source
        added = models.add(encoder, check_name=check_model_name)
        _ENCODERS[added.name] = encoder
        return added.name

    if unknown := options.keys() - AddOptions.__dataclass_fields__.keys():
        raise ConfigError(
            f"add_model takes no {', '.join(sorted(unknown))}. See nt2vr models add --help."
        )
    added = models.add(source, AddOptions(name, **options), progress, check_name=check_model_name)
    if added.is_guess:
        warnings.warn(added.remark, stacklevel=2)
    return added.name


def load_model(
    name_or_folder: str | Path, data_dir: str | Path | None = None, device: str | None = None
) -> Model:
    """Load a model.

    Args:
        name_or_folder: its name in the app, in any letter case ("CLIP-neg"), or its folder.
        data_dir: the app's data folder; default NT2VR_DATA, or ~/.cache/nt2vr.
        device: "auto", "cpu", "cuda" or "mps"; default NT2VR_DEVICE, or "auto", the fastest one.
    """
    settings = _settings(data_dir, device)
    folder, models = expanded(name_or_folder), _services(settings).models
    return Model(
        models.read(folder) if (folder / CARD).is_file() else models.load(str(name_or_folder))
    )


def open_searcher(
    data_dir: str | Path | None = None,
    device: str | None = None,
    library: str = "",
    index: str = "",
) -> GallerySearcher:
    """Open a library by name or id, or the built-in gallery; `data_dir` and `device` as for `load_model`.

    Args:
        index: "exact", "faiss", or Milvus for libraries: an address as for `--index`; default: that
            of NT2VR_INDEX, or exact, and approximate from 200,000 clips.
    """
    return GallerySearcher(_settings(data_dir, device, index), library)


def evaluate(
    data: str | Path | Data,
    systems: Systems,
    data_dir: str | Path | None = None,
    device: str | None = None,
    progress: Progress = silent,
    should_stop: ShouldStop = lambda: False,
) -> Evaluation:
    """Evaluate systems, and the zero-shot base and `drop` as controls, on a benchmark; results are cached.

    Args:
        data: "world", "gallery", "library:NAME", the path of a dataset or benchmark file, or,
            without any video, "words:PATH" of captions, or "classes:PATH" with a folder per class;
            `Data` also sets split, seed, queries and prompts.
        systems: as for `GallerySearcher.search`; `data_dir` and `device` as for `load_model`.
        progress: called with the number of steps done, their total, and a description.
        should_stop: polled between steps.

    Raises:
        Nt2vrError: if the data, a system or the cache cannot be used.
        InterruptedError: if `should_stop` returned True.
    """
    with closing(_services(_settings(data_dir, device))) as services:
        listed = _named_systems(systems, services.models)
        names = services.models.names()
        named = [System.named(name, names) for name in listed]
        data = data if isinstance(data, Data) else Data(str(data))
        return Evaluation(
            services.evaluations.evaluate(data, named, stoppable(progress, should_stop))
        )


def load_report(folder: str | Path) -> Evaluation:
    """Read a report folder, as `Evaluation.save`, `nt2vr evaluate --out` and the page write it.

    Raises:
        ConfigError: if the folder has no report, a damaged one, or one of a newer version.
    """
    return Evaluation(read_report(expanded(folder)))


def _services(settings: Settings) -> Services:
    """Return services whose catalog has the models from outside that `add_model` has added, too."""
    services = Services(settings)
    for encoder in _ENCODERS.values():
        services.models.add(encoder)
    return services


def _settings(data_dir: str | Path | None, device: str | None, index: str = "") -> Settings:
    prepare_environment()
    return Settings.read(data_dir, device, index=index)
