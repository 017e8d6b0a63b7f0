"""Papers as declarations, and their reproduction.

A paper is a folder here: its cells say how numbers are computed, its exhibits (figures and tables)
which of them are shown, its claims how they are judged. `reproduce` computes the cells as a study
(see `omit.study`), which can be interrupted and resumed, and returns a `Reproduction`: every
exhibit with its numbers, every claim with its verdict.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
