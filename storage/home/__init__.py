"""Where everything lies: the home's paths, locks, processes, files, and how SQLite is opened."""
