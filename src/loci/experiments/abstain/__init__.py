"""The experiment `abstain`: run, result, page."""
