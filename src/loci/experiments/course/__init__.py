"""The experiment `course`: run, result, page."""
