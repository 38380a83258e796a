"""Answers of a trained model: ways to answer, whom a question means, evidence, confidence, silence and its reason."""
