"""Additions to the draft: groups, helpers, and React's functions.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
