"""The paper's evaluation, with original, negated and composed queries."""
