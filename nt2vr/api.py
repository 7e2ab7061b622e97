"""Python API for notebooks, as exposed by `import nt2vr`, without the page or torch."""

import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
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
from nt2vr.files import AnyPath, expanded
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
from nt2vr.negation.parse.query import understand as understand
from nt2vr.notebook import data_frame, joined, table
from nt2vr.progress import Progress, ShouldStop, silent, stoppable
from nt2vr.search.answers import Answer as Answer
from nt2vr.search.answers import Match as Match
from nt2vr.search.embedded_gallery import Excerpt
from nt2vr.search.plan import SearchPlan
from nt2vr.search.references import Reference as Reference
from nt2vr.search.searcher import QueryOrError
from nt2vr.search.strategies import (
    DEFAULT_ALPHA,
    STRATEGIES,
    EmbeddedParts,
    Vector,
    check_model_name,
)
from nt2vr.search.strategies import System as System
from nt2vr.search.why import Why, explain
from nt2vr.services import Services
from nt2vr.settings import Settings, prepare_environment
from nt2vr.training import Training as Training
from nt2vr.training import teach as teach
from nt2vr.training import train as train

# The public name, by which strategies of one's own know the parts of a query.
Parts = EmbeddedParts
Form = Literal["numpy", "torch"]
# Files that are decoded while one is encoded.
AHEAD = 16
Systems = str | System | Encoder | Sequence[str | System | Encoder]
Image = NDArray[np.uint8]

# Pixels: 3 to 6 KB each.
THUMBNAIL_SIDE = 128
MAX_THUMBNAILS = 500
# Models from outside that `add_model` has added in this process, by name.
_ENCODERS: dict[str, Encoder] = {}
_QUERY = "A query is a sentence, an nt2vr.Query or a vector"


class Model(WrappedEncoder):
    """A model; also an `Encoder`, so that it can be searched and evaluated with.

    Embeddings are unit vectors, so inner products are cosines. With `convert_to="torch"` they are
    tensors on the CPU.
    """

    def encode_text(self, texts: str | Sequence[str], convert_to: Form = "numpy") -> Any:
        """Embed texts: (N, D); one text: (D,)."""
        if isinstance(texts, str):
            return self.encode_text([texts], convert_to)[0]
        return _converted(self.encoder.encode_text(list(texts)), convert_to)

    def encode_frames(self, frames: NDArray[np.uint8], convert_to: Form = "numpy") -> Any:
        """Embed (N, S, S, 3) uint8 RGB frames, S being `image_size`: (N, D)."""
        if self.capabilities.takes_whole_clips:
            raise ConfigError(f"{self.name} has no embeddings of single frames. Use encode_videos.")
        side = self.image_size
        dtype = getattr(frames, "dtype", None)
        shape = tuple(getattr(frames, "shape", ()))
        if dtype != np.uint8 or len(shape) != 4 or shape[1:] != (side, side, 3):
            raise ConfigError(f"frames must be (N, {side}, {side}, 3) uint8, not {shape} {dtype}.")
        clips = np.asarray(frames)[:, None]
        return _converted(self.encode_video(clips)[:, 0], convert_to)

    def encode_videos(self, files: AnyPath | Sequence[AnyPath], convert_to: Form = "numpy") -> Any:
        """Embed video or picture files, decoded in child processes: (N, D); one file: (D,).

        A MediaError names a file that cannot be read.
        """
        if isinstance(files, AnyPath):
            return self.encode_videos([files], convert_to)[0]
        embeddings = [np.empty((0, self.embed_dim), np.float32)]
        with Decoder() as decoder:
            decoding = (
                decoder.frames(expanded(file), self.num_frames, self.framing) for file in files
            )
            for decoded in ahead(decoding, AHEAD):
                stored = self.encode_video(decoded.result()[None])
                embeddings.append(self.pool(stored))
        return _converted(np.concatenate(embeddings), convert_to)


def _converted(array: NDArray[np.float32], form: Form) -> Any:
    if form not in ("numpy", "torch"):
        raise ConfigError(f"convert_to must be numpy or torch, not {quoted(form)}.")
    if form == "torch":
        return as_tensor(array)
    return array


def _refuse_text(name: str, words: Collection[str]) -> None:
    """Refuse one text where a list is asked for: its letters would be taken for words."""
    if isinstance(words, str):
        raise ConfigError(f"{name} must be a list, not {quoted(words)}.")


