"""The command line: `nt2vr COMMAND`. Without a command it opens the app.

Each command is a typed function, whose docstring is its help. What it runs with is imported inside
it, so that help and refusals stay quick.
"""

import gc
import json
import logging
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter

from nt2vr.console import drop_output, output_failure, prepare_streams
from nt2vr.errors import ConfigError, LineFormatter, Nt2vrError, counted, printable, reason_of
from nt2vr.extension import Command, extensions
from nt2vr.files import AnyPath, JsonObject, check_writable, expanded
from nt2vr.models.options import AddOptions
from nt2vr.presets import preset_files
from nt2vr.progress import progress_bar
from nt2vr.settings import (
    ASSETS,
    Settings,
    is_loopback,
    leave_address_to_app,
    prepare_environment,
    project_version,
    reach_directly,
    without_proxies,
)

if TYPE_CHECKING:
    from nt2vr.api import GallerySearcher
    from nt2vr.library.changes import Changes
    from nt2vr.library.update import Updated
    from nt2vr.models.catalog import Catalog
    from nt2vr.models.encoder import Encoder
    from nt2vr.models.origin import Origin
    from nt2vr.search.answers import Answer, Ranking
    from nt2vr.services import Services

OWN_FLAGS = ("-h", "--help", "-V", "--version", "--install-completion")
# A query that begins with a minus: "-dog".
DENIED_QUERY = re.compile(r"-[^\W\d_]{2}.*|-\w\s.*", re.DOTALL)
NONE = "–"
# Names per line of `library check`.
MAX_NAMES = 20
HIT = "  {:>4}  {:>7}  {:9}  {:10}  {}"
LIBRARY = "{:30} {:>8} {:>8} {:>8}  {}"
SPACE_WRITTEN = (
    "To publish it: git init, git lfs install, git add --all, git commit, then git push to the Space's repository, "
    "https://huggingface.co/spaces/OWNER/NAME."
)


@Parameter(name="*")
@dataclass(frozen=True)
class Machine:
    """Where a command keeps its data, and computes."""

    data_dir: Path | None = None
    "caches, runs and downloaded models; default: NT2VR_DATA, or ~/.cache/nt2vr"
    device: str | None = None
    "auto, cpu, cuda or mps; default: NT2VR_DEVICE, or auto, the fastest one here"

    def services(self, index: str | None = None) -> "Services":
        from nt2vr.services import Services

        return Services(Settings.read(self.data_dir, self.device, index=index))

    def catalog(self) -> "Catalog":
        from nt2vr.models.catalog import Catalog

        return Catalog.of(Settings.read(self.data_dir, self.device))


THIS = Machine()
Json = Annotated[bool, Parameter("--json", help="print JSON")]
Index = Annotated[
    str | None,
    Parameter(
        help="exact, faiss, or Milvus for libraries: http://HOST:19530, or a file that ends in .db; default: "
        "NT2VR_INDEX, or exact up to 200,000 clips, then faiss"
    ),
]
Adding = Annotated[AddOptions, Parameter(name="*")]
ADDING = AddOptions()
Private = Annotated[bool, Parameter(negative="--no-private", help="make a new repository private")]
app = App(
    name="nt2vr",
    help="Text-to-video retrieval that understands negation. Without a command, the app is opened.",
    help_format="plaintext",
    version=lambda: f"nT2VR {project_version()}",
    version_flags=["-V", "--version"],
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
)
app.command(
    library := App(
        name="library", help="Add, update, move and remove libraries of your own videos."
    )
)
app.command(models := App(name="models", help="List, add and remove models."))
app.command(
    queries := App(
        name="queries", help="Build negated and composed queries from captions; split sentences."
    )
)
app.command(
    "trainer.__main__:train",
    name="train",
    help="Train a model, or resume a run.",
    help_epilogue=f"Presets: {', '.join(preset_files())}.",
)
app.command(
    "trainer.__main__:teach", name="teach", help="Teach a model negation, by sentences alone."
)
app.command(
    "trainer.runs.sweep:sweep", name="sweep", help="Train a grid of settings with several seeds."
)


