"""Writing sentences: negated and composed queries generated from captions."""
