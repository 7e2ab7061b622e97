"""Composition root: the parts of an app, which page, Python API and commands share.

Each is built when it is first used.
"""

from contextlib import ExitStack
from functools import cached_property

from nt2vr.evaluation.jobs import Evaluations
from nt2vr.library.galleries import Galleries
from nt2vr.library.libraries import Libraries
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import load_gallery
from nt2vr.media.store import Cache
from nt2vr.models.catalog import Catalog
from nt2vr.search.index import Milvus, is_address
from nt2vr.settings import ASSETS, Settings
from nt2vr.world.verdicts import judge_video
from nt2vr.world.word_tables import synonyms

# Seconds to decode a picture of a query.
QUERY_PICTURE_S = 5.0


class Services:
    """The parts of one app; `close` ends its decoder processes and closes its cache."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.milvus: Milvus | None = None
        if is_address(settings.index):
            self.milvus = Milvus(settings.index, settings.index_token)
        self._opened = ExitStack()

    @cached_property
    def models(self) -> Catalog:
        return Catalog.of(self.settings)

    @cached_property
    def decoder(self) -> Decoder:
        return self._opened.enter_context(Decoder())

    @cached_property
    def pictures(self) -> Decoder:
        """The decoder of pictures in queries.

        It has its own children and time limit, so that a slow picture holds up nothing else.
        """
        return self._opened.enter_context(Decoder(num_workers=2, timeout_s=QUERY_PICTURE_S))

    @cached_property
    def cache(self) -> Cache:
        return self._opened.enter_context(Cache.of(self.settings.data_dir))

    @cached_property
    def libraries(self) -> Libraries:
        return Libraries(self.settings.data_dir / "libraries", self.milvus)

    @cached_property
    def galleries(self) -> Galleries:
        return Galleries(
            models=self.models,
            built_in=load_gallery(ASSETS / "gallery" / "gallery.jsonl"),
            decoder=self.decoder,
            cache=self.cache,
            judge=judge_video,
            synonyms=synonyms(),
            libraries=self.libraries,
            index=self.milvus or self.settings.index,
        )

    @cached_property
    def evaluations(self) -> Evaluations:
        folder = self.settings.data_dir / "evaluation"
        return Evaluations(self.models, self.decoder, self.cache, folder, self.libraries)

    def close(self) -> None:
        self._opened.close()
