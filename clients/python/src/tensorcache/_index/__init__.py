"""The index of a window spec: which windows exist, where they are, and what follows from it."""
