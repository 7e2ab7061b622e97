"""Runs: their folders, and starting, stopping, resuming and sweeping them."""
