"""How results show themselves in notebooks, as HTML and as pandas tables."""
