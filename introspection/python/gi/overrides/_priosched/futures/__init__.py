"""Futures: results, reasons of aborts, and who waits for them.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
