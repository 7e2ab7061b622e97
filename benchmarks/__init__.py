"""What README's numbers are measured with, each a module to run."""
