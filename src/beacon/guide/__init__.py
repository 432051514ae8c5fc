"""Scoring moves: what a guide is, the trivial guides, the learned ones and their files."""
