"""All libraries of a data folder: one folder each, with its settings, its inventory and its previews."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from nt2vr.datasets.base import Split
from nt2vr.library.info import Changes, Kind, LibraryInfo, Skipped
from nt2vr.library.previews import Previews
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery

SETTINGS, UPLOADS, PREVIEWS, LOCK = "library.json", "uploads", "previews", "update.lock"
WINDOW_S = 10.0  # default of folders and uploads; datasets and manifests stay whole
MIN_WINDOW_S, MAX_WINDOW_S = 1.0, 3600.0
MAX_NAME = 80  # characters
EMBEDDINGS = "embeddings"  # beside the folder of libraries
RESERVED = ("built-in",)


class Libraries:
    """The libraries in a folder, also changed by other processes: nothing is held in memory.

    Args:
        folder: created when the first library is added.
        embeddings: folder of galleries' embeddings, from which `remove` deletes.
    """

    def __init__(self, folder: Path, embeddings: Path | None = None) -> None:
        """Open nothing yet."""
        self.folder = folder
        self._embeddings = embeddings or folder.with_name(EMBEDDINGS)

    def infos(self) -> list[LibraryInfo]:
        """List all libraries by name; folders without readable settings are left out."""
        sources = (self._read(folder) for folder in self._folders())
        return sorted((self._info(source) for source in sources if source), key=lambda info: info.name.casefold())

    def find(self, name: str) -> LibraryInfo:
        """Return a library by its name or id.

        Raises:
            ConfigError: listing the names, if there is none.
        """
        raise NotImplementedError

    def add(
        self,
        name: str,
        kind: Kind = "folder",
        path: str | Path = "",
        split: Split = "all",
        window_s: float | None = None,
        roots: Sequence[Path] | None = None,
    ) -> LibraryInfo:
        """Add a library; nothing is read from its files before `update_library`.

        Args:
            name: display name, unique.
            kind: what `path` is.
            path: a folder, a manifest, or a dataset as `load_dataset` takes it; nothing for uploads.
            split: part of a dataset.
            window_s: seconds per window of long videos; 0 keeps them whole. Default: WINDOW_S for folders and
                uploads, 0 for manifests and datasets.
            roots: folders that the path must lie in, for a path named over the page; None allows any.

        Raises:
            ConfigError: if the name is taken or unusable, or the path is not there.
            AccessError: if the path is outside the roots.
        """
        raise NotImplementedError

    def rename(self, library_id: str, name: str) -> LibraryInfo:
        """Give a library another name; its id stays.

        Raises:
            ConfigError: if the name is taken or unusable.
        """
        raise NotImplementedError

    def remove(self, library_id: str) -> None:
        """Delete a library with its embeddings, previews and uploaded files; files of other folders stay.

        Raises:
            ConfigError: if there is no such library, or it is being updated.
        """
        raise NotImplementedError

    def upload(self, library_id: str, files: Iterable[tuple[str, Path]]) -> list[str]:
        """Copy files into a library of uploads; `update_library` indexes them.

        Args:
            library_id: the library.
            files: the name a visitor gave, and where the file lies now.

        Returns:
            The names that they got: safe, and unique in the library.

        Raises:
            ConfigError: if the library is not one of uploads.
        """
        raise NotImplementedError

    def gallery(self, library_id: str) -> Gallery:
        """Return the clips that the last update found usable; no file is opened."""
        raise NotImplementedError

    def skipped(self, library_id: str) -> list[Skipped]:
        """List what is not in the gallery, with reasons; duplicates last."""
        raise NotImplementedError

    def retry(self, library_id: str, ids: Sequence[str] | None = None) -> int:
        """Have the next update read skipped files and windows again; return their number.

        Args:
            library_id: the library.
            ids: as in `skipped`; None is all.
        """
        raise NotImplementedError

    def previews(self, library_id: str, decoder: Decoder) -> Previews:
        """Return the posters and previews of a library's clips."""
        return Previews(self.folder / library_id / PREVIEWS, decoder)

    def check(self, library_id: str) -> Changes:
        """Compare the files with what is indexed, by path, size and modification time; nothing is read.

        Raises:
            GalleryError: if the library is unavailable.
        """
        raise NotImplementedError
