"""What is said of a spec: problems and the clicks that fix them, near names, numbers and their nouns."""
