"""Trains a fusion of picture and text, and adds it to a checkpoint."""
