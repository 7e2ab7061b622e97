"""Scenes of the built-in world drawn as picture-book clips."""
