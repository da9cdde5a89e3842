"""The record that app and worker share: the data home, the specs, the registry and each run's own file."""
