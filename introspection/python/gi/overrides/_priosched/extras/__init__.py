"""Adds to the web's scheduling draft: groups, channels, workers, helpers, React's functions, and a clock for tests."""
