"""Covr triplets from captions."""
