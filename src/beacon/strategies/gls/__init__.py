"""GLS+: guided local search with a penalty for every table entry."""
