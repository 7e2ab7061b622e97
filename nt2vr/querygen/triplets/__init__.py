"""Triplets for covr from captions."""
