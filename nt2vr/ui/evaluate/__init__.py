"""The Evaluate tab: reports, their queries and reviews, and covr."""
