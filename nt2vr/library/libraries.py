"""Settings, contents and updates of all libraries of a data folder, one subfolder each."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout
from pydantic import TypeAdapter

from nt2vr.datasets.base import Split
from nt2vr.datasets.load import kind_and_path
from nt2vr.errors import (
    ConfigError,
    GalleryError,
    Nt2vrError,
    did_you_mean,
    quoted,
    reason_of,
    warn_once,
)
from nt2vr.files import (
    check_free,
    check_writable,
    parse_json,
    stamp,
    with_schema,
    without_schema,
    write_json,
)
from nt2vr.library.changes import Changes
from nt2vr.library.inventory import Inventory
from nt2vr.library.listing import is_available, list_files
from nt2vr.library.named_paths import _check_path, _named, allowed_path
from nt2vr.library.previews import Previews
from nt2vr.library.source import WINDOW_S, Kind, LibraryInfo, Skipped, Source
from nt2vr.library.upload_names import _new_file
from nt2vr.library.windows import clips_of
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery
from nt2vr.progress import Progress, silent
from nt2vr.search.index import Milvus

SETTINGS, INVENTORY, UPLOADS, PREVIEWS, LOCK = (
    "library.json",
    "files.db",
    "uploads",
    "previews",
    "update.lock",
)
MAX_NAME = 80  # characters
EMBEDDINGS = "embeddings"  # beside the folder of libraries
BUILT_IN = "built-in"  # name of the gallery that is no library, on the command line and in the APIs
SOURCE = TypeAdapter(Source)
WAIT_S = 0.5  # between looks at whether to stop waiting for another update


class Libraries:
    """The libraries in a folder, also changed by other processes: nothing is held in memory."""

    def __init__(self, folder: Path, milvus: Milvus | None = None) -> None:
        self.folder, self._milvus = folder, milvus
        self._embeddings = folder.with_name(EMBEDDINGS)

    def infos(self) -> list[LibraryInfo]:
        """List all libraries by name; folders without readable settings are left out."""
        return sorted(map(self._info, self._sources()), key=lambda info: info.name.casefold())

    def find(self, name: str) -> LibraryInfo:
        return self._info(self._source(name))

    def stamp(self, library_id: str) -> tuple[object, ...]:
        """Return what changes whenever a library's clips or its name do, without opening anything."""
        return stamp(*(self.folder / library_id / name for name in (SETTINGS, INVENTORY)))

    def add(
        self,
        name: str,
        kind: Kind = "folder",
        path: str | Path = "",
        split: Split = "all",
        window_s: float | None = None,
        roots: Sequence[Path] | None = None,
        uploads: Sequence[tuple[str, Path]] = (),
    ) -> LibraryInfo:
        """Add a library; nothing is read from its files before `update_library`.

        Args:
            path: a folder, a manifest, or a dataset as `load_dataset` takes it; nothing for
                uploads.
            window_s: seconds per window of long videos; 0 keeps them whole, as manifests and
                datasets are by default.
            roots: folders that the path must lie in, otherwise an AccessError is raised; None
                allows any.
            uploads: the first files, as `upload` takes them; if one cannot be stored, no library is
                added.
        """
        name = self._free_name(name)
        if window_s is None:
            window_s = WINDOW_S if kind in ("folder", "uploads") else 0.0
        library_id = uuid4().hex[:12]
        folder = self.folder / library_id
        source = Source(library_id, name, kind, (folder / UPLOADS).resolve(), split, window_s)
        if kind != "uploads":
            source = _named(source, path, roots)
        with _told(f"{name} cannot be added"):
            (folder / UPLOADS if kind == "uploads" else folder).mkdir(parents=True)
        self._write(source)
        try:
            if uploads:
                self.upload(library_id, uploads)
        except BaseException:
            self.remove(library_id)  # or its name would be taken
            raise
        return self._info(source)

    def rename(self, library_id: str, name: str) -> None:
        """Give a library another name; its id stays."""
        self._write(replace(self._source(library_id), name=self._free_name(name, library_id)))

    def moved(
        self, library_id: str, path: str | Path, roots: Sequence[Path] | None = None
    ) -> Source:
        """Return a library's settings with another folder, manifest or dataset, as `add` takes it; nothing is written.

        A manifest, or a dataset that is a file, is also found by its name in the folder that it has
        been moved to.
        """
        _check_path(path)
        source = self._source(library_id)
        if source.kind == "uploads":
            advice = "To move them, move the data folder (NT2VR_DATA)."
            raise ConfigError(
                f"{source.name} has uploaded files, which lie in the data folder. {advice}"
            )

        loader, place = source.loader, Path(path)
        if source.kind == "dataset":
            named_loader, place = kind_and_path(path)
            loader = named_loader or loader

        folder, _ = allowed_path(place, roots)
        file = folder / source.path.name
        if folder.is_dir() and source.kind == "manifest" and not file.is_file():
            raise ConfigError(f"{folder} has no {source.path.name}. Name the captions file.")
        if folder.is_dir() and source.kind != "folder" and file.is_file():
            place = file

        moved = _named(source, f"{loader}:{place}" if loader else place, roots)
        if moved.path == source.path:
            raise ConfigError(
                f"{source.name} is in {source.path} already. Name another folder, or update it."
            )
        return moved

    def settle(self, moved: Source) -> None:
        """Store where a library lies now, as `moved` returned it."""
        source = self._source(moved.id)
        self._write(replace(source, path=moved.path, within=moved.within, loader=moved.loader))

    def remove(self, library_id: str) -> None:
        """Delete a library with its embeddings, previews and uploaded files; files of other folders stay."""
        source = self._source(library_id)
        folder = self.folder / source.id
        try:
            with _told(f"{source.name} cannot be removed"), FileLock(folder / LOCK, timeout=0):
                gone = folder.rename(
                    self.folder / f".{source.id}.removed"
                )  # listed no more, even if deleting fails
        except Timeout:
            raise ConfigError(
                f"{source.name} is being updated. Cancel the update, then remove it."
            ) from None
        shutil.rmtree(gone, ignore_errors=True)
        shutil.rmtree(self._embeddings / source.key, ignore_errors=True)
        if self._milvus is not None:
            with suppress(ConnectionError):  # logged; rows that stay are found by no search
                self._milvus.forget(source.key)

    def upload(self, library_id: str, files: Sequence[tuple[str, Path]]) -> None:
        """Copy files, by a visitor's name and the path, into a library of uploads; `update_library` indexes them."""
        source = self._source(library_id)
        if source.kind != "uploads":
            raise ConfigError(
                f"{source.name} is not a library of uploads. Copy the files into {source.path}."
            )
        check_free(
            source.path, sum(path.stat().st_size for _, path in files), "Storing the uploads"
        )
        for name, path in files:
            partial = source.path / f".{uuid4().hex}.partial"  # hidden from a scan
            with _told(f"{name} cannot be stored"):
                try:
                    shutil.copyfile(path, partial)
                    partial.replace(_new_file(source.path, name))
                finally:
                    partial.unlink(missing_ok=True)

    def gallery(self, library_id: str) -> Gallery:
        """Return the clips that the last update found usable; no file is opened."""
        source = self._source(library_id)
        inventory = self.inventory(source)
        failed = inventory.skipped_clips()
        clips = (clip for file in inventory.files().values() for clip in clips_of(file, source))
        return Gallery(
            source.name, tuple(clip for clip in clips if clip.video_id not in failed), source.key
        )

    def skipped(self, library_id: str) -> list[Skipped]:
        """List what is not in the gallery, with reasons; duplicates last."""
        source = self._source(library_id)
        inventory = self.inventory(source)
        files = inventory.files().values()
        bad = [Skipped(file.id, file.reason) for file in files if file.state == "skipped"]
        bad += [Skipped(clip, reason) for clip, reason in inventory.skipped_clips().items()]
        copies = [file for file in files if file.duplicate_of]
        return bad + [
            Skipped(file.id, f"It is a copy of {file.duplicate_of}.", file.duplicate_of)
            for file in copies
        ]

    def retry(self, library_id: str) -> None:
        """Have the next update read skipped files and windows again."""
        self.inventory(self._source(library_id)).retry()

    def previews(self, library_id: str, decoder: Decoder) -> Previews:
        return Previews(self.folder / self._source(library_id).id / PREVIEWS, decoder)

    def check(self, library_id: str) -> Changes:
        """Compare the files with what is indexed, by path, size and modification time; nothing is read."""
        source = self._source(library_id)
        return self.inventory(source).changes(list(list_files(source)))

    def inventory(self, source: Source) -> Inventory:
        """Return the table of a library's files."""
        return Inventory(self.folder / source.id / INVENTORY, source.base)

    @contextmanager
    def updating(self, library_id: str, progress: Progress = silent) -> Iterator[Source]:
        """Hold a library for one update at a time, between processes; an InterruptedError ends the wait."""
        source = self._source(library_id)
        folder = self.folder / source.id
        lock = FileLock(folder / LOCK)
        while True:
            try:
                check_writable(folder)
                lock.acquire(timeout=WAIT_S)
                break
            except Timeout:
                progress(0, 0, "waiting for another update of this library")
            except (OSError, ConfigError) as error:
                failed = f"{source.name} cannot be updated: {folder} cannot be written to."
                raise GalleryError(f"{failed} What is indexed stays searchable.") from error
        try:
            yield self._source(source.id)
        finally:
            lock.release()

    def _sources(self) -> list[Source]:
        sources = []
        for folder in self.folder.glob("[!.]*/"):
            path = folder / SETTINGS
            try:
                data = without_schema(parse_json(path.read_text(encoding="utf-8")), path)
                if data.get("kind") == "uploads":
                    data["path"] = (folder / UPLOADS).resolve()  # the data folder may have moved
                sources.append(SOURCE.validate_python({**data, "id": folder.name}))
            except FileNotFoundError:
                continue
            except (OSError, ValueError, TypeError, AttributeError, Nt2vrError) as error:
                warn_once(f"The library in {folder} cannot be read ({reason_of(error)}).")
        return sources

    def _write(self, source: Source) -> None:
        with _told(f"{source.name} cannot be saved"):
            write_json(
                self.folder / source.id / SETTINGS,
                with_schema(SOURCE.dump_python(source, mode="json")),
            )

    def _source(self, name: str) -> Source:
        sources = self._sources()
        found = [source for source in sources if source.id == name]
        found += [source for source in sources if source.name.casefold() == name.strip().casefold()]
        if not found:
            names = sorted(source.name for source in sources)
            there = ", ".join(names) or "none yet"
            raise ConfigError(
                f"There is no library {quoted(name)}.{did_you_mean(name, names)} There: {there}."
            )
        return found[0]

    def _info(self, source: Source) -> LibraryInfo:
        try:
            counts = self.inventory(source).counts()
        except GalleryError as error:
            warn_once(f"{source.name}: {error}")
            counts = {}
        return LibraryInfo(source, available=is_available(source), **counts)

    def _free_name(self, name: str, library_id: str = "") -> str:
        """Strip a name; refuse one that is empty, too long, unprintable or taken."""
        name = name.strip()
        if not name or len(name) > MAX_NAME or not name.isprintable():
            choices = f"1 to {MAX_NAME} printable characters"
            raise ConfigError(f"{quoted(name)} cannot be a library's name. Choose {choices}.")
        others = [source for source in self._sources() if source.id != library_id]
        taken = {
            BUILT_IN,
            *(source.name.casefold() for source in others),
            *(source.id for source in others),
        }
        if name.casefold() in taken:
            raise ConfigError(f"There is a library {quoted(name)} already. Choose another name.")
        return name


@contextmanager
def _told(failed: str) -> Iterator[None]:
    """Turn an error of a full or read-only disk into a sentence that begins with what failed."""
    try:
        yield
    except Timeout:  # of a lock; an OSError, too
        raise
    except OSError as error:
        advice = "Free some space, or make the data folder writable."
        raise GalleryError(f"{failed} ({error.strerror}). {advice}") from error
