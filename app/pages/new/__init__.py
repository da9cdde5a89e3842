"""Configuring a run: one YAML text, seen as a form, as itself and as a script; edited in any, checked as it changes."""
