"""Scenes of the large world drawn as picture-book clips."""
