"""The attention_lab room."""
