"""Evaluation reports: saved, listed, compared, reviewed, and written as tables."""
