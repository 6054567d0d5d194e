"""What runs at every chunk, and is compiled: a schema's nodes, and the fold that leads a document along them."""
