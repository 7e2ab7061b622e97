"""The built-in world: scenes, their captions, and the truth of sentences about them."""
