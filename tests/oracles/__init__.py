"""Slow, obvious references. They import nothing from the package they judge."""
