from tiny_training import tiny_data, tiny_recipe, tiny_run

__all__ = ["tiny_data", "tiny_recipe", "tiny_run"]
