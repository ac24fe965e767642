"""Run the benchmark: `run` is a module of its own, as processes of a pool load it by its name."""

from benchmarks.corpora.run import main

main()
