"""From the bytes of a response to the message: `python -m benchmarks.whole_way` writes docs/measured/whole-way.md."""
