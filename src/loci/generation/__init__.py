"""The generation room."""
