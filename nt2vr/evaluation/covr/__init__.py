"""Evaluation of covr: a picture plus a text that says what should be different."""
