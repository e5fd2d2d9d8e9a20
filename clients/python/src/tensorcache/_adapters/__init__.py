"""What the loaders of torch, JAX, Keras and others are made of."""
