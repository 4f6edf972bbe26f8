"""Runs coroutines, with asyncio or without."""
