"""Training: recipes as data, the one loop, checkpoints and run folders."""
