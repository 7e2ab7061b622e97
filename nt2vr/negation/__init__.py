"""Negation in language: parsing queries into wanted and unwanted parts, and generating them."""
