"""Tools that read bad JSON, on one corpus: `python -m benchmarks.mend_peers` writes docs/measured/mend-peers.md."""
