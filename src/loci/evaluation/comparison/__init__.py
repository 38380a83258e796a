"""Several runs judged side by side: their rows read, their figures and tests computed."""
