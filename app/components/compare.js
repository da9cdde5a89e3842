// Compare.
