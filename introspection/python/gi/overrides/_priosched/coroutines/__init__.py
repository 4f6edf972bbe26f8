"""Coroutines: what runs them, with or without asyncio, and run () itself.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
