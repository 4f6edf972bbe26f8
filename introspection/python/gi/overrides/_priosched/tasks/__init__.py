"""Implements tasks: their states, the table of a scheduler's tasks, the lending of priorities, and functions that run in threads."""
