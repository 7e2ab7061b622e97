"""Libraries: galleries of a person's own videos and pictures, indexed and kept up to date."""
