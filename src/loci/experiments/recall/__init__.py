"""The experiment `recall`: run, result, page."""
