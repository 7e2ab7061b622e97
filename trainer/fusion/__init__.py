"""Fusion training: a reference picture and a text become one vector."""
