"""Videos and pictures: galleries, decoding, frames, and their caches."""