def _named_systems(systems: Any, models: Catalog) -> list[str]:
    """Return the names of systems; models that are objects are added to the catalog."""
    if isinstance(systems, str | System) or not isinstance(systems, Iterable):
        systems = [systems]
    return [_name_of(system, models) for system in systems]


def _name_of(system: Any, models: Catalog) -> str:
    if isinstance(system, str):
        return system
    if isinstance(system, System):
        return system.name
    if not hasattr(system, "encode_text"):
        raise ConfigError(f"A system is a name, an nt2vr.System or a model, not {quoted(system)}.")
    encoder = system.encoder if isinstance(system, Model) else system
    return models.add(encoder, check_name=check_model_name).name


def _is_one(queries: object) -> bool:
    """Whether this is one query, and not several."""
    if isinstance(queries, str | Query | None):
        return True
    if hasattr(queries, "__array__"):
        return len(getattr(queries, "shape", ())) == 1
    return not isinstance(queries, Sequence)


def _checked_query(query: Any) -> str | Query | Vector:
    """Return a sentence or a query as it is, and anything else as a vector."""
    if isinstance(query, str | Query):
        return query
    if not hasattr(query, "__array__"):
        raise QueryError(f"{_QUERY}, not {quoted(query)}.")
    try:
        vector = np.asarray(query, np.float32)
    except Exception as error:
        # Arrays of any library may raise anything.
        raise QueryError(
            f"{_QUERY}; this one is on a GPU, or not of numbers. Pass it as a NumPy array."
        ) from error
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise QueryError(
            f"{_QUERY} of finite numbers (D,), not {vector.shape} with {quoted(vector)}."
        )
    return vector


def _checked_queries(queries: Any) -> list[QueryOrError]:
    """Return several queries, with the error of each that is of another type in its place."""
    is_list = isinstance(queries, Sequence) or hasattr(queries, "__array__")
    if not is_list or isinstance(queries, str | bytes):
        raise ConfigError(f"Pass a list of queries, not {quoted(queries)}.")
    checked: list[QueryOrError] = []
    for query in queries:
        try:
            checked.append(_checked_query(query))
        except Nt2vrError as error:
            checked.append(error)
    return checked


