"""Showing what was found: plots."""
