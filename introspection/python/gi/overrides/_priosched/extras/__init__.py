"""Adds groups, helpers, and React's functions to the draft."""
