"""The systems that `benchmarks.recall` asks for pairs: each module is one library's documented use.

All get the same texts, normalised, each once, and cut them into the same shingles.
"""
