"""What all tests share: how hypothesis searches and how it reports."""

from hypothesis import settings

# A busy machine is not a failure; a failing example prints what reproduces it.
settings.register_profile("house", deadline=None, print_blob=True)
settings.load_profile("house")
