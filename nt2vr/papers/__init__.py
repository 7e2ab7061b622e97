"""One folder per paper. Each uses only what nT2VR offers to any extension, and nothing imports it by name."""
