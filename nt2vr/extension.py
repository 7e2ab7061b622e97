"""What an extension adds to nT2VR: a paper of nt2vr/papers, or a package of somebody else's.

An extension is described by an `Extension`. Code is named in it by references such as
"my_package.losses:MyLoss", so that listing all extensions imports none of it, and no torch. A paper
puts its `EXTENSION` into the `__init__.py` of its folder in nt2vr/papers. Another package names it
in its pyproject.toml:

    [project.entry-points."nt2vr.extensions"]
    mine = "my_package:EXTENSION"
"""

import importlib
import logging
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeVar

from nt2vr.errors import reason_of

logger = logging.getLogger(__name__)

T = TypeVar("T")

# References to code, "module:name", by the name of what it implements.
References = Mapping[str, str]

ENTRY_POINTS = "nt2vr.extensions"
PAPERS = "nt2vr.papers"


@dataclass(frozen=True)
class Command:
    """A command of the command line.

    Attributes:
        path: its words, such as "queries verbs"; those before the last one, if any, are a group
            that the core has.
        function: reference to a typed function whose docstring is the help, as those in
            nt2vr/cli.py are.
        help: one sentence for the list of commands.
    """

    path: str
    function: str
    help: str


@dataclass(frozen=True)
class Pooling:
    """A pooling that learns.

    Attributes:
        reference: to its class, see `nt2vr.models.pooling.ExtensionPooling`.
        normalises_frames: True if it pools frames of length 1, rather than as the tower returns
            them.
    """

    reference: str
    normalises_frames: bool


@dataclass(frozen=True)
class Measure:
    """What a training measures on held-out data after each epoch; higher is better.

    Attributes:
        name: in metrics, by which the setting `monitor` names it.
        title: of its curve on the page; empty for none.
        meaning: what it measures, in a few words.
    """

    name: str
    title: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class TrainingReference:
    """A training of something else than towers.

    Attributes:
        reference: to its `trainer.trainings.TrainingKind`.
        measures: those that it writes among the metrics of a run.
    """

    reference: str
    measures: tuple[Measure, ...] = ()


@dataclass(frozen=True)
class Extension:
    """Everything that an extension may add; what it names by a reference is imported when it is used.

    Attributes:
        name: one word, of letters, digits and "_".
        losses: reference to the class of each loss, by its name in configs. `trainer.losses.Loss`
            says what it has.
        strategies: reference to each `nt2vr.search.strategies.Strategy`, by its name in systems.
        settings: reference to each further section of a training's config, by its name: a subclass
            of `nt2vr.sections.Section`. No two sections share a key. The module must not import
            `trainer.config`, which reads the sections as it is imported.
        text_sides: reference to the class of each text side that may replace the text tower of an
            open_clip model, see `nt2vr.models.text_side.TextSide`. Its name is the key of its
            settings, empty for no such text side, in a config, the key of its entry on a card, and
            the name of its file in a checkpoint folder.
        composers: reference to the class of each learned module that makes one query of a picture
            and a text, see `nt2vr.models.composer.Composer`. Its name is the key of its entry on a
            card, and the name of its file in a checkpoint folder. A strategy that names it searches
            by it.
        video_inputs: reference to the class of each input that a model may read of a dataset's
            videos instead of frames, see `nt2vr.datasets.video_inputs.VideoInput`. Its name is the
            key of its setting, empty for frames, in a config, and its key on a card.
        poolings: poolings of a video's frames, by their names in configs and on cards.
        trainings: trainings of something else than towers, by the values of the setting `train` that
            choose them.
        presets: folder of presets, JSON files; its subfolder "sweeps" has sweeps.
        tables: reference to the reader of each kind of benchmark in a CSV file, by a column that
            only it has. See `nt2vr.evaluation.tasks.TableReader`.
        questions: the same for files whose rows are questions about one video each, see
            `nt2vr.evaluation.tasks.QuestionReader`.
        question_files: reference to the reader of each further kind of file with such questions, by
            its suffix, such as ".pt", in lower case; ".csv" and ".json" are the core's. See
            `nt2vr.evaluation.tasks.QuestionFileReader`.
        class_groups: file with the names of classes, one per line, by the name under which a
            benchmark that has all of these classes reports them, too.
        benchmarks: reference to each `nt2vr.evaluation.benchmark_kinds.BenchmarkKind`, by the word
            that stands before its data and a colon, as in "mine:FILE".
        api: reference to each name that `import nt2vr` offers, too.
        commands: further commands.
    """

    name: str
    losses: References = field(default_factory=dict)
    strategies: References = field(default_factory=dict)
    settings: References = field(default_factory=dict)
    text_sides: References = field(default_factory=dict)
    composers: References = field(default_factory=dict)
    video_inputs: References = field(default_factory=dict)
    poolings: Mapping[str, Pooling] = field(default_factory=dict)
    trainings: Mapping[str, TrainingReference] = field(default_factory=dict)
    presets: Path | None = None
    tables: References = field(default_factory=dict)
    questions: References = field(default_factory=dict)
    question_files: References = field(default_factory=dict)
    class_groups: Mapping[str, Path] = field(default_factory=dict)
    benchmarks: References = field(default_factory=dict)
    api: References = field(default_factory=dict)
    commands: tuple[Command, ...] = ()