class GallerySearcher(AbstractContextManager["GallerySearcher"]):
    """Searches a gallery; a `with` block or `close` ends its decoder processes."""

    def __init__(self, settings: Settings, library: str = "") -> None:
        self._services = _services(settings)
        self._is_open = True
        self._thumbnail = lru_cache(MAX_THUMBNAILS)(self._decode_thumbnail)
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
        image: AnyPath | Image | None = None,
        alpha: float = DEFAULT_ALPHA,
        literal: Collection[str] = (),
        references: Sequence[Reference] = (),
    ) -> Any:
        """Rank the gallery's videos with each system.

        Adjacent windows of a long video are one hit with `moments`.

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
        plan_of = partial(
            self._searcher.plan,
            k=k,
            references=references,
            strengths={"boolean": float(alpha)},
            literal=literal,
        )
        is_one = _is_one(query)
        queries = [_checked_query(query)] if is_one else _checked_queries(query)
        if systems is None:
            answers = [self._answer_by_default(query, references, plan_of) for query in queries]
        else:
            plan = plan_of(self._names(systems))
            answers = self._searcher.map_queries(
                queries, plan, partial(self._searcher.answer, plan=plan)
            )
        answers = [self._with_thumbnails(answer) for answer in answers]
        if not is_one:
            return answers

        [answer] = answers
        if isinstance(answer, Nt2vrError):
            raise answer
        return answer

    def _answer_by_default(
        self,
        query: QueryOrError,
        references: Sequence[Reference],
        plan_of: Callable[[Sequence[str]], SearchPlan],
    ) -> Answer | Nt2vrError:
        """Answer with the system that suits the query."""
        if isinstance(query, Nt2vrError):
            return query
        try:
            checked = self._searcher.checked(query, references)
            # A vector denies nothing.
            parsed = checked if isinstance(checked, Query) else Query("")
            names = self._services.galleries.answering(self._searcher.key, parsed)
            return self._searcher.answer(checked, plan_of(names))
        except Nt2vrError as error:
            return error

    def _with_thumbnails(self, answer: Answer | Nt2vrError) -> Answer | Nt2vrError:
        if isinstance(answer, Nt2vrError):
            return answer
        return answer.with_thumbnails(self._thumbnail)

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
        plan = self._searcher.plan(
            self._names(systems), k=None, strengths={"boolean": float(alpha)}, literal=literal
        )
        checked = _checked_queries([queries] if _is_one(queries) else queries)
        scores, errors = self._searcher.score_all(checked, plan)
        error_of_row = {row: error for row, error in enumerate(errors) if error is not None}
        if error_of_row:
            row, error = next(iter(error_of_row.items()))
            bad = counted(len(error_of_row), "query", "queries")
            warnings.warn(f"No scores for {bad}; row {row}: {error}", stacklevel=2)
        return scores

    def match(
        self,
        shown: AnyPath | Image,
        lines: Sequence[str],
        systems: Systems,
        alpha: float = DEFAULT_ALPHA,
        literal: Collection[str] = (),
    ) -> Match:
        """Score 2 to 8 captions for one clip of the gallery, or for a picture of one's own.

        Errors are those of `search`.

        Args:
            shown: the clip's `video_id`, or a picture: a file or (H, W, 3) uint8 RGB.
            systems: as for `search`; `alpha` and `literal` likewise.
        """
        _refuse_text("literal", literal)
        _refuse_text("lines", lines)
        if isinstance(shown, str) and shown in self.video_ids:
            reference = Reference(video_id=shown)
        elif isinstance(shown, str) and not expanded(shown).exists():
            raise ConfigError(
                f"{quoted(shown)} is neither a clip of this gallery nor a file. Name a clip or a picture."
            )
        else:
            reference = Reference((self._picture(shown),))
        return self._searcher.match(
            reference, lines, self._names(systems), {"boolean": float(alpha)}, literal
        )

    def _names(self, systems: Systems) -> list[str]:
        names = _named_systems(systems, self._services.models)
        self._searcher.live.refresh_outside()
        return names

    def _decode_thumbnail(self, video_id: str) -> bytes | None:
        if not self._is_open:
            return None
        video = self._searcher.video(video_id)
        try:
            return still(self._services.decoder, video, number=0, count=1, side=THUMBNAIL_SIDE)
        except MediaError:
            return None

    def _picture(self, image: AnyPath | Image) -> Image:
        if isinstance(image, AnyPath):
            return self._services.decoder.picture(expanded(image))
        if not isinstance(image, np.ndarray):
            raise ConfigError(f"A picture must be a file or an array, not {quoted(image)}.")
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
            raise ConfigError(
                f"A picture must be (H, W, 3) uint8, not {image.shape} {image.dtype}. Convert it."
            )
        return image

    def explain(self, answer: Answer, video_id: str) -> tuple[Why, ...]:
        """Explain a clip's scores in an answer, per system: by frames, parts and words."""
        return explain(self._with_galleries(answer), video_id, self._searcher.live.encoder)

    def _with_galleries(self, answer: Answer) -> Answer:
        """Give an unpickled answer of this gallery the embeddings of all clips again."""
        if answer.gallery != self._searcher.key:
            return answer
        rankings = []
        for ranking in answer.rankings:
            if isinstance(ranking.gallery, Excerpt):
                model = self._searcher.live.get(ranking.system.model, self._searcher)
                ranking = replace(ranking, gallery=model.gallery_of(self._searcher))
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
        measures = ", ".join(difference.measure for difference in self.differences) or "none"
        raise ConfigError(
            f"{self.first} and {self.second} have no {quoted(measure)}. Choose one of: {measures}."
        )

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with a row per measure.

        Its low and high are the ends of the interval, or NaN.
        """
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
        rows = []
        for difference in self.differences:
            low, high = difference.interval or (None, None)
            row = (
                difference.measure,
                difference.num_queries,
                difference.first,
                difference.second,
                difference.difference,
                low,
                high,
                difference.p,
                difference.is_noise,
            )
            rows.append(row)
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
        """Sentences on the data: videos left out, the split that was taken, kinds without queries."""
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
        if bool(first) != bool(second):
            raise ConfigError("Name two systems to compare, or none.")
        if first:
            names = self._system(first), self._system(second)
        else:
            names = self.report.telling_pair
        return Comparison(*names, self.report.compare(*names), self.report)

    def _system(self, system: str | System) -> str:
        """Return the report's name of a system, whatever its letter case; an unknown one as it is."""
        name = system.name if isinstance(system, System) else str(system)
        for name_in_report in self.metrics:
            if name_in_report.casefold() == name.casefold():
                return name_in_report
        return name

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with one row per system and measure.

        Its columns are system, measure, value, low and high. The last two are the ends of the 95 %
        interval; NaN where all queries agree.
        """
        rows = []
        for system, metrics in self.metrics.items():
            intervals = self.report.intervals[system]
            for measure, value in metrics.items():
                low, high = intervals.get(measure, (None, None))
                rows.append((system, measure, value, low, high))
        return data_frame(rows, ("system", "measure", "value", "low", "high"))

    def save(self, folder: AnyPath) -> None:
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
        headings = self.report.presentation.headings(self.report)
        parts = [table((), (), heading) for heading in headings]
        for report_table in tables_of(self.report):
            heads, *rows = report_table.texts(self.report)
            parts.append(table(heads, rows))
        for first, second in self.report.differences:
            parts.append(Markup(self.compare(first, second)._repr_html_()))
        parts += [table((), (), remark) for remark in self.remarks]
        return str(joined(parts))


def register_strategy(name: str, function: Callable[[Parts], Vector | None]) -> None:
    """Add a strategy for this process: "CLIP mine" then searches with it, as `evaluate` does.

    Args:
        name: lower-case; a built-in strategy's name is refused, an own one's is replaced.
        function: turns a query's `Parts` (unit vectors) into one vector, or None if there is
            nothing to search for.
    """
    STRATEGIES.register(name, function)


def register_loss(name: str, loss: type) -> None:
    """Add a loss for this process: configs, and `train`, then take its name under "losses".

    Args:
        name: lower-case; a built-in loss's name is refused, an own one's is replaced.
        loss: a dataclass whose fields, its hyperparameters, have defaults; `inputs` names classes
            of `trainer.inputs`, or `Input`s of one's own, and `__call__` turns an `EmbeddedBatch`
            with these into a scalar.
    """
    from trainer.losses import LOSSES  # noqa: PLC0415  imports torch

    LOSSES.register(name, loss)


def add_model(
    source: AnyPath | Encoder,
    name: str = "",
    data_dir: AnyPath | None = None,
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
    if not isinstance(source, AnyPath):
        if name or options:
            raise ConfigError(
                "A model that is an object has a name and settings of its own. Pass it alone."
            )
        encoder = source.encoder if isinstance(source, Model) else source
        added = models.add(encoder, check_name=check_model_name)
        _ENCODERS[added.name] = encoder
        return added.name

    unknown = options.keys() - AddOptions.__dataclass_fields__.keys()
    if unknown:
        raise ConfigError(
            f"add_model takes no {', '.join(sorted(unknown))}. See nt2vr models add --help."
        )
    added = models.add(source, AddOptions(name, **options), progress, check_name=check_model_name)
    if added.is_guess:
        warnings.warn(added.remark, stacklevel=2)
    return added.name


def load_model(
    name_or_folder: AnyPath, data_dir: AnyPath | None = None, device: str | None = None
) -> Model:
    """Load a model.

    Args:
        name_or_folder: its name in the app, in any letter case ("CLIP-neg"), or its folder.
        data_dir: the app's data folder; default NT2VR_DATA, or ~/.cache/nt2vr.
        device: "auto", "cpu", "cuda" or "mps"; default NT2VR_DEVICE, or "auto", the fastest one.
    """
    models = _services(_settings(data_dir, device)).models
    folder = expanded(name_or_folder)
    if (folder / CARD).is_file():
        return Model(models.read(folder))
    return Model(models.load(str(name_or_folder)))


def open_searcher(
    data_dir: AnyPath | None = None,
    device: str | None = None,
    library: str = "",
    index: str = "",
) -> GallerySearcher:
    """Open a library by name or id, or the built-in gallery.

    Args:
        data_dir: as for `load_model`.
        device: as for `load_model`.
        index: "exact", "faiss", or Milvus for libraries: an address as for `--index`; default: that
            of NT2VR_INDEX, or exact, and approximate from 200,000 clips.
    """
    return GallerySearcher(_settings(data_dir, device, index), library)


def evaluate(
    data: AnyPath | Data,
    systems: Systems,
    data_dir: AnyPath | None = None,
    device: str | None = None,
    progress: Progress = silent,
    should_stop: ShouldStop = lambda: False,
) -> Evaluation:
    """Evaluate systems on a benchmark, with the zero-shot base and `drop` as controls.

    Results are stored, and used again.

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
        names = _named_systems(systems, services.models)
        model_names = services.models.names()
        requested = [System.named(name, model_names) for name in names]
        if not isinstance(data, Data):
            data = Data(str(data))
        report = services.evaluations.evaluate(data, requested, stoppable(progress, should_stop))
        return Evaluation(report)


def load_report(folder: AnyPath) -> Evaluation:
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


def _settings(data_dir: AnyPath | None, device: str | None, index: str = "") -> Settings:
    prepare_environment()
    return Settings.read(data_dir, device, index=index)
