"""Captioned videos of others: published datasets and anybody's own, by name. Nothing is decoded here."""

from nt2vr.datasets.base import Dataset, Split
from nt2vr.datasets.load import DATASETS, HELD_OUT, load_dataset, sample

__all__ = ["DATASETS", "HELD_OUT", "Dataset", "Split", "load_dataset", "sample"]
