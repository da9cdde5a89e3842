"""The app's short questions: the warm process that takes them, and what answers each kind."""
