"""Training data: clips, sentences and batches."""
