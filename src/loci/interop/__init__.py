"""Bridges to other programs' files and commands."""
