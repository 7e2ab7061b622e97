"""Video files of a benchmark."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nt2vr.errors import DatasetError
from nt2vr.evaluation.embed_media import embed_files
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.media.store import Cache
from nt2vr.progress import silent
from tests.support.mean_pooling import Brightness


def test_an_unreadable_file_is_all_zeros(
    tmp_path: Path, write_video: Callable[..., Path], decoder: Decoder
) -> None:
    (tmp_path / "bad.avi").write_text("no video")
    bad = Video("bad", tmp_path / "bad.avi", ("a",))
    good = Video("good", write_video("good.avi", [200] * 3), ("a",))
    encoder: Any = Brightness()
    with Cache(tmp_path / "cache") as cache:
        embeddings, unreadable = embed_files([bad, good], decoder, cache)(encoder, silent)
        assert unreadable.keys() == {"bad"}
        assert "bad.avi" in unreadable["bad"]
        assert embeddings[0].tolist() == [0, 0]
        np.testing.assert_allclose(
            embeddings[1], np.array([200, 100]) / np.hypot(200, 100), atol=0.01
        )
        with pytest.raises(DatasetError, match=r"1 .*bad.avi"):
            embed_files([bad], decoder, cache)(encoder, silent)
