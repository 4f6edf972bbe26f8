from typing import Any

# Modules without types; mypy prefers a .pyi file beside this one.
def __getattr__(name: str) -> Any: ...
