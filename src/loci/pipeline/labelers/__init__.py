"""Labelers: let a trained model write pseudo-labels for a later stage."""
