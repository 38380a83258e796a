"""The experiment `shaping`: run, result, page."""
