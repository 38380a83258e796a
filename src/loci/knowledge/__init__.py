"""The knowledge room."""
