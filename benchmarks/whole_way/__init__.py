"""From the bytes of a response to the message: `python -m benchmarks.whole_way` writes docs/whole-way.md."""
