"""The parts of the loaders for torch, JAX, Keras and other frameworks."""
