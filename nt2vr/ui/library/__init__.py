"""The Library tab, and how clips reach the browser."""
