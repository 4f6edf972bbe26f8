from typing import Any

# What nobody has types for; a .pyi beside this one goes before it.
def __getattr__(name: str) -> Any: ...
