"""The training room."""
