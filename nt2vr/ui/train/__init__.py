"""The Train tab of the page."""
