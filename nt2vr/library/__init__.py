"""Libraries: galleries of your own videos and pictures, indexed and kept up to date."""
