"""The settings of “Learn to Understand Negation in Video Retrieval”; its losses are the trainer's. See README.md."""

from pathlib import Path

from nt2vr.extension import Extension

EXTENSION = Extension(name="nt2vr", presets=Path(__file__).parent / "presets")
