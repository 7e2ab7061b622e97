"""Covr evaluation: retrieval by a reference picture plus a text that changes it."""
