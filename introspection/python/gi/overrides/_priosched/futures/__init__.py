"""Implements futures: results, reasons of aborts, and waiters."""
