"""What this machine and this installation offer, as the worker publishes it."""
