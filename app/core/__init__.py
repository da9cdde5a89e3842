"""What any part of the app may need: errors, numbers in words, the worker's process, the cache of answers."""
