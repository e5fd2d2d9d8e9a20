"""Loading rows into a dataset: the options of a load, and sending arrays."""
