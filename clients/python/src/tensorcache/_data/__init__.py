"""The mapped files of a dataset: columns, items, words, and windows cut out of them."""
