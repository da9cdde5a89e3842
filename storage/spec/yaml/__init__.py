"""The text of a spec: YAML in and out, and what is wrong with a line of it in words, with the click that fixes it."""
