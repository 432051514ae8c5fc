"""The stages of a run: from a model to a guide and a report."""