def _add_command(command: Command) -> None:
    """Add a command of an extension to its group."""
    *groups, name = command.path.split()
    parent = app
    for group in groups:
        parent = parent[group]
    parent.command(command.function, name=name, help=command.help)


for _extension in extensions():
    for _command in _extension.commands:
        _add_command(_command)
app.register_install_completion_command()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit status.

    That is 0 if it is done, 1 if it failed, 2 if it was misused, 130 after Ctrl+C and 141 at a
    closed pipe.
    """
    words = _words(sys.argv[1:] if arguments is None else arguments)
    prepare_streams()
    prepare_environment()
    handler = logging.StreamHandler()
    handler.setFormatter(LineFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.ERROR, handlers=[handler])
    try:
        status = app(words, exit_on_error=False, print_error=False, result_action="return_value")
        failure = output_failure()
        # A service needs no output.
        if failure and words[:1] != ["serve"]:
            raise ConfigError(
                f"The output cannot be written ({failure}). What was done is kept; send it elsewhere."
            )
        return status if isinstance(status, int) else 0
    except CycloptsError as error:
        command = " ".join(["nt2vr", *(error.command_chain or ())])
        sys.stderr.write(f"{command}: {' '.join(str(error).split())} See {command} --help.\n")
        return 2
    except Nt2vrError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        drop_output()
        return 141


def _words(arguments: Sequence[str]) -> list[str]:
    """Complete what was typed.

    No command opens the app, `help X` is `X --help`, and a query may begin with a minus.
    """
    words = list(arguments)
    has_no_command = not words or (words[0].startswith("-") and words[0] not in OWN_FLAGS)
    if has_no_command:
        return ["serve", *words]
    if words[0] == "help":
        return [*words[1:], "--help"]
    if words[0] == "search" and "--" not in words:
        denied_queries = [word for word in words if DENIED_QUERY.fullmatch(word)]
        if denied_queries:
            flags = [word for word in words if word not in denied_queries]
            return [*flags, "--", *denied_queries]
    return words


def _say(*lines: str, to: Any = None) -> None:
    """Print lines, in which names of files can neither move the cursor nor turn the text round."""
    (to or sys.stdout).writelines(f"{printable(line)}\n" for line in lines)


def _json(value: object, indent: int | None = 2) -> None:
    sys.stdout.write(f"{json.dumps(value, ensure_ascii=False, indent=indent)}\n")


@app.command
def serve(
    *,
    index: Index = None,
    host: str | None = None,
    allow_host: list[str] | None = None,
    allow_root: list[Path] | None = None,
    port: int | None = None,
    mcp: bool = False,
    machine: Machine = THIS,
) -> None:
    """Open the app (default).

    Args:
        host: address to listen on; default: this machine only
        allow_host: name by which the app is reached, besides this machine's addresses (repeatable;
            * is any)
        allow_root: folder in which libraries may be named on the page (repeatable); default: the
            home folder while only this machine can reach the app, otherwise none
        port: port to listen on; default: GRADIO_SERVER_PORT, or the first free one from 7860
        mcp: let agents search, at /gradio_api/mcp/
    """
    # Not INFO: open_clip logs each loading step to the root.
    logging.getLogger().setLevel(logging.WARNING)
    logging.getLogger("nt2vr").setLevel(logging.INFO)
    settings = Settings.read(
        machine.data_dir,
        machine.device,
        host,
        port,
        host_names=allow_host or (),
        roots=allow_root or (),
        index=index,
    )
    _check_address(settings.host, settings.port)
    # A fifth of the time of starting went into searches for garbage, of which there is none yet.
    gc.disable()
    try:
        from nt2vr.ui import quickly_imported

        leave_address_to_app()
        reach_directly(settings.host)
        # Gradio prepares clients as it is imported, which fails at a SOCKS proxy without a further
        # package.
        with quickly_imported(), without_proxies():
            from nt2vr.ui.page import serve as serve_page
        # It enables the search for garbage again.
        serve_page(settings, mcp)
    finally:
        gc.enable()


def _check_address(host: str, port: int | None) -> None:
    """Refuse an address on which the app cannot listen.

    Gradio would print a traceback, or retry forever.
    """
    import socket

    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            # The app may just have been stopped.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port or 0))
    except (OSError, OverflowError, UnicodeError) as error:
        parts = []
        if port is None or not is_loopback(host):
            parts.append(host)
        if port is not None:
            parts.append(str(port))
        problem = f"{' and '.join(parts)} ({reason_of(error).rstrip('.')})"
        raise ConfigError(
            f"Cannot listen on {problem}. Choose another --host or --port."
        ) from error


@app.command
def search(
    query: str,
    /,
    *,
    systems: str = "",
    library: str = "",
    k: Annotated[int, Parameter(alias="-k")] = 8,
    alpha: float = 0.5,
    image: Path | None = None,
    literal: str = "",
    as_json: Json = False,
    index: Index = None,
    machine: Machine = THIS,
) -> None:
    """Search the built-in gallery or a library, and print each system's ranking.

    Args:
        query: a sentence such as "a dog and not a cat"
        systems: names of systems, comma-separated; default: CLIP-neg, or in a library a model that
            knows real videos, with the strategy rectified if the query denies something
        library: search this library, not the built-in gallery
        k: results per system
        alpha: weight of the unwanted part, for boolean systems
        image: file of a reference picture
        literal: words to search for as typed, comma-separated (see "read as")
    """
    from nt2vr.api import open_searcher

    with open_searcher(machine.data_dir, machine.device, library, index or "") as searcher:
        words = [word.strip() for word in literal.split(",")]
        answer = searcher.search(
            query, systems.split(",") if systems else None, k, image, alpha, words
        )
        if as_json:
            _json(answer.as_dict())
            return
        _say(f"wanted:    {'; '.join(answer.query.wanted) or NONE}")
        _say(f"unwanted:  {'; '.join(answer.query.unwanted) or NONE}")
        if answer.query.notice:
            _say(answer.query.notice)
        if answer.read_as:
            substitutes = [f"{word} → {known_word}" for word, known_word in answer.read_as.items()]
            _say(f"read as:   {'; '.join(substitutes)}")
        for ranking in answer.rankings:
            _say("", *_ranking_lines(ranking, answer, searcher))


def _ranking_lines(
    ranking: "Ranking", answer: "Answer", searcher: "GallerySearcher"
) -> Iterable[str]:
    from nt2vr.ui.search.formats import times_text
    from nt2vr.ui.search.notes import notes

    counts = ", ".join(f"{count} {verdict}" for verdict, count in ranking.counts.items() if count)
    if counts:
        judged_by = f" by {answer.judged_by}" if answer.judged_by else ""
        yield f"{ranking.system.name}: {counts}{judged_by}"
    else:
        yield ranking.system.name
    if ranking.missing:
        yield f"  not indexed by this model, and not searched: {counted(ranking.missing, 'clip')}"
    for note in notes(ranking, answer, judged=bool(counts)):
        yield f"  {note}"
    if ranking.hits:
        yield HIT.format("rank", "score", "verdict", "video", "caption")
    for hit in ranking.hits:
        # The longest caption says the most.
        caption = max(searcher.video(hit.video_id).captions, key=len, default=NONE)
        place = hit.video_id
        if hit.moments:
            place = f"{hit.long_video} {times_text(hit.moments[0].start, hit.moments[-1].end)}"
        yield HIT.format(hit.rank, f"{hit.score:.4f}", hit.verdict or NONE, place, caption)


@app.command
def match(
    clip: str,
    /,
    *texts: str,
    systems: str = "CLIP, CLIP-neg",
    library: str = "",
    alpha: float = 0.5,
    as_json: Json = False,
    machine: Machine = THIS,
) -> None:
    """Choose among captions for a clip or a picture, with one or more systems.

    Args:
        clip: id of a clip of the gallery, or a picture file
        texts: 2 to 8 captions
        systems: names of systems, comma-separated
        library: library that has the clip
        alpha: weight of the unwanted part, for boolean systems
    """
    from nt2vr.api import open_searcher

    with open_searcher(machine.data_dir, machine.device, library) as searcher:
        matched = searcher.match(clip, texts, systems.split(","), alpha)
    if as_json:
        _json(matched.as_dict())
        return
    for number, of_system in enumerate(matched.systems):
        if number > 0:
            _say("")
        _say(of_system.system.name)
        for row, query in enumerate(matched.queries):
            mark = "→" if row == of_system.best else " "
            score = of_system.scores[row]
            score_text = NONE if score is None else f"{score:.4f}"
            truth = {"right": "true", None: NONE}.get(matched.verdicts[row], "false")
            _say(f"{mark} {score_text:>7}  {truth:5}  {query.text}")


@Parameter(name="*")
@dataclass(frozen=True)
class Embedding:
    """How a library is indexed."""

    model: str | None = None
    "model to index with; default: one here that knows more than drawings, else CLIP-neg"
    no_previews: bool = False
    "make no posters and previews now"
    ray: str | None = None
    "embed on a Ray cluster: auto for this machine's, or ray://HOST:10001"


EMBEDDING = Embedding()


@library.command(name="add")
def add_library(
    path: str,
    /,
    *,
    name: str,
    kind: Literal["folder", "manifest", "dataset"] = "folder",
    split: Literal["all", "train", "validation", "test"] = "all",
    window: float | None = None,
    embedding: Embedding = EMBEDDING,
    index: Index = None,
    machine: Machine = THIS,
) -> None:
    """Add a folder, manifest or dataset, and index it.

    Args:
        path: folder of videos and pictures, with or without a captions file; a manifest or a
            dataset with --kind
        name: name of the library
        kind: what the path is
        split: part of a dataset
        window: length of the windows of long videos in seconds, 1 to 3600; 0 keeps videos whole;
            default: 10 for folders, otherwise 0
    """
    with closing(machine.services(index)) as services:
        add = partial(services.libraries.add, name, kind, path, split, window)
        _index(services, name, embedding.model, embedding, prepare=add)


@library.command
def update(
    name: str,
    /,
    *,
    retry: bool = False,
    embedding: Embedding = EMBEDDING,
    index: Index = None,
    machine: Machine = THIS,
) -> None:
    """Index what is new or changed.

    Args:
        name: name of the library
        retry: read skipped files again
    """
    with closing(machine.services(index)) as services:
        model = embedding.model
        if not model:
            model = services.galleries.default_model(services.libraries.find(name).id)
        prepare = partial(services.libraries.retry, name) if retry else None
        _index(services, name, model, embedding, prepare)


def _index(
    services: "Services",
    name: str,
    model: str | None,
    embedding: Embedding,
    prepare: Callable[[], object] | None,
) -> None:
    """Index a library by a model or a default one, after `prepare`; an unknown model is refused before that."""
    from nt2vr.library.update import update_library
    from nt2vr.models.download import OFFERED

    if not model:
        model = next(iter(services.models.real_models()), "CLIP-neg")
    encoder = services.models.load(model)
    model = services.models.named(model) or model
    if services.models.knows_only_drawings(model):
        add = f"nt2vr models add {OFFERED.name}"
        update_again = f"nt2vr library update NAME --model {OFFERED.catalog_name!r}"
        _say(f"{model} knows only drawings. For real videos: {add}, then {update_again}")

    with _encoding(services, embedding, model, encoder) as encode, progress_bar() as progress:
        if prepare:
            prepare()
        updated = update_library(
            services.libraries,
            name,
            encoder,
            services.decoder,
            services.cache,
            progress,
            not embedding.no_previews,
            services.milvus,
            encode,
            partial(_say, to=sys.stderr),
        )
    _say_updated(services, name, model, updated)


def _encoding(services: "Services", embedding: Embedding, model: str, encoder: "Encoder") -> Any:
    """Return a context whose value encodes clips on a Ray cluster; None encodes them here."""
    if embedding.ray is None:
        return nullcontext()
    from nt2vr.library.ray_workers import load_like, ray_workers

    settings = services.settings
    load = partial(
        load_like, settings.data_dir.absolute(), settings.device, model, encoder.card.precision
    )
    return ray_workers(embedding.ray, load, encoder)


def _say_updated(services: "Services", name: str, model: str, updated: "Updated") -> None:
    _say(*_changes(updated.changes))
    _say(f"{updated.num_embedded:,} of {updated.num_clips:,} clips are indexed by {model}.")
    clips = services.libraries.gallery(name).videos
    num_captioned = sum(bool(clip.captions) for clip in clips)
    if num_captioned:
        _say(f"{num_captioned:,} of {len(clips):,} clips have captions, which give verdicts.")
    if updated.notice:
        _say(updated.notice)
    if updated.num_skipped:
        verb = "is" if updated.num_skipped == 1 else "are"
        files = counted(updated.num_skipped, "file")
        _say(f"{files} {verb} skipped: nt2vr library skipped {name!r} says why.")


@library.command(name="list")
def list_libraries(*, as_json: Json = False, machine: Machine = THIS) -> None:
    """List the libraries."""
    infos = machine.services().libraries.infos()
    if as_json:
        _json([info.as_dict() for info in infos])
        return
    if not infos:
        _say("No libraries yet.")
        return
    _say(LIBRARY.format("library", "files", "clips", "skipped", "source"))
    for info in infos:
        source = str(info.source.path)
        if not info.available:
            source += "  (not there now)"
        num_files = f"{info.num_files:,}"
        num_clips = f"{info.num_clips:,}"
        num_skipped = f"{info.num_skipped:,}"
        _say(LIBRARY.format(info.name, num_files, num_clips, num_skipped, source))
    gone = [info.name for info in infos if not info.available and info.source.kind != "uploads"]
    if gone:
        from nt2vr.library.listing import move_command

        _say(f"If a folder was moved: {move_command(gone[0] if len(gone) == 1 else 'NAME')}")


@library.command
def check(name: str, /, *, machine: Machine = THIS) -> None:
    """Say what changed since the last update, without indexing."""
    _say(*_changes(machine.services().libraries.check(name)))


@library.command
def skipped(name: str, /, *, machine: Machine = THIS) -> None:
    """List the files that are not searched, and why."""
    for file in machine.services().libraries.skipped(name):
        _say(f"{file.id}\t{file.reason}")


@library.command(name=["move", "mv"])
def move(name: str, folder: str, /, *, force: bool = False, machine: Machine = THIS) -> None:
    """Tell a library where its files are now, without indexing them again.

    Args:
        name: name of the library
        folder: folder that has the files now, or the manifest or dataset of a library made of one
        force: move even if fewer than half of the files are there
    """
    from nt2vr.library.move import move_library

    with closing(machine.services()) as services:
        with progress_bar() as progress:
            moved = move_library(
                services.libraries, name, folder, services.cache, progress, force=force
            )
        info = services.libraries.find(name)
    recognised = f"{moved.num_recognised:,} of {counted(moved.num_files, 'file')}"
    _say(f"{info.name} is in {info.source.path} now, with {recognised}.")
    if moved.left_behind:
        _say(f"{moved.left_behind} is still there, but no longer read.")
    _say(*_names_by_kind(moved.by_kind))
    if moved.missing:
        _say("Missing:", *(f"  {name}" for name in moved.missing))
    if moved.missing or moved.changed or moved.new:
        update = f"nt2vr library update {shlex.quote(info.name)}"
        _say(f"{update} reads what is new or changed, and removes what is missing.")


@library.command(name=["remove", "rm"])
def remove_library(name: str, /, *, index: Index = None, machine: Machine = THIS) -> None:
    """Delete a library with its index; files of your folders stay."""
    machine.services(index).libraries.remove(name)
    _say(f"{name} is removed.")


def _changes(changes: "Changes") -> list[str]:
    return _names_by_kind(changes.by_kind) or ["Nothing changed."]


def _names_by_kind(files: Mapping[str, Sequence[str]]) -> list[str]:
    """Write a line with the number and the first names of each kind of files."""
    lines = []
    for kind, names in files.items():
        line = f"{len(names):,} {kind}: {', '.join(names[:MAX_NAMES])}"
        if len(names) > MAX_NAMES:
            line += f" and {len(names) - MAX_NAMES:,} more"
        lines.append(line)
    return lines


@app.command
def evaluate(
    *,
    data: str = "world",
    systems: str = "CLIP, CLIP-neg",
    out: Path | None = None,
    as_json: Json = False,
    clips: int | None = None,
    seed: int | None = None,
    split: Literal["train", "validation", "test", "all"] | None = None,
    queries: Path | None = None,
    prompts: str | None = None,
    machine: Machine = THIS,
) -> None:
    """Evaluate systems, and print the paper's table.

    Args:
        data: world or gallery, the built-in ones; a dataset's folder; library:NAME; a published
            benchmark's file, such as NegBench's; a CSV file of classes; classes:FOLDER with a
            folder per class, or classes:world; or words:FILE for captions alone
        systems: names of systems, comma-separated: "clip, clip boolean"
        out: folder to write the report and its tables to
        clips: number of clips of the built-in world; default: 2000
        seed: random seed of the clips and queries; default: 7
        split: part of a dataset; default: test, or validation if there is no test split
        queries: folder with query sets of a dataset, as `nt2vr queries build` or nT2VR wrote them;
            default: made from its captions
        prompts: file with prompts for classes, one per line with {} for the name, or one prompt,
            such as "{}"; default: prompts.txt next to the classes, or "this is a photo of a {}"
            and its negation
    """
    if out:
        check_writable(out)
    if clips is not None and clips < 1:
        raise ConfigError(f"Cannot evaluate on {clips} clips. Choose at least 1.")
    from nt2vr import api
    from nt2vr.evaluation.sources import Data
    from nt2vr.evaluation.tables import aligned

    flags: dict[str, Any] = {
        "clips": clips,
        "seed": seed,
        "split": split,
        "queries": queries,
        "prompts": prompts,
    }
    selection = Data(data, **{name: value for name, value in flags.items() if value is not None})
    with progress_bar() as progress:
        evaluation = api.evaluate(
            selection, systems.split(","), machine.data_dir, machine.device, progress
        )
    if out:
        evaluation.save(out)
    _say(*evaluation.remarks, *evaluation.report.notes, to=sys.stderr)
    if as_json:
        sys.stdout.write(f"{json.dumps(evaluation.metrics, indent=2)}\n")
    else:
        sys.stdout.write(aligned(evaluation.table))


@queries.command(name="build")
def build_queries(*, captions: Path, out: Path, seed: int = 0) -> None:
    """Make original, negated and composed queries from captions.

    Args:
        captions: file of JSON lines, or lines of ID#N<TAB>caption or VIDEO#enc#N caption
        out: folder for original.txt, negated.txt and composed.jsonl
        seed: random seed of the negations and templates
    """
    from nt2vr.negation.generate.build import build, missing_kinds

    check_writable(out)
    with progress_bar() as progress:
        sizes = build(captions, out, seed, progress)
    _json(sizes, indent=None)
    built_kinds = [kind for kind, count in sizes.items() if count]
    _say(*missing_kinds(("negated", "composed"), built_kinds), to=sys.stderr)


@queries.command(name="split")
def split_sentences(
    sentence: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None, /
) -> None:
    """Print the wanted and unwanted parts of a sentence, or of each line of stdin, as JSON lines."""
    from nt2vr.negation.generate.build import split

    sentences = sys.stdin or () if sentence is None else [sentence]
    for parts in split(sentences):
        _json(parts, indent=None)


@models.command(name="list")
def list_models(*words: str, as_json: Json = False, machine: Machine = THIS) -> None:
    """List the models here, and those that can be downloaded.

    Args:
        words: list all models of open_clip with these words in their names
    """
    catalog = machine.catalog()
    installed = _with_words(_models_here(catalog), words)
    to_download = _with_words(_models_to_download(catalog, from_all=bool(words)), words)
    if as_json:
        _json({"here": installed, "to_download": to_download})
        return

    _say("Here:")
    for model in installed:
        _say(f"  {model['name']:50} {model['size_mb']:>9,} MB  {model['kind']}")
    if not installed:
        _say("  none")
    _say("", "To download with: nt2vr models add NAME")
    for model in to_download:
        _say(_download_line(model))
    if not to_download:
        _say("  none")


def _with_words(described: Iterable[JsonObject], words: Sequence[str]) -> list[JsonObject]:
    """Return the models whose names have all of the words, in any letter case."""
    matching = []
    for model in described:
        name = model["name"].casefold()
        if all(word.casefold() in name for word in words):
            matching.append(model)
    return matching


def _models_here(catalog: "Catalog") -> Iterable[JsonObject]:
    for name, entry in catalog.entries().items():
        # Of a run, only the newest epoch is listed.
        if not entry.folders or entry.kind == "epoch":
            continue
        folder = entry.folders[0]
        kind = "shipped"
        if entry.kind == "run":
            kind = "training run"
        elif folder.parent == catalog.home:
            kind = "added"
        num_bytes = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
        yield {"name": name, "kind": kind, "size_mb": num_bytes >> 20, "folder": str(folder)}


def _models_to_download(catalog: "Catalog", from_all: bool) -> list[JsonObject]:
    """Describe the recommended models that are not here, or all of open_clip's."""
    from nt2vr.models.download import RECOMMENDED, available

    recommended = {model.name: {**vars(model), "speed": model.speed} for model in RECOMMENDED}
    names_here = {name.replace(" ", "") for name in catalog.names()}
    names = available() if from_all else recommended
    return [recommended.get(name, {"name": name}) for name in names if name not in names_here]


