"""One page that compares runs: what each knows, which of its answers to give, what it makes up. Computes nothing."""
