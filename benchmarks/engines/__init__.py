"""Programs that take in a stream of texts, one for each system that `benchmarks.engine` runs."""
