"""The contestants of `benchmarks.pairs`: each module finds the pairs of one file, as a program."""
