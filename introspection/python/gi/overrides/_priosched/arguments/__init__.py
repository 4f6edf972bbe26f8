"""Arguments: what a program gives is checked and converted, and what it calls things.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
