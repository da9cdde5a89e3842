"""Everything that trains, or runs a user's code."""
