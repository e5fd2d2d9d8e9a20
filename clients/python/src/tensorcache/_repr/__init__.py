"""Datasets, windows, splits and feeds as HTML, which notebooks show."""
