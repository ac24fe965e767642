"""Run the benchmark: `run` is a module of its own, as processes of a pool load it by its name."""

from benchmarks.recall.run import main

main()
