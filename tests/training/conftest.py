from tiny_training import tiny_data, tiny_recipe

__all__ = ["tiny_data", "tiny_recipe"]
