"""The Hugging Face Hub: models pushed and pulled, and the app published as a Space. Used only when asked for."""
