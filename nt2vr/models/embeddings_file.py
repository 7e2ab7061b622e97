"""Embeddings that another system computed, as a source of a model."""

from dataclasses import dataclass
from pathlib import Path

from nt2vr.errors import CheckpointError, counted
from nt2vr.models.options import AddOptions
from nt2vr.models.origin import Built, Origin
from nt2vr.models.precomputed import write_embeddings
from nt2vr.progress import Progress

EMBEDDINGS_SUFFIX = ".npz"


@dataclass(frozen=True, kw_only=True)
class EmbeddingsFile(Origin):
    """An .npz file of videos and queries; see `nt2vr.models.precomputed`."""

    path: Path

    @classmethod
    def of(cls, path: Path, options: AddOptions) -> "EmbeddingsFile":
        options.check_used((), path.name)
        if not path.is_file():
            raise CheckpointError(f"There is no file {path}. Check the path.")
        num_bytes = path.stat().st_size
        return cls(
            title=path.name,
            doing=f"Importing {path.name}",
            disk_bytes=num_bytes,
            num_bytes=num_bytes,
            path=path,
        )

    def default_name(self, hidden: Path) -> str:
        return self.path.stem

    def build(self, hidden: Path, name: str, progress: Progress) -> Built:
        """Check the arrays and write them; other sentences and pictures than theirs cannot be tried out."""
        card = write_embeddings(self.path, hidden, name)
        return Built(
            encoder=None, remark=f"It knows {counted(card.text.queries, 'query', 'queries')}."
        )
