"""Windows: which exist under a spec, and what is made of them."""
