"""Hugging Face Hub: pushes and pulls models, on request only; huggingface_hub reads HF_ENDPOINT and HF_TOKEN."""

import math
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from pebble import concurrent
from tqdm import tqdm

from nt2vr.errors import CheckpointError, ConfigError, DownloadError, Nt2vrError, causes, quoted
from nt2vr.extension import composers, text_sides
from nt2vr.files import is_disk_full
from nt2vr.models.card import (
    CARD,
    CONFIG,
    DIFFERENCE,
    DRAWINGS,
    HEAD,
    MAX_HEAD,
    WEIGHTS,
    Card,
    extension_file,
    read_card,
    write_card,
)
from nt2vr.models.checkpoint import identified, read_checkpoint, read_configs, read_model
from nt2vr.models.difference import export_checkpoint, whole_folder
from nt2vr.models.encoder import Encoder
from nt2vr.models.options import MAX_FRAMES, AddOptions
from nt2vr.models.origin import Built, Origin
from nt2vr.models.tokenizer import TOKENIZER, TOKENIZER_CONFIG
from nt2vr.progress import Progress, silent

T = TypeVar("T")

NAME = re.compile(
    r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
)  # owner or repository, by the Hub's own rules
LICENCE = re.compile(r"[a-z0-9][a-z0-9.-]{0,40}")  # the Hub's identifiers: "mit", "cc-by-4.0"
REQUEST_S = 5.0  # for one answer; open_clip itself would try for 50 s
DEADLINE_S = (
    8.0  # for the first answer, name resolution included: the Hub counts as unreachable after that
)
SPARE_BYTES = 200 << 20  # left free on the disk
SMALL_BYTES = 1 << 20
MAX_IMAGE_SIZE = 1024  # pixels
TIMM_NAME = re.compile(
    r"[\w.]+"
)  # of timm's own: a name with ":" or "/" would be fetched from the Hub


def limits() -> dict[str, int]:
    """Return the most bytes of each file of a checkpoint, in the order in which they are pulled."""
    return {
        CARD: SMALL_BYTES,
        CONFIG: SMALL_BYTES,
        TOKENIZER_CONFIG: SMALL_BYTES,
        TOKENIZER: 128 << 20,  # 34 MB for 256,000 tokens
        HEAD: MAX_HEAD,
        **{extension_file(name): MAX_HEAD for name in (*text_sides(), *composers())},
        DIFFERENCE: 8 << 30,
        WEIGHTS: 8 << 30,
    }


def check_repository(name: str) -> None:
    parts = name.split("/")
    fits = all(NAME.fullmatch(part) and not re.search(r"\.\.|--", part) for part in parts)
    if len(parts) != 2 or not fits or name.endswith(".git"):
        raise ConfigError(f"{quoted(name)} is not a repository on the Hub. Write OWNER/NAME.")


def open_hub(write: bool = False) -> Any:
    """Return huggingface_hub's client; to `write`, a token is required."""
    import huggingface_hub  # noqa: PLC0415  a quarter of a second, and needed for the Hub only

    if write and not huggingface_hub.get_token():
        raise ConfigError(
            "Publishing needs a Hugging Face token. Set HF_TOKEN, or run `hf auth login`."
        )
    return huggingface_hub.HfApi()


def first_answer(call: Callable[[], T]) -> T:
    """Return what the first request returns, or raise a DownloadError after DEADLINE_S, as a resolver may hang."""
    try:
        answer: T = concurrent.thread(call)().result(DEADLINE_S)
    except TimeoutError:
        raise DownloadError(
            "The Hub cannot be reached (no answer). Check the network and try again."
        ) from None
    return answer


@contextmanager
def hub_errors(repository: str) -> Iterator[None]:
    """Turn failures of huggingface_hub, and a full disk, into a DownloadError of one sentence."""
    try:
        yield
    except (Nt2vrError, InterruptedError):
        raise
    except (
        Exception
    ) as error:  # each version of huggingface_hub has the exceptions of another HTTP library
        answers = (getattr(each, "response", None) for each in causes(error))
        if (answer := next((each for each in answers if each is not None), None)) is not None:
            status = answer.status_code
            is_passing = (
                status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
            )
            advice = (
                "Try again later."
                if is_passing
                else "Check its name, and that HF_TOKEN may use it."
            )
            message = (
                f"The Hub answered {status} {HTTPStatus(status).phrase} for {repository}. {advice}"
            )
        elif is_disk_full(error):
            message = "The disk is full. Free some space and try again."
        else:
            reason = type(error).__name__
            message = f"The Hub cannot be reached, or broke off ({reason}). Check the network and try again."
        raise DownloadError(message) from error