@cache
def extensions() -> tuple[Extension, ...]:
    """List the papers in alphabetical order, then other packages; a warning names those that cannot be imported."""
    by_name: dict[str, Extension] = {}
    for extension in (*_papers(), *_packages()):
        if extension.name in by_name:
            logger.warning("Two extensions are called %s. The second is left out.", extension.name)
            continue
        by_name[extension.name] = extension
    return tuple(by_name.values())


def _papers() -> Iterator[Extension]:
    try:
        package = importlib.import_module(PAPERS)
    # A copy of nT2VR may have no papers.
    except ModuleNotFoundError:
        return
    # They are listed in alphabetical order.
    for module in pkgutil.iter_modules(package.__path__):
        yield importlib.import_module(f"{PAPERS}.{module.name}").EXTENSION


def _packages() -> Iterator[Extension]:
    for entry_point in sorted(entry_points(group=ENTRY_POINTS)):
        try:
            extension = entry_point.load()
        # Code of others may raise anything.
        except Exception as error:
            logger.warning(
                "The extension %s cannot be imported (%s).", entry_point.name, reason_of(error)
            )
            continue
        if not isinstance(extension, Extension):
            logger.warning(
                "The extension %s is not an nt2vr.extension.Extension.", entry_point.name
            )
            continue
        yield extension


def combined(field_of: Callable[[Extension], Mapping[str, T]]) -> dict[str, T]:
    """Return what all extensions have in a field, by name."""
    by_name: dict[str, T] = {}
    for extension in extensions():
        by_name.update(field_of(extension))
    return by_name


@cache
def text_sides() -> References:
    """Return the references of all text sides by name."""
    return combined(lambda extension: extension.text_sides)


@cache
def composers() -> References:
    """Return the references of all composers by name."""
    return combined(lambda extension: extension.composers)


@cache
def video_inputs() -> References:
    """Return the references of all inputs of videos by name."""
    return combined(lambda extension: extension.video_inputs)


@cache
def poolings() -> Mapping[str, Pooling]:
    """Return the poolings of all extensions by name."""
    return combined(lambda extension: extension.poolings)


@cache
def trainings() -> Mapping[str, TrainingReference]:
    """Return the trainings of all extensions by name."""
    return combined(lambda extension: extension.trainings)


def loaded(field_of: Callable[[Extension], References]) -> dict[str, Any]:
    """Import what all extensions reference in a field, by name."""
    return {name: load(reference) for name, reference in combined(field_of).items()}


def load(reference: str) -> Any:
    """Import what a reference names: "package.module:name"."""
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)
