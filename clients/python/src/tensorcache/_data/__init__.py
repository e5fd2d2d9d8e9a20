"""A dataset's mapped files: columns, items, words of text columns, and windows cut out of them."""
