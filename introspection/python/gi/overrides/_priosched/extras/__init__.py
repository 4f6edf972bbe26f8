"""Adds features that the web's scheduling draft does not have: groups, channels, workers, helpers, React's functions, a clock for tests."""
