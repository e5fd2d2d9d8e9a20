"""How rows get into a dataset: the options of a load, and arrays that are sent."""
