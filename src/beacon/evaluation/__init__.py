"""Measuring methods against each other: the protocol and its metrics."""
