"""Pages of the attention lab: an exercise, heads as parsers, repetition, and the inside of one answer."""
