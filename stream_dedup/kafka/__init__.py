"""The edges to Kafka: what is read, what is written, and in which order the two take effect."""
