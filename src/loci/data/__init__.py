"""From text to batches: prompts, objectives, batches."""
