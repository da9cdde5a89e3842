"""Measurements side by side in one run: `make bench`, or `python -m bench [NAME …]` for some of them."""
