"""The engine: state and flips, strategies, batches, stopping, results."""
