"""How good our answers are on public corpora, in several scripts, on small and edited texts."""
