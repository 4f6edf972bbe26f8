from typing import Any

# Modules without types; a .pyi beside this one goes before it.
def __getattr__(name: str) -> Any: ...