def _download_line(model: Mapping[str, Any]) -> str:
    line = f"  {model['name']:50} "
    if "size_mb" in model:
        line += f"{model['size_mb']:>9,} MB  {model['speed']:6}  {model['remark']}"
    if model.get("msrvtt"):
        line += f"; zero-shot R@1 on MSR-VTT {model['msrvtt']} by its authors"
    return line.rstrip()


@models.command(name="add")
def add_model(source: str, /, *, options: Adding = ADDING, machine: Machine = THIS) -> None:
    """Add a model: from a file, a folder, the Hugging Face Hub, or embeddings of another system.

    Code in a file is never run, and a model is tried out before it appears.

    Args:
        source: a checkpoint file or the folder of a model; ARCH/TAG, a pre-trained model of
            open_clip's such as ViT-B-32/openai; hf:OWNER/NAME, a repository in open_clip's format
            or a video CLIP of transformers; st:OWNER/NAME, a model of sentence-transformers that
            takes pictures or videos; or embeddings: .npz
    """
    _add(source, options, machine)


def _add(source: "AnyPath | Origin", options: AddOptions, machine: Machine) -> None:
    """Add a model, and say where it is and how its source was read."""
    from nt2vr.models.acquire import acquire
    from nt2vr.models.origin import Origin
    from nt2vr.search.strategies import check_model_name

    catalog = machine.catalog()
    with progress_bar() as progress:
        if isinstance(source, Origin):
            added = acquire(source, catalog, options, progress, _say, check_model_name)
        else:
            added = catalog.add(source, options, progress, _say, check_model_name)
    _say(f"{added.name} is in {catalog.home}. {added.remark}".rstrip())


