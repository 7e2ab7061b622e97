"""The language of negation: sentences taken apart, captions denied, queries composed."""
