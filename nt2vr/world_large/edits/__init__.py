"""Edits of scenes, for covr."""