def _say_new_command(source: str) -> None:
    """Name the command that replaces an alias, on standard error."""
    _say(f"This command is now: nt2vr models add {shlex.quote(source)}", to=sys.stderr)


@models.command(name="get")
def get_model(name: str, /, *, options: Adding = ADDING, machine: Machine = THIS) -> None:
    """Download a model: an alias of `nt2vr models add`."""
    from nt2vr.models.acquire import is_download
    from nt2vr.models.download import pretrained

    _say_new_command(name)
    if not is_download(name):
        # It raises an error that names some of open_clip's.
        pretrained(name)
    _add(name, options, machine)


@models.command(name=["remove", "rm"])
def remove_model(name: str, /, *, force: bool = False, machine: Machine = THIS) -> None:
    """Delete a model that was added.

    Args:
        force: remove it even if other models cannot be read without it
    """
    machine.catalog().remove(name, force)
    _say(f"{name} is removed.")


@app.command(name="export")
def export_model(model: str, folder: Path, /, *, machine: Machine = THIS) -> None:
    """Write a model as a folder that open_clip loads by itself.

    The folder has all weights, including those that the model shares with its base.

    Args:
        model: checkpoint folder, or a model's name in the app
        folder: new folder
    """
    from nt2vr.models.difference import export_checkpoint

    export_checkpoint(_checkpoint_folder(model, machine), expanded(folder))
    _say(f"{model} is in {folder}.")


