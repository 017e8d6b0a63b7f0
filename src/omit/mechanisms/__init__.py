"""Protected statistics: what is computed, and which noise gives it a guarantee."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
