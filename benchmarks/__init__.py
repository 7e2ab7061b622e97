"""Scripts behind the numbers in the documentation, one module each."""
