"""The Evaluate tab: reports, with their queries and reviews."""
