"""Hugging Face Hub: pushes and pulls models, publishes the app as a Space. Used only on request."""
