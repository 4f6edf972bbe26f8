"""Has tasks: the states and the tables of schedulers, lending, and functions that run in threads."""
