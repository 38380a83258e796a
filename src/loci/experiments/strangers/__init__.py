"""The experiment `strangers`: run, result, page."""
