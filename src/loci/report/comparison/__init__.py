"""One page that compares runs: what each knows, how far it can be trusted, what it makes up."""

from loci.report.comparison.entries import Entry, read_entries, read_groups
from loci.report.comparison.page import comparison_page
from loci.report.comparison.study import Study, study

__all__ = ["Entry", "Study", "comparison_page", "read_entries", "read_groups", "study"]
