"""The Library tab, and the delivery of clips to the browser."""