def _checkpoint_folder(model: str, machine: Machine) -> Path:
    """Return a checkpoint folder, given itself or by a model's name."""
    from nt2vr.models.card import CARD

    folder = expanded(model)
    if (folder / CARD).is_file():
        return folder
    return machine.catalog().folder(model)


@app.command(name="import")
def import_model(file: Path, /, *, options: Adding = ADDING, machine: Machine = THIS) -> None:
    """Import a checkpoint or embeddings made by other code: an alias of `nt2vr models add`."""
    from nt2vr.models.embeddings_file import EMBEDDINGS_SUFFIX
    from nt2vr.models.foreign import ForeignCheckpoint

    _say_new_command(str(file))
    path = expanded(file)
    if path.suffix.lower() == EMBEDDINGS_SUFFIX:
        _add(path, options, machine)
        return
    # A folder that has a model of sentence-transformers, too, was always read as a checkpoint here.
    _add(ForeignCheckpoint.of(path, options, machine.catalog()), options, machine)


@app.command
def push(
    checkpoint: str,
    repository: str,
    /,
    *,
    private: Private = True,
    licence: str = "",
    machine: Machine = THIS,
) -> None:
    """Upload a model to the Hugging Face Hub.

    Args:
        checkpoint: checkpoint folder, or a model's name in the app
        repository: OWNER/NAME on the Hub; created if it is new
        licence: licence, such as mit, which is the default for shipped models only
    """
    from nt2vr.models.push import push as upload

    folder = _checkpoint_folder(checkpoint, machine)
    shipped = folder.absolute().is_relative_to(ASSETS.absolute())
    _say(upload(folder, repository, private, licence or ("mit" if shipped else "")))


