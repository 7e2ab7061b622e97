"""Query generation: negated and composed queries from captions."""
