"""The experiment `names`: run, result, page."""
