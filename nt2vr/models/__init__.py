"""Models: encoders, checkpoint folders, the catalog, downloads and imports."""
