from typing import Any

# Gives all names of modules without stubs the type Any; mypy prefers a .pyi file next to this one.
def __getattr__(name: str) -> Any: ...
