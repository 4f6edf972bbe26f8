"""Implements tasks: states, schedulers' tables, lending, and functions that run in threads."""
