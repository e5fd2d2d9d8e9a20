"""Remote sources: what a load reads is fetched into sparse files, which the daemon loads."""
