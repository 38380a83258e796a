"""One page that compares runs: what each knows, how far to trust it, what it makes up. Computes nothing."""
