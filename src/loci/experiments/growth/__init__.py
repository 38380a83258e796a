"""The experiment `growth`: run, result, page."""