@app.command
def pull(repository: str, /, *, options: Adding = ADDING, machine: Machine = THIS) -> None:
    """Download a model in open_clip's format from the Hugging Face Hub.

    It is an alias of `nt2vr models add`.
    """
    from nt2vr.models.hub import check_repository, remote_files
    from nt2vr.models.hub_checkpoint import HubCheckpoint

    check_repository(repository)
    _say_new_command(f"hf:{repository}")
    _add(HubCheckpoint.of(repository, remote_files(repository), options), options, machine)


@app.command
def publish(
    what: Literal["space"],
    repository: str = "",
    /,
    *,
    folder: Path | None = None,
    private: Private = True,
    zero_gpu: bool = False,
    dry_run: bool = False,
) -> None:
    """Upload the app as a Hugging Face Space, or write its files.

    Args:
        what: space, the app
        repository: OWNER/NAME of the Space; created if it is new
        folder: write the files for `git push` into a new folder, or a clone of the Space; needs no
            network
        zero_gpu: pin torch to a version that ZeroGPU offers
        dry_run: list the files and upload nothing
    """
    if bool(repository) == bool(folder):
        raise ConfigError(
            "Name a Space, OWNER/NAME, or a --folder to write its files to: one of the two."
        )
    from nt2vr.models import space
    from nt2vr.models.hub import check_repository

    if repository:
        check_repository(repository)
    files = space.space_files(zero_gpu)
    if dry_run:
        total = 0
        for name, file in files.items():
            size = len(file) if isinstance(file, bytes) else file.stat().st_size
            _say(f"{size:>12,}  {name}")
            total += size
        _say(f"{total:,} bytes in {len(files)} files")
    elif folder:
        space.write_space(folder, files)
        _say(f"{folder} has the Space. {SPACE_WRITTEN}")
    else:
        _say(space.publish(repository, files, private))
