"""The experiment `demo`: run, result, page."""
