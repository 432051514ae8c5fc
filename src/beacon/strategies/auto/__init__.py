"""The automatic mix of strategies."""
