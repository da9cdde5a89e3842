"""Data files as people have them, read row by row: what each is, how it is written, and what is wrong with it."""
