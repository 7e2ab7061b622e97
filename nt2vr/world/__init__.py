"""The built-in world: scenes as data, captions of them, pictures of them, and the truth of a sentence about them."""