@dataclass(frozen=True)
class RemoteFile:
    """A file on the Hub, or in the Hub's cache on this machine."""

    repository: str
    name: str
    size: int  # in bytes
    revision: str = ""
    cached: Path | None = None


def remote_files(repository: str) -> dict[str, RemoteFile]:
    with hub_errors(repository):
        hub = open_hub()
        info = first_answer(
            lambda: hub.model_info(repository, files_metadata=True, timeout=REQUEST_S)
        )
    files = (
        RemoteFile(repository, each.rfilename, each.size or 0, str(info.sha))
        for each in info.siblings or ()
    )
    return {file.name: file for file in files}


def transfer(file: RemoteFile, folder: Path, progress: Progress, doing: str) -> Path:
    """Download a file into a folder; `progress` gets its bytes."""
    import huggingface_hub as hub  # noqa: PLC0415  see `open_hub`

    if file.cached is not None:
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(file.cached, folder / file.name))

    class Bar(tqdm):  # type: ignore[misc]  # reports the bytes, and draws nothing
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **{**options, "disable": True})

        def update(self, n: float | None = 1) -> None:
            self.n += n or 0  # a disabled tqdm does not count
            progress(int(self.n), file.size, doing)

    asked: dict[str, Any] = {"revision": file.revision, "local_dir": folder, "tqdm_class": Bar}
    with hub_errors(file.repository):
        return Path(hub.hf_hub_download(file.repository, file.name, **asked))


def push(folder: Path, repository: str, private: bool = True, licence: str = "") -> str:
    """Upload a checkpoint as a whole model, with a README made from its card; return the address of the repository."""
    check_repository(repository)
    hub = open_hub(write=True)
    card = read_checkpoint(folder, verify=True).card
    readme = readme_of(card, repository, licence)
    with hub_errors(repository), TemporaryDirectory() as parent:
        from huggingface_hub import CommitOperationAdd  # noqa: PLC0415  see `open_hub`

        first_answer(hub.whoami)
        export_checkpoint(folder, whole := Path(parent) / "model")
        address = hub.create_repo(repository, private=private, exist_ok=True)
        operations = [
            CommitOperationAdd(name, whole / name) for name in limits() if (whole / name).is_file()
        ]
        operations.append(CommitOperationAdd("README.md", readme.encode()))
        hub.create_commit(repository, operations, commit_message=f"Push {card.name}")
    return str(address)


def readme_of(card: Card, repository: str, licence: str = "") -> str:
    """Write the README of a model: what its card says, and how to load it."""
    from huggingface_hub import ModelCardData  # noqa: PLC0415  see `open_hub`

    if licence and not LICENCE.fullmatch(licence):
        raise ConfigError(
            f"{licence[:40]!r} is not a licence on the Hub. Write an identifier such as mit."
        )
    front_matter = ModelCardData(
        library_name="open_clip",
        license=licence or None,
        pipeline_tag="zero-shot-image-classification",
        tags=["clip", "open_clip", "nt2vr", "text-to-video-retrieval", "negation"],
    )
    is_toy = DRAWINGS in card.training.data or DRAWINGS in card.base
    facts = {
        "Objective": card.training.objective,
        "Started from": card.base or "random weights",
        "Training data": card.training.data,
        "Input": (
            f"{card.framing.frames} frames per video, {card.framing.image_size} pixels wide and high, "
            f"{card.pooling.name} pooling"
        ),
        "Notes": card.notes,
        "Limits": "the built-in world is a toy of drawn clips; its numbers say nothing about real footage"
        * is_toy,
    }
    rows = [f"| {_plain(name)} | {value:.4g} |" for name, value in card.metrics.items()]
    measures = ["| Measure | Value |", "|:--|--:|", *rows] if rows else ["None were recorded."]
    return f"""---
{front_matter.to_yaml()}
---

# {_plain(card.name)}

A CLIP for text-to-video retrieval, trained and measured by nT2VR, which compares how well models understand what a
query does *not* want.

{chr(10).join(f"- {fact}: {_plain(value)}" for fact, value in facts.items() if value)}

## Loading

```python
import open_clip

model, preprocess = open_clip.create_model_from_pretrained("hf-hub:{repository}")
tokenizer = open_clip.get_tokenizer("hf-hub:{repository}")
```

With nT2VR, which then offers it in its page:

```
nt2vr models add hf:{repository}
```

## Measures

R@k and hard pairs in percent, MIR and AUC from 0 to 1, as the run that wrote the checkpoint recorded them. A high
score does not show that negation is understood: compare with `drop`, the control that ignores the negated clause.

{chr(10).join(measures)}
"""


