"""Language of negation: reads sentences, and inflects words for generated ones."""
