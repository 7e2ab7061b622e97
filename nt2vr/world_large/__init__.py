"""The large built-in world: things, deeds and places of everyday words, and their clips."""
