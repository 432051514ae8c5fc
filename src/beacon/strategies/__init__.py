"""Ways to search: each has its settings, its own state and its kernel."""
