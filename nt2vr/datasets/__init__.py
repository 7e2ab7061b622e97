"""Datasets of captioned videos, published or custom, by name. Nothing is decoded here."""
