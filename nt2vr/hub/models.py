"""Models pushed to the Hub and pulled from it. A push adds a README."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from nt2vr.errors import CheckpointError
from nt2vr.files import check_free, check_writable
from nt2vr.hub.client import REQUEST_S, check_repository, first_answer, open_hub
from nt2vr.hub.model_card import readme_of
from nt2vr.hub.verify import SMALL_BYTES, verify
from nt2vr.models.card import CARD, CONFIG, FUSION, HEAD, MAX_HEAD, WORDS, read_card
from nt2vr.models.checkpoint import WEIGHTS, read_checkpoint, read_configs
from nt2vr.models.downloads import SPARE_BYTES, transfer_bar
from nt2vr.models.hub_errors import hub_errors
from nt2vr.models.tokenizer import TOKENIZER, TOKENIZER_CONFIG, needs_file
from nt2vr.models.weights import UNUSABLE
from nt2vr.progress import Progress, silent

LIMITS = {  # bytes of the files of a checkpoint, in the order in which they are pulled
    CARD: SMALL_BYTES,
    CONFIG: SMALL_BYTES,
    TOKENIZER_CONFIG: SMALL_BYTES,
    TOKENIZER: 128 << 20,  # 34 MB for 256,000 tokens
    FUSION: 256 << 20,  # 80 MB for two layers of 2,048 units at 4,096 dimensions
    HEAD: MAX_HEAD,
    WORDS: MAX_HEAD,
    WEIGHTS: 8 << 30,
}
LOCK = ".pull.lock"  # in the folder of models: one pull at a time; never deleted, or two could hold it


def push(folder: Path, repository: str, private: bool = True, licence: str = "") -> str:
    """Upload a checkpoint folder, with a README made from its card; return the address of the repository."""
    check_repository(repository)
    hub = open_hub(write=True)
    card = read_checkpoint(folder, verify=True).card
    files: dict[str, Path | bytes] = {file: folder / file for file in LIMITS if (folder / file).is_file()}
    files["README.md"] = readme_of(card, repository, licence).encode()
    with hub_errors(repository):
        from huggingface_hub import CommitOperationAdd  # noqa: PLC0415  see `open_hub`

        first_answer(hub.whoami)
        address = hub.create_repo(repository, private=private, exist_ok=True)
        operations = [CommitOperationAdd(name, file) for name, file in files.items()]
        hub.create_commit(repository, operations, commit_message=f"Push {card.name}")
    return str(address)


def pull(
    repository: str, home: Path, checked: Callable[[str], str], name: str = "", progress: Progress = silent
) -> str:
    """Download a checkpoint folder into `home`, where it appears once it has passed the trial; return its name.

    Args:
        repository: OWNER/NAME; its nt2vr.json may be missing.
        checked: returns the name under which a model can be added, or raises.
        name: empty takes its card's, or the repository's.
    """
    check_repository(repository)
    check_writable(home)
    name = checked(name) if name else ""
    folder = home / repository.replace("/", "--")
    with _staging(folder) as staging:
        with hub_errors(repository):
            sizes, revision = _listing(repository, home)
            for file, size in sizes.items():
                if file in (TOKENIZER, TOKENIZER_CONFIG) and not _has_own_tokenizer(staging):
                    continue  # CLIP's own, which open_clip brings along
                if file == WEIGHTS:  # the large one, and the last
                    name = name or checked(_name_in(staging, repository))
                _download(repository, revision, file, size, staging, progress)
        shutil.rmtree(staging / ".cache", ignore_errors=True)
        verify(staging, name)
        staging.rename(folder)
    return name


def _listing(repository: str, home: Path) -> tuple[dict[str, int], str]:
    """Return the sizes of a repository's files that make a checkpoint, the weights last, and its newest commit."""
    hub = open_hub()
    info = first_answer(partial(hub.model_info, repository, files_metadata=True, timeout=REQUEST_S))
    found = {each.rfilename: each.size or 0 for each in info.siblings or ()}
    for file in (CONFIG, WEIGHTS):
        if file not in found:
            raise CheckpointError(f"{repository} has no {file}. Choose one in open_clip's safetensors format.")
    sizes = {file: found[file] for file in LIMITS if file in found}
    for file, size in sizes.items():
        if size > LIMITS[file]:
            raise CheckpointError(f"{file} of {repository} has {size >> 20:,} MB. At most {LIMITS[file] >> 20:,} fit.")
    check_free(home, sum(sizes.values()) + SPARE_BYTES, f"Pulling {repository}")
    return sizes, str(info.sha)


def _has_own_tokenizer(folder: Path) -> bool:
    """Return True if an untrusted configuration names a tokenizer; `verify` refuses one that cannot be read."""
    try:
        return needs_file(read_configs(folder)[0]["text_cfg"])
    except UNUSABLE:
        return False


def _name_in(folder: Path, repository: str) -> str:
    """Return the name on an untrusted card; without a card, the repository's."""
    if not (folder / CARD).exists():
        return repository.partition("/")[2]
    try:
        return read_card(folder).name
    except (CheckpointError, RecursionError):
        raise CheckpointError(f"{repository} has an {CARD} that cannot be read. Choose another repository.") from None


def _download(repository: str, revision: str, file: str, size: int, folder: Path, progress: Progress) -> None:
    """Bring one file; more bytes than were announced break the transfer off."""
    import huggingface_hub  # noqa: PLC0415  see `open_hub`

    def report(done: int, _: int) -> None:
        if done > size:
            raise CheckpointError(f"{repository} sends more of {file} than it announced. Choose another.")
        progress(done, size, f"downloading {file}")

    bar = transfer_bar(report)
    huggingface_hub.hf_hub_download(repository, file, revision=revision, local_dir=folder, tqdm_class=bar)
    if (folder / file).stat().st_size != size:
        raise CheckpointError(f"{file} of {repository} is not of the size that was announced. Pull it again.")


@contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """Yield an empty hidden folder, to be renamed to `folder`; it is removed if that does not happen."""
    from filelock import FileLock, Timeout  # noqa: PLC0415  see `open_hub`: comes with huggingface_hub

    staging = folder.with_name(f".{folder.name}.download")
    staging.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder.with_name(LOCK), timeout=0):
            if folder.exists():
                raise CheckpointError(f"{folder} is there already. Delete it to pull it again.")
            shutil.rmtree(staging, ignore_errors=True)  # of a process that was killed
            staging.mkdir()
            try:
                yield staging
            finally:
                shutil.rmtree(staging, ignore_errors=True)
    except Timeout:
        raise CheckpointError("Another pull is running. Wait for it.") from None
