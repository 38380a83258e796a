"""Pages and figures. Draws, computes nothing."""
