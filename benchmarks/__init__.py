"""What a chunk costs, measured; `make bench`."""
