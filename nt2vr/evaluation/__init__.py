"""The paper's evaluation: how well systems answer original, negated and composed queries."""
