"""The web lab: one local page to ask, look and play, and the HTTP interface behind it. Has no logic of its own."""
