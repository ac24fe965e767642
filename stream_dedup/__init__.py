"""Say of each document in a stream whether it copies an earlier one, which one, and how closely.

The same engine reads Kafka topics, files and pipes. `similarity` is the mathematics and does no
I/O; `config` and `errors` are what an operator meets; `cli` is the only part that wires them.
"""

__version__ = "0.1.0"
