"""One module per command: its options, its help, and its exit codes; the modules around do the work."""
