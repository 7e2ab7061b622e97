"""Everything that arrives over HTTP: request checks, permissions, uploads, routes."""
