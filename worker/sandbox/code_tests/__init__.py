"""A model's code and its unit tests, each in a sandbox of its own, with a line of messages between them."""
