"""Many queries on one model: sampling and query sets."""
