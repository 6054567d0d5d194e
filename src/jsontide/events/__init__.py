"""Text to events: what happened, and at which path."""
