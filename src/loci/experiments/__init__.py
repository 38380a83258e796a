"""The experiments room."""
