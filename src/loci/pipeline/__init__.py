"""Carries out recipes: alternates training stages and labelling steps."""
