"""The bytes of a response in, the JSON of its events out."""
