"""The recipes room."""
