"""The large world: everyday things and deeds in time, their captions, and the truth of sentences about them."""
