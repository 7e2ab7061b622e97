"""The report that comes with the app."""

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from nt2vr.errors import ConfigError
from nt2vr.evaluation.jobs import unpack
from nt2vr.evaluation.sources import GALLERY, Data, load_benchmark
from nt2vr.evaluation.stored_reports import load_report
from nt2vr.progress import silent
from nt2vr.services import Services
from nt2vr.settings import Settings


def test_it_is_added_once_fits_the_gallery_and_stays_deleted(tmp_path: Path) -> None:
    with closing(Services(Settings.read(tmp_path, "cpu"))) as services:
        evaluations = services.evaluations
        evaluations.add_ready()
        evaluations.add_ready()  # while it is under way
        while evaluations.job is not None and evaluations.job.is_under_way:
            time.sleep(0.05)
        assert evaluations.job is not None and evaluations.job.error == ""
        (entry,) = evaluations.archive.entries()
        assert entry.systems == ("CLIP", "CLIP drop", "CLIP-bnl", "CLIP-neg")
        metrics = load_report(evaluations.archive.folder / entry.report_id).metrics
        assert (
            metrics["CLIP"]["composed/hard_pairs"]
            < 50
            < 75
            < metrics["CLIP-neg"]["composed/hard_pairs"]
        )
        evaluations.archive.delete(entry.report_id)
        evaluations.add_ready()
        assert evaluations.archive.entries() == [] and not evaluations.job.is_under_way
        benchmark = load_benchmark(
            Data(GALLERY), tmp_path, services.decoder, services.cache, silent
        )
        with pytest.raises(ConfigError, match="of another gallery"):
            unpack(replace(benchmark, source={"data": "another"}))
