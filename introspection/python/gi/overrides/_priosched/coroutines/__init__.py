"""Runs coroutines, with asyncio or without, and has run () itself."""
