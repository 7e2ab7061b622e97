"""Search: ranks a gallery for a query, with one or several systems."""
