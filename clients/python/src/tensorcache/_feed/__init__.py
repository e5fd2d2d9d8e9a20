"""Feeds: the daemon's stream of batches, and the arrays that a trainer gets."""
