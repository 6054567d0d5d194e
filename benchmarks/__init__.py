"""How jsontide compares: `python -m benchmarks` measures, prints tables, and writes docs/measured/benchmarks.md."""
