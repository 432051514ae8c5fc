"""One file per format: models, evidence, solutions, compressed or not."""
