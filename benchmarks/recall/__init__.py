"""Which similar pairs each system finds, at the same nominal threshold."""
