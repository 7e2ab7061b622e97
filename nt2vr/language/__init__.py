"""The language of negation: tagging now; negator and composer later."""
