"""HTTP: request checks, permissions, uploads, routes."""
