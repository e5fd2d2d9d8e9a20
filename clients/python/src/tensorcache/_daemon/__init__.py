"""The daemon: where it is, how it is started, and the protocol that it speaks."""
