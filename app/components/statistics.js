// The Statistics.
