"""The one way in for models: a file, a folder, a download or embeddings become a model of the catalog.

Each is built in a hidden folder and tried out, in a child process, and appears by one rename.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nt2vr.errors import CheckpointError, ConfigError, quoted
from nt2vr.files import AnyPath, check_free, check_writable, expanded
from nt2vr.models.card import CONFIG
from nt2vr.models.clip_origins import PREFIXES, ClipFolder, ClipRepository, is_clip_folder
from nt2vr.models.download import Pretrained, names_pretrained
from nt2vr.models.embeddings_file import EMBEDDINGS_SUFFIX, EmbeddingsFile
from nt2vr.models.foreign import ForeignCheckpoint
from nt2vr.models.foreign_file import SUFFIXES
from nt2vr.models.hub import check_repository, remote_files
from nt2vr.models.hub_checkpoint import HubCheckpoint
from nt2vr.models.options import AddOptions
from nt2vr.models.origin import ModelsHere, Origin
from nt2vr.models.untrusted import run_child, try_out, unchecked_folder
from nt2vr.progress import Progress, silent

MAX_NAME = 60
FORMS = (
    "a file (~/mine.pt), a folder (~/models/mine), a model of open_clip's (ViT-B-32/openai), a repository on the "
    "Hugging Face Hub (hf:OWNER/NAME), one of sentence-transformers there (st:OWNER/NAME) or embeddings (~/mine.npz)"
)
FILE_SUFFIXES = (*SUFFIXES, EMBEDDINGS_SUFFIX)
Announce = Callable[[str], None]
CheckName = Callable[[str], None]


@dataclass(frozen=True)
class Added:
    """A model that has been added.

    Attributes:
        name: of the model.
        remark: how its source was read; empty if there is nothing to say.
        is_guess: whether that was a guess.
        was_here: whether it was here before, so that nothing was added.
    """

    name: str
    remark: str = ""
    is_guess: bool = False
    was_here: bool = False


def announce_nothing(text: str) -> None:
    """Tell nobody."""


def any_name(name: str) -> None:
    """Accept every name."""


def is_download(source: str) -> bool:
    """Whether a source is on the Hub: st:OWNER/NAME, hf:OWNER/NAME, or ARCH/TAG of open_clip's.

    No file is looked at, so that a stranger who asks learns nothing about this machine.
    """
    prefix, colon, _ = source.partition(":")
    if colon and prefix in PREFIXES:
        return True
    is_file_name = source.lower().endswith(FILE_SUFFIXES)
    return not is_file_name and names_pretrained(source)


def origin_of(source: AnyPath, options: AddOptions, models: ModelsHere) -> Origin:
    """Return the origin of a source: its kind and its files; the Hub is asked about downloads alone.

    Args:
        source: a `Path` is always a file or folder; a text may be one, too.
        options: what a person says about the model; an option that means nothing for this kind of
            source is refused.
        models: those here, one of which may be named as the base of a checkpoint.

    Raises:
        Nt2vrError: if there is no such source, or it is not complete.
    """
    if isinstance(source, str):
        source = source.strip()
        if is_download(source):
            return _download(source, options)
        source = _path_of(source)
    if source.suffix.lower() == EMBEDDINGS_SUFFIX:
        return EmbeddingsFile.of(source, options)
    if is_clip_folder(source):
        return ClipFolder.of(source, options)
    return ForeignCheckpoint.of(source, options, models)


def _download(source: str, options: AddOptions) -> Origin:
    prefix, colon, repository = source.partition(":")
    if not colon:
        return Pretrained.of(source, options)
    check_repository(repository)
    files = remote_files(repository)
    # Repositories in open_clip's format often have the files of transformers, too.
    if prefix == "hf" and CONFIG in files:
        return HubCheckpoint.of(repository, files, options)
    return ClipRepository.of(source, files, options)


def _path_of(source: str) -> Path:
    """Return the path that a text stands for; a ConfigError lists the forms of a source if it is no path."""
    path = expanded(source)
    looks_like_path = source.startswith(("/", ".", "~")) or source.lower().endswith(FILE_SUFFIXES)
    # Unlike Path.exists, it raises nothing for a name that is too long, or in a closed folder.
    if not source or not (looks_like_path or os.path.exists(path)):
        raise ConfigError(f"{quoted(source)} is not a source of a model. Name {FORMS}.")
    return path


def acquire(
    source: AnyPath | Origin,
    models: ModelsHere,
    options: AddOptions,
    progress: Progress = silent,
    announce: Announce = announce_nothing,
    check_name: CheckName = any_name,
) -> Added:
    """Add a model to the catalog; a failure leaves nothing.

    Args:
        source: see `origin_of`; or an origin.
        models: the catalog.
        options: what a person says about the model.
        progress: gets bytes, or 0 of 0 in a step without any; an InterruptedError cancels.
        announce: gets a sentence on the size of a download before it starts.
        check_name: raises a ConfigError for a name that cannot be used, apart from what
            `checked_name` refuses.

    Raises:
        Nt2vrError: if the source cannot be used; the message is one sentence for a person.
        InterruptedError: if `progress` raised it.
    """

    def usable(name: str) -> str:
        name = checked_name(name, models)
        check_name(name)
        return name

    name = usable(options.name) if options.name else ""
    origin = source if isinstance(source, Origin) else origin_of(source, options, models)
    if origin.announcement:
        announce(origin.announcement)
    check_writable(models.home)
    check_free(models.home, origin.disk_bytes, origin.doing)
    with unchecked_folder(models.home) as hidden:
        try:
            # Before the weights come, which may take long.
            name = name or usable(origin.default_name(hidden))
            folder = new_folder(name, models.home)
            origin.bring(hidden, progress)
            added: Added = run_child(
                _build,
                origin,
                hidden.absolute(),
                name,
                size=origin.weight_bytes(hidden),
                name=origin.title,
                progress=progress,
            )
        except CheckpointError as error:
            # The message names the source instead of the hidden folder.
            hidden_path = str(hidden.absolute())
            message = str(error).replace(f"{hidden_path}/", "")
            raise CheckpointError(message.replace(hidden_path, origin.title)) from error
        # Another process may have added one meanwhile.
        new_folder(name, models.home)
        hidden.rename(folder)
    return added


def _build(origin: Origin, hidden: Path, name: str, progress: Progress) -> Added:
    """Build a model in this process and try it out."""
    import huggingface_hub.constants  # noqa: PLC0415  a quarter of a second, and the parent may not need it

    # Nothing in a configuration may fetch more.
    huggingface_hub.constants.HF_HUB_OFFLINE = True
    built = origin.build(hidden, name, progress)
    if built.encoder is not None:
        progress(0, 0, "trying it out")
        try_out(built.encoder, origin.title)
    return Added(name, built.remark, built.is_guess)


def new_folder(name: str, home: Path) -> Path:
    """Return the folder of a model that is added: "ViT-B-32 / openai" is ViT-B-32--openai; it must not exist yet."""
    separated = re.sub(r"\s*[/:]\s*", "--", name)
    folder = home / (re.sub(r"[^\w.-]+", "-", separated).strip("-.") or "model")
    if folder.exists():
        raise CheckpointError(f"{folder} already exists. Choose another name or delete it.")
    return folder


def checked_name(name: str, models: ModelsHere) -> str:
    """Return a unique name that fits into drop-downs, links and system names."""
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or "|" in name or not name.isprintable():
        raise ConfigError(
            f"A model cannot be named {name[:MAX_NAME]!r}: choose 1 to {MAX_NAME} characters without |."
        )
    if models.named(name):
        raise ConfigError(f"There is already a model {quoted(name)}. Choose another name.")
    return name
