"""Training of models: a run is a folder, `python -m trainer RUN_FOLDER`."""
