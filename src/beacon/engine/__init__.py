"""What every search shares: the core state, the flip, the best assignment, limits."""
