"""Scenes drawn as clips."""
