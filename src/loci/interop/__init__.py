"""The interop room."""
