from .compare import compare as compare
from .comparison import Comparison as Comparison
from .expected import expected_error as expected_error
from .search import best as best
from .search import solve as solve
