"""One of several shares of a library's work, by content hash: each process or machine embeds its own."""

from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock

from nt2vr.datasets.base import Split
from nt2vr.errors import ConfigError, quoted
from nt2vr.library.info import Kind
from nt2vr.library.libraries import Libraries
from nt2vr.library.update import Updated, embed, scan
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, silent

MOST = 10_000  # shares


@dataclass(frozen=True)
class Shard:
    """Share `number` of `count`, from 1."""

    number: int
    count: int

    @classmethod
    def named(cls, text: str) -> "Shard":
        """Read "2/8"."""
        number, slash, count = text.partition("/")
        if slash and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count) <= MOST:
            return cls(int(number), int(count))
        raise ConfigError(
            f"{quoted(text)} is no share of the work. Write 1/4 to 4/4 for the shares of four processes."
        )

    def has(self, content: str) -> bool:
        """Whether a file with this hash, in hexadecimal digits, is of this share."""
        return int(content[:8], 16) % self.count == self.number - 1


def shared_library(
    libraries: Libraries, name: str, kind: Kind, path: str, split: Split, window_s: float | None
) -> str:
    """Return the id of the library that several processes add: the first does, and the others find it.

    Raises:
        ConfigError: if a library of another place has the name.
    """
    libraries.folder.mkdir(parents=True, exist_ok=True)
    with FileLock(libraries.folder / ".adding.lock"):
        known = next((info for info in libraries.infos() if info.name.casefold() == name.strip().casefold()), None)
        if known is None or known.source.path != Path(path).expanduser().resolve():
            return libraries.add(name, kind, path, split, window_s).id  # or says that the name is taken
    return known.id


def update_shard(
    libraries: Libraries,
    library_id: str,
    shard: Shard,
    encoder: Encoder,
    decoder: Decoder,
    cache: Cache,
    progress: Progress = silent,
) -> Updated:
    """Read all new files, one process at a time, then embed those of a share while other processes embed theirs.

    What is embedded is not embedded again, so a share that was killed is started again. Previews, an approximate index
    and the embeddings of files that are gone are left to a later `update_library`.
    """
    with libraries.updating(library_id, progress) as source:
        inventory = libraries.inventory(source.id)
        changes = scan(source, inventory, decoder, progress)
    gallery = libraries.gallery(source.id)
    own = replace(gallery, videos=tuple(video for video in gallery.videos if shard.has(video.content)))
    embedded = embed(own, inventory, encoder, decoder, cache, progress, is_part=True).gallery
    return Updated(changes, len(own.videos), len(embedded.videos), inventory.counts().num_skipped)
