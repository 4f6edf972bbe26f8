from typing import Any

# Modules without types; mypy prefers a .pyi file next to this one.
def __getattr__(name: str) -> Any: ...
