"""What stands behind the Rewards page: linting, the library as it is shown, and what the worker is asked."""
