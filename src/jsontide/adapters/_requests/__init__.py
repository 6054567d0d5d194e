"""The next request in each provider's form: a message, the results of its calls, and the tools on offer."""
