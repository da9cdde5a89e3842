"""What app and worker say to each other through the registry: every question, answer and published fact as a model,
and each limit of them, once."""
