"""Datasets of captioned videos, published or custom, by name. Nothing is decoded here."""

from nt2vr.datasets.base import Dataset, Split
from nt2vr.datasets.load import DATASETS, held_out_of, kind_and_path, load_dataset, sample, sample_ids

__all__ = [
    "DATASETS",
    "Dataset",
    "Split",
    "held_out_of",
    "kind_and_path",
    "load_dataset",
    "sample",
    "sample_ids",
]