def _plain(text: str) -> str:
    """Return a card's text as one line that cannot end a table's cell or begin HTML."""
    return " ".join(text.split()).replace("|", "/").replace("<", "&lt;").replace("`", "'")


@dataclass(frozen=True, kw_only=True)
class HubCheckpoint(Origin):
    """A checkpoint folder on the Hub, in open_clip's format; its nt2vr.json may be missing."""

    repository: str
    files: tuple[RemoteFile, ...]  # in the order of `limits`: the large one is the last

    @classmethod
    def of(
        cls, repository: str, files: Mapping[str, RemoteFile], options: AddOptions
    ) -> "HubCheckpoint":
        """Return a repository that has these files; a CheckpointError refuses one that is incomplete or too large."""
        options.check_used((), repository)
        wanted = tuple(_wanted_files(repository, files))
        size = sum(file.size for file in wanted)
        return cls(
            title=repository,
            doing=f"Downloading {repository}",
            disk_bytes=size + SPARE_BYTES,
            announcement=f"{repository}: {size >> 20:,} MB to download.",
            repository=repository,
            files=wanted,
        )

    def default_name(self, hidden: Path) -> str:
        """Return the name on the card, which is brought for that, or the repository's."""
        for file in self.files:
            if file.name == CARD:
                transfer(file, hidden, silent, f"downloading {CARD}")
                return read_card(hidden).name
        return self.repository.partition("/")[2]

    def bring(self, hidden: Path, progress: Progress) -> None:
        for file in self.files:
            if not (hidden / file.name).exists():
                transfer(file, hidden, progress, f"downloading {file.name}")
        shutil.rmtree(hidden / ".cache", ignore_errors=True)

    def weight_bytes(self, hidden: Path) -> int:
        base = (
            whole_folder(hidden, read_card(hidden)) if (hidden / DIFFERENCE).is_file() else hidden
        )
        return sum(file.size for file in self.files) + (base / WEIGHTS).stat().st_size

    def build(self, hidden: Path, name: str, progress: Progress) -> Built:
        """Compare the weights with their card, and write the name on it."""
        _check_configuration(hidden)
        if not (hidden / CARD).exists():
            _write_missing_card(hidden)
        encoder = read_checkpoint(hidden, verify=True)
        _check_card(read_card(hidden), encoder)
        if encoder.card.name != name:
            write_card(hidden, encoder.card.replace(name=name))
        return Built(encoder)


def _wanted_files(repository: str, files: Mapping[str, RemoteFile]) -> list[RemoteFile]:
    """Return a checkpoint's files in the order of `limits`; refuse one that is not complete, or too large."""
    for needed in (CONFIG, DIFFERENCE if {CARD, DIFFERENCE} <= files.keys() else WEIGHTS):
        if needed not in files:
            raise CheckpointError(
                f"{repository} has no {needed}. Choose one in open_clip's safetensors format."
            )
    most_bytes = limits()
    wanted = [files[name] for name in most_bytes if name in files]
    for file in wanted:
        if file.size > most_bytes[file.name]:
            limit = f"At most {most_bytes[file.name] >> 20:,} fit."
            raise CheckpointError(
                f"{file.name} of {repository} has {file.size >> 20:,} MB. {limit}"
            )
    return wanted


def _check_configuration(folder: Path) -> None:
    """Refuse a configuration that names files outside its folder."""
    model_cfg, _ = read_configs(folder)
    timm_name = model_cfg["vision_cfg"].get("timm_model_name", "timm")
    if not TIMM_NAME.fullmatch(timm_name) or "bpe_path" in model_cfg["text_cfg"].get(
        "tokenizer_kwargs", {}
    ):
        raise CheckpointError(
            f"{CONFIG} names files outside the repository. Choose another repository."
        )


def _write_missing_card(folder: Path) -> None:
    """Write the card of a model that has none, such as open_clip's own."""
    write_card(folder, Card("unnamed", objective="contrastive"))
    model, tokenizer, card = read_model(folder)
    write_card(folder, identified(card, model, tokenizer))


def _check_card(card: Card, encoder: Encoder) -> None:
    """Refuse a card whose values cannot be those of the model, or of any."""
    if not all(map(math.isfinite, card.metrics.values())):
        raise CheckpointError(
            f"{CARD} has measures that are no numbers. Choose another repository."
        )
    frames = card.framing.frames
    image_size = card.framing.image_size
    if frames > MAX_FRAMES or image_size != encoder.image_size or image_size > MAX_IMAGE_SIZE:
        raise CheckpointError(f"{CARD} has values that cannot be used. Choose another repository.")
