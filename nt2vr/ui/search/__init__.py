"""The Search tab, its stage and its links."""
