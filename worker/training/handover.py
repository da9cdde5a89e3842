"""What the supervisor and a spare training process (worker.training.wait_for_run) say to each other, over a socket that
keeps messages apart. The order is JSON: {"run": its id, "tag": its tag}."""

READY = b"ready"  # the spare waits for an order
TAKEN = b"taken"  # it is that run's process now
STALE = b"stale"  # it leaves: what it has imported is not what is installed
LONGEST = 4096  # bytes of a message
