"""Tasks: the states and the tables of schedulers, lending, and functions that run in threads.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
