"""Reports: saved, listed, compared, reviewed, and written as tables."""
