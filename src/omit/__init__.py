"""What privacy remains when records are left out, and what does it cost in accuracy?

The names below are imported when they are first used, so that `import omit` is quick.
"""

import lazy_loader

__version__ = "0.1.0"

_NAMESPACES = frozenset({"disclosure", "laws", "mechanisms", "omissions", "statistical", "study"})

__getattr__, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)
__all__ = [name for name in _names if name not in _NAMESPACES]
