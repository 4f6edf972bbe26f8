"""Futures: results, reasons of aborts, and who waits for them; and the fast path, which _speedups has in C.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
