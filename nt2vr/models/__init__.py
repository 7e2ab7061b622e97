"""Models: checkpoint folders, encoders, downloads and imports."""
