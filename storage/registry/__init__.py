"""The home's registry: runs, what they are asked, questions to the worker, notes."""
