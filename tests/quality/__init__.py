"""How well the answers agree with what is true: exact joins, corpora, statistics."""
