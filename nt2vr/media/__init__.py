"""Reading videos and pictures: decoding, frames, caches, and the galleries that name them."""
